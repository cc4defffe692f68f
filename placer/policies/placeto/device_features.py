"""What placing the current group on each device would mean, as features.

They make one network serve any number and kind of devices: it sees no device's
number, only what the device would be to the group. Everything is taken from the
placement as it is at that step, and from the part of it that was visited in
this sweep ("seen").

Letters: `M` graphs, `B` episodes of each, `G` groups, `D` devices.

`Carry`, what changes from step to step:
  placed: float32 `[M, B, G, D]`, the placement, one-hot.
  seen: float32 `[M, B, G]`, 1 for groups that were visited.
  finish: float32 `[M, B, G]`, when a seen group ends if the seen groups are
    run in the order of the sweep, in units; 0 for others.
  free: float32 `[M, B, D]`, when each device has run what is seen.

A step costs products with single rows of the graph's matrices, O(G * D): the
embedding of the graph is not computed again.
"""

from typing import NamedTuple

import tensorflow as tf

from placer.policies.placeto import graph_batch

DEVICE_FEATURES = 24


class Carry(NamedTuple):
  """What changes from step to step; see the module docstring."""

  placed: tf.Tensor
  seen: tf.Tensor
  finish: tf.Tensor
  free: tf.Tensor


class Static(NamedTuple):
  """What stays the same in an episode.

  Attributes:
    graphs: the GraphBatch.
    rows: float32 `[M, G, 8, G]`: of each group what it reads of others (bytes,
      messages), what they read of it (likewise), the memory of all groups, its
      ancestors, its descendants, all groups.
    share: float32 `[M, 1, 1]`, by which units become multiples of an equal
      share of all work.
  """

  graphs: graph_batch.GraphBatch
  rows: tf.Tensor
  share: tf.Tensor


def static(graphs: graph_batch.GraphBatch) -> Static:
  """Prepares what stays the same; `graphs` has tensors."""

  def to_row(pairs):
    return tf.transpose(pairs, [0, 2, 1])

  def cast(mask):
    return tf.cast(mask, tf.float32)

  def everywhere(row):
    return tf.broadcast_to(row[:, tf.newaxis], tf.shape(graphs.volume))

  rows = tf.stack(
    [
      to_row(graphs.volume),
      to_row(graphs.messages),
      graphs.volume,
      graphs.messages,
      everywhere(graphs.memory),
      cast(graphs.ancestors),
      cast(graphs.descendants),
      everywhere(cast(graphs.is_group)),
    ],
    axis=2,
  )
  groups = tf.reduce_sum(cast(graphs.is_group), axis=1)
  devices = tf.reduce_sum(cast(graphs.is_device), axis=1)
  share = devices / tf.maximum(groups, 1)
  return Static(graphs, rows, share[:, tf.newaxis, tf.newaxis])


def begin(graphs: graph_batch.GraphBatch, start: tf.Tensor) -> Carry:
  """The Carry before the first step of a sweep.

  Args:
    graphs: M graphs.
    start: int32 `[M, B, G]`.
  """
  placed = tf.one_hot(start, tf.shape(graphs.cost)[2], dtype=tf.float32)
  none = tf.zeros(tf.shape(start), tf.float32)
  return Carry(placed, none, none, tf.zeros_like(placed[:, :, 0]))


