"""HookOptions: what a placed function was told."""

import dataclasses
from collections.abc import Mapping

from placer.core import errors
from placer.core import placement as placement_lib
from placer.policies import registry

# What to do with a trace whose ops are not those of the placement.
SEARCH, REUSE, ORIGINAL = 'search', 'reuse', 'original'
CHANGED = (SEARCH, REUSE, ORIGINAL)


@dataclasses.dataclass(frozen=True)
class HookOptions:
  """What a placed function was told.

  Attributes:
    devices: as `--devices` of the command line.
    policy: names of policies, with commas between.
    budget_seconds: wall time of a search; 0 for no limit.
    budget_trials: trials of a search; None for no limit.
    output_dir: folder for placement.json, report.json, trials.jsonl; '' for
      none. A second search (another graph) writes to a folder NAME-2.
    placement: used instead of a search; None to search.
    device_names: {device in the placement: device to use instead}.
    if_changed: for a trace with other ops than the placement's: 'search' finds
      another placement, 'reuse' keeps the devices of the ops that are there
      and puts the others beside them, 'original' runs it without placement.
    un_jit: run a jit-compiled function op by op instead of refusing it.
    move_variables: move variables to the devices of the placement; else they
      stay, and the ops that read and write them with them.
    allow_side_effects: op types that reach outside the process and may run
      while measuring.
    use_cache: whether to take a placement found earlier for the same graph,
      devices, policy and versions.
    seed: of made inputs, policies and intervals.
  """

  devices: str = 'auto'
  policy: str = 'portfolio'
  budget_seconds: float = 180.0
  budget_trials: int | None = None
  output_dir: str = ''
  placement: placement_lib.Placement | None = None
  device_names: Mapping[str, str] | None = None
  if_changed: str = SEARCH
  un_jit: bool = False
  move_variables: bool = False
  allow_side_effects: tuple[str, ...] = ()
  use_cache: bool = True
  seed: int = 0

  def __post_init__(self) -> None:
    if self.if_changed not in CHANGED:
      raise errors.UsageError(
        f'if_changed={self.if_changed!r}: choose one of {", ".join(CHANGED)}.'
      )
    if not isinstance(self.devices, str):
      raise errors.UsageError(
        f'devices={self.devices!r} must be a text such as "auto" or "GPU:0,'
        'GPU:1".'
      )
    if self.budget_seconds < 0:
      raise errors.UsageError(
        f'budget_seconds={self.budget_seconds} must be positive; 0 sets no '
        'limit.'
      )
    if self.placement is None:
      if not self.policies:
        raise errors.UsageError(
          f'policy={self.policy!r} names no policy. There are: '
          f'{", ".join(registry.names())}.'
        )
      for name in self.policies:
        registry.get(name)  # a wrong name is told before anything takes time
    elif not isinstance(self.placement, placement_lib.Placement):
      raise errors.UsageError(
        f'placement={self.placement!r:.80} is not a Placement. Read a file '
        'with placer.load_placement.'
      )

  @property
  def policies(self) -> tuple[str, ...]:
    """The names of the policies, in their order."""
    return tuple(
      name.strip() for name in self.policy.split(',') if name.strip()
    )
