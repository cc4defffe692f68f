"""A limit on what the tensors of one process may take on the CPU.

TensorFlow's own allocators enforce it, so a step that needs more fails with
ResourceExhausted and the process lives on. Two were tried on 2.21:

  - with oneDNN (x86 by default) the CPU allocator is 'mklcpu', which honours
    TF_MKL_ALLOC_MAX_BYTES; nothing else changes;
  - without it, TF_CPU_ALLOCATOR_USE_BFC gives an allocator that honours
    TF_CPU_BFC_MEM_LIMIT_IN_MB.

Both wait 10 s for memory to come back before they give up.
"""

import os

# What the allocators' retry adds to a step that runs out of memory.
RETRY_SECONDS = 10.0


def apply(limit_bytes: int | None) -> None:
  """Limits this process; before TensorFlow has made its first device.

  Args:
    limit_bytes: the limit, or None for none.
  """
  if limit_bytes is None:
    return
  from tensorflow.python.util import _pywrap_util_port

  if _pywrap_util_port.IsMklEnabled():
    os.environ['TF_MKL_ALLOC_MAX_BYTES'] = str(limit_bytes)
  else:
    os.environ['TF_CPU_ALLOCATOR_USE_BFC'] = '1'
    megabytes = max(limit_bytes >> 20, 1)
    os.environ['TF_CPU_BFC_MEM_LIMIT_IN_MB'] = str(megabytes)
