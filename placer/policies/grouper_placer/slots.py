"""Slots: what groups can be grouped into, so that every grouping is legal.

Letters: `G` groups, `D` devices, `S` slots (coarse groups).

Groups that may use the same devices are a *class*. Each slot belongs to one
class and takes groups of that class only: what a slot may use is then what each
of its groups may use, and no draw of a grouper can be illegal.

  slot_of_class: bool `[G, S]`, the slots that a group may go to.
  legal: bool `[S, D]`, the devices that a slot may use.

Slots are shared out by the number of groups; a class has as many slots as it
has devices, if it has the groups, so that each placement of its groups is one
of slots.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Slots:
  """See the module docstring."""

  slot_of_class: np.ndarray
  legal: np.ndarray

  def explain(self, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A grouping, and devices of its slots, that make a candidate.

    Of a class, the groups on one device share out as many slots as their
    number gives, in runs that follow each other in topological order.

    Args:
      candidate: int32 `[G]`, legal.

    Returns:
      (slot of each group int32 `[G]`, device of each slot int32 `[S]`).
    """
    slots = np.zeros(len(candidate), np.int32)
    devices = self.legal.argmax(axis=1).astype(np.int32)
    classes, of_group = np.unique(
      self.slot_of_class, axis=0, return_inverse=True
    )
    for number, row in enumerate(classes):
      free = np.flatnonzero(row)
      members = np.flatnonzero(of_group.reshape(-1) == number)
      used, counts = np.unique(candidate[members], return_counts=True)
      first = 0
      for device, share in zip(used, _shares(counts, len(free))):
        here = members[candidate[members] == device]
        taken = free[first : first + share]
        first += share
        slots[here] = taken[np.arange(len(here)) * share // len(here)]
        devices[taken] = device
    return slots, devices


def make(allowed: np.ndarray, most: int) -> Slots:
  """Slots for groups.

  Args:
    allowed: bool `[G, D]`, G at least 1.
    most: S, but for what classes need.

  Returns:
    The Slots.
  """
  classes, of_group, counts = np.unique(
    allowed, axis=0, return_inverse=True, return_counts=True
  )
  of_group = of_group.reshape(-1)
  most = min(most, len(allowed))
  share = np.maximum(most * counts // len(allowed), classes.sum(axis=1))
  share = np.minimum(share, counts)
  class_of_slot = np.repeat(np.arange(len(classes)), share)
  return Slots(
    slot_of_class=of_group[:, np.newaxis] == class_of_slot[np.newaxis],
    legal=classes[class_of_slot],
  )


def _shares(counts: np.ndarray, total: int) -> list[int]:
  """Shares of `total` by `counts`, each at least 1 and at most its count."""
  shares = np.minimum(np.maximum(total * counts // counts.sum(), 1), counts)
  while shares.sum() > total:
    shares[np.argmax(shares)] -= 1
  return shares.tolist()
