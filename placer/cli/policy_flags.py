"""The flags of learned policies, and how policies are made by them."""

from absl import flags

from placer.cli import paths
from placer.core import errors
from placer.core import placement_problem
from placer.policies import base
from placer.policies import registry


def define_config(values: flags.FlagValues) -> None:
  """Defines --config in `values`."""
  flags.DEFINE_enum(
    'config',
    'default',
    ['default', 'paper'],
    'Of learned policies: our tuned settings, or those of the paper.',
    flag_values=values,
  )


def define_checkpoint(values: flags.FlagValues) -> None:
  """Defines --checkpoint in `values`."""
  flags.DEFINE_string(
    'checkpoint',
    '',
    'Of a learned policy: the folder checkpoints/ of `placer train` to start '
    'from.',
    flag_values=values,
  )


def make(
  name: str,
  problem: placement_problem.PlacementProblem,
  values: flags.FlagValues,
) -> base.Policy:
  """Makes a policy as the flags say.

  Args:
    name: of the policy.
    problem: for it.
    values: parsed flags: config, checkpoint and seed.

  Returns:
    The Policy; config and checkpoint go to learned ones only.

  Raises:
    UsageError: no policy has that name.
  """
  kind = registry.get(name)
  if not kind.is_learned:
    return kind(problem, seed=values.seed)
  checkpoint = values.checkpoint
  return kind(
    problem,
    seed=values.seed,
    config=kind.configs[values.config],
    checkpoint=paths.user_path(checkpoint) if checkpoint else None,
  )


def check(values: flags.FlagValues, names: list[str]) -> None:
  """Refuses flags that would have no effect.

  Args:
    values: parsed flags: config and checkpoint.
    names: of the policies.

  Raises:
    UsageError: no policy has such a name, or --config or --checkpoint is given
      and none is learned.
  """
  kinds = [registry.get(name) for name in names]
  learned = [kind.name for kind in kinds if kind.is_learned]
  for flag in ('config', 'checkpoint'):
    if values[flag].present and not learned:
      raise errors.UsageError(
        f'--{flag} is for learned policies; --policy={",".join(names)} names '
        f'none. Learned are: {", ".join(learned_names())}.'
      )
  if values.checkpoint and len(learned) > 1:
    raise errors.UsageError(
      f'--checkpoint is of one policy; --policy names {", ".join(learned)}. '
      'Leave all but one of them out.'
    )


def learned_names() -> list[str]:
  """The policies that learn."""
  return [name for name in registry.names() if registry.get(name).is_learned]
