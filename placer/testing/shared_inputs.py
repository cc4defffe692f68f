"""Real graphs and workloads of others, which lie beside the checkout.

They aren't part of it: `../shared` of the checkout, or `$PLACER_SHARED_DIR`
(Bazel's sandbox moves the sources; `bazelw` sets it). Tests skip with a reason
where they are absent.
"""

import os
import pathlib
import unittest


def graphs() -> pathlib.Path:
  """The folder of real graphs.

  Returns:
    An existing folder.

  Raises:
    unittest.SkipTest: it is not there.
  """
  return _folder('graphs', 'real graphs')


def workloads() -> pathlib.Path:
  """The folder of cost graphs that others measured.

  Returns:
    An existing folder, with the folders dnn_partitioning and pipedream.

  Raises:
    unittest.SkipTest: it is not there.
  """
  return _folder('workloads', 'cost graphs')


def _folder(name: str, what: str) -> pathlib.Path:
  chosen = os.environ.get('PLACER_SHARED_DIR')
  root = pathlib.Path(__file__).resolve().parents[2]
  shared = pathlib.Path(chosen) if chosen else root.parent / 'shared'
  if not (shared / name).is_dir():
    raise unittest.SkipTest(
      f'No {what} beside the checkout (../shared/{name}).'
    )
  return shared / name
