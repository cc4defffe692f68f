"""The contract of `placer/testing/policy_contract.py`, for every policy."""

from absl.testing import absltest

from placer.policies import registry
from placer.testing import policy_contract


def _define_tests() -> None:
  """A TestCase a policy, so that a failure names it and shards can share."""
  for name in registry.names():
    case = f'{name.title().replace("_", "")}ContractTest'
    globals()[case] = type(
      case,
      (policy_contract.PolicyContract, absltest.TestCase),
      {'policy_name': name, '__module__': __name__},
    )


_define_tests()


if __name__ == '__main__':
  absltest.main()
