"""StepSession: one TensorFlow session that runs one step again and again.

Fetches are ops, never tensors, so that no result is copied to the client
(DESIGN §3.17).
"""

import time
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2

from placer.devices import layout as layout_lib


def config(
  layout: layout_lib.ProcessLayout,
  *,
  soft_placement: bool,
  sequential: bool = False,
) -> config_pb2.ConfigProto:
  """The configuration of a session on a layout's devices.

  Args:
    layout: where the devices live.
    soft_placement: True only where nothing is placed by us.
    sequential: run one op at a time, on all cores.

  Returns:
    A ConfigProto.
  """
  result = config_pb2.ConfigProto(
    allow_soft_placement=soft_placement, isolate_session_state=True
  )
  result.graph_options.rewrite_options.disable_model_pruning = False
  if sequential:
    result.inter_op_parallelism_threads = 1
    result.intra_op_parallelism_threads = len(layout.host_cores)
  if not layout.worker_cores:
    result.device_count['CPU'] = layout.logical_cpus
    if not layout.gpus:
      result.device_count['GPU'] = 0
    result.gpu_options.allow_growth = True
    _limit_gpus(result, layout)
  return result


def _limit_gpus(
  result: config_pb2.ConfigProto, layout: layout_lib.ProcessLayout
) -> None:
  """Sets the GPUs' memory limits.

  TensorFlow uses as many GPUs as `virtual_devices` has entries, so each needs
  one; an empty entry is the whole GPU.
  """
  limits = {
    int(name.rpartition(':')[2]): size
    for name, size in layout.memory_limits.items()
    if '/device:GPU:' in name
  }
  for index in range(layout.gpus if limits else 0):
    entry = result.gpu_options.experimental.virtual_devices.add()
    if index in limits:
      entry.memory_limit_mb.append(limits[index] / (1 << 20))


class StepSession:
  """One session with one placed graph; see the module docstring."""

  def __init__(
    self,
    graph_def: graph_pb2.GraphDef,
    fetch_ops: Sequence[str],
    *,
    target: str,
    config: config_pb2.ConfigProto,
  ) -> None:
    """Imports the graph and opens the session.

    Args:
      graph_def: a placed measured graph.
      fetch_ops: names of the ops that a step runs.
      target: of the session, '' for one in this process.
      config: of the session.
    """
    self._graph = tf.Graph()
    with self._graph.as_default():
      tf.graph_util.import_graph_def(graph_def, name='')
    self._fetches = [
      self._graph.get_operation_by_name(name) for name in fetch_ops
    ]
    self._session = tf.compat.v1.Session(
      target, graph=self._graph, config=config
    )
    self._is_remote = bool(target)

  def set_up(
    self,
    setup_ops: Sequence[str],
    feeds: Sequence[tuple[str, str, np.ndarray]],
  ) -> None:
    """Runs the set-up ops in order, then gives the feeds their values.

    Args:
      setup_ops: names.
      feeds: (name of the assign op, name of its placeholder, value).
    """
    for name in setup_ops:
      self._session.run(self._graph.get_operation_by_name(name))
    if feeds:
      self._session.run(
        [self._graph.get_operation_by_name(assign) for assign, _, _ in feeds],
        {f'{value}:0': array for _, value, array in feeds},
      )

  def step(self) -> float:
    """Runs one step; returns its seconds."""
    began = time.perf_counter()
    self._session.run(self._fetches)
    return time.perf_counter() - began

  def traced_step(self, *, kernels: bool = False) -> config_pb2.RunMetadata:
    """Runs one step with traces, allocations and partitions recorded.

    Args:
      kernels: also record what GPUs of this process do, with their profiler.

    Returns:
      The RunMetadata.
    """
    # The lower level leaves the GPU's profiler alone and records allocations,
    # too; over gRPC only the full one brings step statistics back.
    level = config_pb2.RunOptions.SOFTWARE_TRACE
    if kernels or self._is_remote:
      level = config_pb2.RunOptions.FULL_TRACE
    metadata = config_pb2.RunMetadata()
    self._session.run(
      self._fetches,
      options=config_pb2.RunOptions(
        trace_level=level, output_partition_graphs=True
      ),
      run_metadata=metadata,
    )
    return metadata

  def fetch(self, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Runs one step and copies its results to the client.

    Args:
      names: tensors ('x:0') or ops; of an op, all its outputs.

    Returns:
      {tensor name: value}; resources and variants have no value.
    """
    tensors, ops = {}, []
    for name in names:
      element = self._graph.as_graph_element(name)
      ops.append(getattr(element, 'op', element))
      outputs = element.outputs if element is ops[-1] else [element]
      for tensor in outputs:
        if tensor.dtype.base_dtype not in (tf.resource, tf.variant):
          tensors[tensor.name] = tensor
    values, _ = self._session.run((tensors, ops))
    return {name: np.asarray(value) for name, value in values.items()}

  def close(self) -> None:
    """Ends the session; its variables are freed."""
    self._session.close()