def features(
  fixed: Static, carry: Carry, node: tf.Tensor, progress: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """The features of a step.

  Args:
    fixed: of `static`.
    carry: the state.
    node: int32 `[M, B]`, the current groups.
    progress: float32 `[M, B]`, the share of the sweep that is over.

  Returns:
    (float32 `[M, B, D, DEVICE_FEATURES]`, when the current group would end on
    each device: float32 `[M, B, D]`, units).
  """
  graphs = fixed.graphs
  cost = tf.gather(graphs.cost, node, batch_dims=1)
  allowed = tf.gather(graphs.allowed, node, batch_dims=1)
  rows = tf.gather(fixed.rows, node, batch_dims=1)
  here = tf.gather(carry.placed, node, batch_dims=2)
  links, links_seen = _by_device(rows[:, :, :5], carry.placed, carry.seen)
  work = carry.placed * graphs.cost[:, tf.newaxis]
  loads, loads_seen = _by_device(rows[:, :, 5:], work, carry.seen)
  own = cost * fixed.share
  load, *sets = _loads(loads * fixed.share[..., tf.newaxis], here * own)
  load_seen, *sets_seen = _loads(loads_seen * fixed.share[..., tf.newaxis], 0.0)
  arrival = _arrival(carry, rows)
  end = tf.maximum(arrival, carry.free) + cost
  devices = tf.reduce_sum(tf.cast(graphs.is_device, tf.float32), axis=1)
  columns = [
    tf.math.log1p(cost),
    tf.math.log1p(cost) - tf.math.log1p(_least(cost, allowed)),
    tf.math.log1p(_comes(graphs, links)),
    tf.math.log1p(_comes(graphs, links_seen)),
    tf.math.log1p(_goes(graphs, links)),
    tf.math.log1p(_goes(graphs, links_seen)),
    load,
    load_seen,
    *sets,
    *sets_seen,
    tf.math.log1p(tf.nn.relu(end - _least(end, allowed))),
    end * fixed.share,
    _signed_log(arrival - carry.free),
    here,
    *_memory(graphs, node, links[:, :, 4], here),
    load + own - tf.reduce_max(load, axis=2, keepdims=True),
    _neighbours(links),
    tf.ones_like(cost) * progress[..., tf.newaxis],
    tf.ones_like(cost) * tf.math.log(devices[:, tf.newaxis, tf.newaxis]) / 2,
  ]
  stacked = tf.clip_by_value(tf.stack(columns, axis=3), -10.0, 10.0)
  return stacked, end


def advance(
  carry: Carry,
  node: tf.Tensor,
  action: tf.Tensor,
  end: tf.Tensor,
  is_step: tf.Tensor,
) -> Carry:
  """The Carry after a step.

  Args:
    carry: before it.
    node: int32 `[M, B]`, the current groups.
    action: int32 `[M, B]`, their devices.
    end: float32 `[M, B, D]`, of `features`.
    is_step: bool `[M, B]`; False changes nothing.

  Returns:
    The Carry.
  """
  groups, devices = tf.unstack(tf.shape(carry.placed)[2:])
  is_node = tf.one_hot(node, groups, True, False) & is_step[..., tf.newaxis]
  is_device = tf.one_hot(action, devices, True, False)
  ends = tf.reduce_sum(tf.where(is_device, end, 0.0), axis=2, keepdims=True)
  return Carry(
    placed=tf.where(
      is_node[..., tf.newaxis],
      tf.cast(is_device, tf.float32)[:, :, tf.newaxis],
      carry.placed,
    ),
    seen=tf.where(is_node, 1.0, carry.seen),
    finish=tf.where(is_node, ends, carry.finish),
    free=tf.where(is_device & is_step[..., tf.newaxis], ends, carry.free),
  )


def _by_device(rows, values, seen) -> list[tf.Tensor]:
  """Sums over groups by device, of all and of those seen; [M, B, rows, D]."""
  both = tf.concat([values, values * seen[..., tf.newaxis]], axis=3)
  return tf.split(tf.matmul(rows, both), 2, axis=3)


def _loads(loads, own) -> tuple[tf.Tensor, ...]:
  """Loads of all other groups, of ancestors, descendants, what is parallel."""
  before, after, load = tf.unstack(loads, axis=2)
  load -= own
  return load, before, after, tf.nn.relu(load - before - after)


def _memory(graphs, node, used, here) -> tuple[tf.Tensor, tf.Tensor]:
  """What others take of each limit, and what would be too much."""
  memory = tf.gather(graphs.memory, node, batch_dims=1)[:, :, tf.newaxis]
  # Padded devices have no room, and nothing in it.
  padded = tf.cast(~graphs.is_device[:, tf.newaxis], tf.float32)
  room = graphs.room[:, tf.newaxis] + padded
  used -= here * memory
  return used / room, tf.nn.relu((used + memory) / room - 1)


def _neighbours(links) -> tf.Tensor:
  """The share of what the group exchanges that is exchanged with a device."""
  by_device = tf.reduce_sum(links[:, :, :4], axis=2)
  total = tf.reduce_sum(by_device, axis=2, keepdims=True)
  return by_device / tf.maximum(total, 1e-6)


def _comes(graphs, links) -> tf.Tensor:
  """Units that transfers to each device take."""
  return tf.matmul(links[:, :, 0], graphs.per_volume) + tf.matmul(
    links[:, :, 1], graphs.per_message
  )


def _goes(graphs, links) -> tf.Tensor:
  """Units that transfers from each device take."""
  return tf.matmul(
    links[:, :, 2], graphs.per_volume, transpose_b=True
  ) + tf.matmul(links[:, :, 3], graphs.per_message, transpose_b=True)


def _arrival(carry: Carry, rows: tf.Tensor) -> tf.Tensor:
  """When all inputs from seen groups are on each device; [M, B, D].

  Transfers take what they do on an average link.
  """
  is_read = tf.cast(rows[:, :, 1] > 0, tf.float32) * carry.seen
  ready = carry.finish * is_read
  sent = ready + (rows[:, :, 0] + rows[:, :, 1]) * is_read
  away = 1 - carry.placed
  latest = ready[..., tf.newaxis] + (sent - ready)[..., tf.newaxis] * away
  return tf.reduce_max(latest, axis=2)


def _least(values: tf.Tensor, allowed: tf.Tensor) -> tf.Tensor:
  return tf.reduce_min(tf.where(allowed, values, 1e9), axis=2, keepdims=True)


def _signed_log(values: tf.Tensor) -> tf.Tensor:
  return tf.sign(values) * tf.math.log1p(tf.abs(values))
