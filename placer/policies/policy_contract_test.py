"""The contract of `placer/testing/policy_contract.py`, for every heuristic.

Learned policies have it in their own tests, with small networks.
"""

from absl.testing import absltest

from placer.policies import registry
from placer.testing import policy_contract


def _define_tests() -> None:
  """A TestCase a policy, so that a failure names it and shards can share."""
  for name in registry.names():
    if registry.get(name).is_learned:
      continue
    case = f'{name.title().replace("_", "")}ContractTest'
    globals()[case] = type(
      case,
      (policy_contract.PolicyContract, absltest.TestCase),
      {'policy_name': name, '__module__': __name__},
    )


_define_tests()


if __name__ == '__main__':
  absltest.main()
