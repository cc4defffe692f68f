"""The errors that placer raises on purpose, each with its exit code.

Every message has the rule, the offending value, the choices and the cure, so
that the command line can print it as it is, without a trace.

| class                     | exit code | when                                 |
|---------------------------|-----------|--------------------------------------|
| `UsageError`              | 1         | a flag, name or file makes no sense  |
| `GraphImportError`        | 2         | the input is not a graph we can run  |
| `NoFeasiblePlacementError`| 3         | no placement ran on these devices    |
| `NoImprovementError`      | 4         | an improvement was required          |
"""


class PlacerError(Exception):
  """Base of all errors raised on purpose.

  Attributes:
    exit_code: what the process exits with if nobody handles the error.
  """

  exit_code = 1


class UsageError(PlacerError):
  """A flag, a name or a file that makes no sense as given."""


class GraphImportError(PlacerError):
  """The input could not be imported as a TensorFlow graph."""

  exit_code = 2


class NoFeasiblePlacementError(PlacerError):
  """No placement of the graph runs on the devices given."""

  exit_code = 3


class NoImprovementError(PlacerError):
  """An improvement was required, and none was found."""

  exit_code = 4
