"""Reads a file as a CostGraph, if that is what is in it.

The format is told by content: `dnn_partitioning.py`, `pipedream.py`.
"""

import os
import pathlib

from placer.importers import cost_graph
from placer.importers import dnn_partitioning
from placer.importers import pipedream

_FORMATS = (dnn_partitioning, pipedream)
# Control characters are in every binary proto's first bytes.
_LOOKED_AT = 512


def read(path: str | os.PathLike[str]) -> cost_graph.CostGraph | None:
  """The CostGraph in a file.

  Args:
    path: any path.

  Returns:
    The CostGraph, or None where the file is something else, or not there.

  Raises:
    GraphImportError: it is a cost graph with a mistake in it.
  """
  try:
    with open(path, 'rb') as file:
      head = file.read(_LOOKED_AT)
    if any(byte < 32 and byte not in b'\t\n\r\f' for byte in head):
      return None
    text = pathlib.Path(path).read_text(encoding='utf-8')
  except (OSError, UnicodeDecodeError):
    return None
  for form in _FORMATS:
    if form.matches(text):
      return form.load(text, os.fspath(path))
  return None
