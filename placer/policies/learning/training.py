"""The training loop of all learned policies.

    trainer = Trainer(learner, evaluator, folder='out')
    trainer.run(samples=4096, seconds=None)
    trainer.best[graph].candidates                  # the best first

One update: the learner draws placements, they are evaluated in one call, it
learns, scalars are written. `samples` counts evaluated placements over all
graphs and over all resumed runs, and so does `seconds`.

With a folder the run can be killed at any moment and goes on where its newest
checkpoint was, to the bit:

    checkpoints/     `checkpoint.py`, each `checkpoint_updates` updates
    events/          TensorBoard scalars by update
    curve.jsonl      a line an update: update, samples, graph, best_seconds and
                     the learner's scalars; no times, so equal runs are equal
                     files. A resumed run first drops what is newer than its
                     checkpoint.
"""

import json
import os
import pathlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from placer.policies.learning import best_candidates
from placer.policies.learning import checkpoint
from placer.policies.learning import evaluation
from placer.policies.learning import learner as learner_lib
from placer.policies.learning import scalars

# Called with each line of the curve and the seconds that are left, or None.
OnUpdate = Callable[[Mapping[str, Any], float | None], None]


class Trainer:
  """Trains a learner; see the module docstring.

  Attributes:
    learner: what is trained.
    best: BestCandidates of each graph.
    curve: a dict an update, as in curve.jsonl.
    samples: placements evaluated so far.
    updates: made so far.
    elapsed_seconds: of all runs, up to the last update.
  """

  def __init__(
    self,
    learner: learner_lib.Learner,
    evaluator: evaluation.Evaluator,
    *,
    folder: str | os.PathLike[str] | None = None,
    checkpoint_updates: int = 20,
    measured: bool = False,
    on_update: OnUpdate | None = None,
  ) -> None:
    """Makes a trainer, and goes on from the folder's newest checkpoint.

    Args:
      learner: as it was made; a checkpoint overwrites its state.
      evaluator: of its problems.
      folder: for checkpoints, events and the curve; None keeps nothing.
      checkpoint_updates: updates between two checkpoints.
      measured: evaluating runs placements on devices.
      on_update: called after each update.

    Raises:
      UsageError: the folder's checkpoint is of another configuration.
    """
    self.learner = learner
    self.best = [
      best_candidates.BestCandidates(problem.num_groups)
      for problem in learner.problems
    ]
    self.curve: list[dict[str, Any]] = []
    self.samples = self.updates = 0
    self.elapsed_seconds = 0.0
    self._evaluator = evaluator
    self._folder = None if folder is None else pathlib.Path(folder)
    self._checkpoint_updates = checkpoint_updates
    self._measured = measured
    self._on_update = on_update
    if self._folder is not None:
      self._restore()

  def run(
    self,
    *,
    samples: int,
    seconds: float | None = None,
    updates: int | None = None,
  ) -> None:
    """Trains until a limit is reached; all include what was spent before.

    Args:
      samples: placements to evaluate; the last update may go over it.
      seconds: wall time, or None for no limit.
      updates: of the learner, or None for no limit.
    """
    begin = time.monotonic() - self.elapsed_seconds
    writer = None
    if self._folder is not None:
      writer = scalars.ScalarWriter(self._folder / 'events')
    try:
      while (
        self.samples < samples
        and (seconds is None or self.elapsed_seconds < seconds)
        and (updates is None or self.updates < updates)
      ):
        line = self._update()
        self.elapsed_seconds = time.monotonic() - begin
        self._record(line, writer)
        if self._on_update is not None:
          self._on_update(line, self._seconds_left(samples, seconds))
      self.save()
    finally:
      if writer is not None:
        writer.close()

  def _update(self) -> dict[str, Any]:
    proposal = self.learner.propose(self.updates, measured=self._measured)
    outcomes = self._evaluator(proposal.graph, proposal.candidates)
    metrics = self.learner.learn(proposal, outcomes)
    best = self.best[proposal.graph]
    best.add(proposal.candidates, outcomes)
    self.samples += len(outcomes)
    self.updates += 1
    found = best.best_seconds
    return {
      'update': self.updates,
      'samples': self.samples,
      'graph': proposal.graph,
      'best_seconds': found if np.isfinite(found) else None,
      'infeasible_rate': outcomes.infeasible_rate,
      **metrics,
    }

  def _record(
    self, line: dict[str, Any], writer: scalars.ScalarWriter | None
  ) -> None:
    self.curve.append(line)
    if writer is None:
      return
    with open(self._curve_file, 'a', encoding='utf-8') as file:
      file.write(json.dumps(line) + '\n')
    graph = line['graph']
    writer.write(
      line['update'],
      {
        f'graph_{graph}/{name}': float(value)
        for name, value in line.items()
        if name not in ('update', 'graph') and value is not None
      },
    )
    if self.updates % self._checkpoint_updates == 0:
      self.save()

  def save(self) -> None:
    """Writes a checkpoint, if there is a folder."""
    if self._folder is None:
      return
    arrays = {
      'samples': np.array(self.samples),
      'elapsed_seconds': np.array(self.elapsed_seconds),
    }
    for graph, best in enumerate(self.best):
      for name, value in best.state().items():
        arrays[f'best/{graph}/{name}'] = value
    for name, value in self.learner.arrays().items():
      arrays[f'learner/{name}'] = value
    checkpoint.save(
      self._folder / 'checkpoints',
      self.updates,
      self.learner.trackables(),
      arrays,
      self.learner.configuration(),
    )

  def load(
    self,
    folder: str | os.PathLike[str],
    configuration: Mapping[str, Any] | None = None,
  ) -> bool:
    """Goes on from the newest checkpoint of a folder.

    Args:
      folder: `checkpoints`.
      configuration: what it must be of; None for the learner's.

    Returns:
      Whether there is one.

    Raises:
      UsageError: it is of another configuration.
    """
    found = checkpoint.restore(
      folder,
      self.learner.trackables(),
      configuration or self.learner.configuration(),
    )
    if found is None:
      return False
    self.updates = found.step
    self.samples = int(found.arrays['samples'])
    self.elapsed_seconds = float(found.arrays['elapsed_seconds'])
    for graph, best in enumerate(self.best):
      best.set_state(_below(found.arrays, f'best/{graph}/'))
    self.learner.set_arrays(_below(found.arrays, 'learner/'))
    return True

  def _restore(self) -> None:
    self._folder.mkdir(parents=True, exist_ok=True)
    if self.load(self._folder / 'checkpoints'):
      self._cut_curve()
    else:
      self._curve_file.unlink(missing_ok=True)

  def _cut_curve(self) -> None:
    """Drops the lines that are newer than the checkpoint."""
    lines = self._curve_file.read_text(encoding='utf-8').splitlines()
    kept = lines[: self.updates]
    self.curve = [json.loads(line) for line in kept]
    partial = self._curve_file.with_suffix('.partial')
    partial.write_text(''.join(f'{line}\n' for line in kept), encoding='utf-8')
    partial.replace(self._curve_file)

  @property
  def _curve_file(self) -> pathlib.Path:
    return self._folder / 'curve.jsonl'

  def _seconds_left(self, samples: int, seconds: float | None) -> float:
    left = self.elapsed_seconds * (samples / max(self.samples, 1) - 1)
    if seconds is not None:
      left = min(left, seconds - self.elapsed_seconds)
    return max(left, 0.0)


def _below(
  arrays: Mapping[str, np.ndarray], prefix: str
) -> dict[str, np.ndarray]:
  return {
    name.removeprefix(prefix): value
    for name, value in arrays.items()
    if name.startswith(prefix)
  }
