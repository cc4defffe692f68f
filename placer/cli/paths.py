"""Where the user's relative paths lie."""

import os


def user_path(path: str) -> str:
  """A path as the user meant it.

  Under `bazel run` the working folder is the runfiles tree; Bazel says in
  BUILD_WORKING_DIRECTORY where the user is.

  Args:
    path: absolute, relative to where the user is, or with '~'.

  Returns:
    An absolute path.
  """
  path = os.path.expanduser(path)
  if not os.path.isabs(path):  # else the working folder may be gone
    start = os.environ.get('BUILD_WORKING_DIRECTORY') or os.getcwd()
    path = os.path.join(start, path)
  return os.path.normpath(path)
