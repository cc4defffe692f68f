"""Real graphs of others, which lie beside the checkout and aren't part of it.

`../shared/graphs` of the checkout, or `$PLACER_SHARED_DIR/graphs` (Bazel's
sandbox moves the sources; `bazelw` sets it). Tests skip with a reason where
they are absent.
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
  chosen = os.environ.get('PLACER_SHARED_DIR')
  root = pathlib.Path(__file__).resolve().parents[2]
  shared = pathlib.Path(chosen) if chosen else root.parent / 'shared'
  if not (shared / 'graphs').is_dir():
    raise unittest.SkipTest(
      'No real graphs beside the checkout (../shared/graphs).'
    )
  return shared / 'graphs'
