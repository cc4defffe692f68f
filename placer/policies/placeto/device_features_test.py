"""Tests of graph_arrays.py and device_features.py against plain loops."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.placeto import config
from placer.policies.placeto import device_features
from placer.policies.placeto import graph_batch
from placer.policies.placeto import world
from placer.testing import problems


def _world(problem):
  return world.World(problem, config.PlacetoConfig())


def _signed_log(x):
  return np.sign(x) * np.log1p(abs(x))


class _Plain:
  """A sweep of one episode, one number after the other."""

  def __init__(self, arrays, start):
    self.arrays = arrays
    self.placement = start.copy()
    self.seen = {}
    self.free = np.zeros(arrays.num_devices)

  def transfer(self, source, target, a, b):
    """Units that what `source` sends `target` takes from a to b."""
    arrays = self.arrays
    return (
      arrays.volume[source, target] * arrays.per_volume[a, b]
      + arrays.messages[source, target] * arrays.per_message[a, b]
    )

  def ends(self, v):
    arrays, result = self.arrays, []
    for d in range(arrays.num_devices):
      arrival = 0.0
      for u, end in self.seen.items():
        if arrays.messages[u, v] > 0:
          away = self.placement[u] != d
          sent = arrays.volume[u, v] + arrays.messages[u, v]
          arrival = max(arrival, end + away * sent)
      result.append((arrival, max(arrival, self.free[d]) + arrays.cost[v, d]))
    return np.array(result)

  def features(self, v, progress):
    arrays = self.arrays
    groups, devices = arrays.num_groups, arrays.num_devices
    share = devices / groups
    others = [u for u in range(groups) if u != v]

    def load(members, d):
      return share * sum(
        arrays.cost[u, d] for u in members if self.placement[u] == d
      )

    before = [u for u in others if arrays.ancestors[v, u]]
    after = [u for u in others if arrays.descendants[v, u]]
    ends = self.ends(v)
    rows = []
    allowed = arrays.allowed[v]
    for d in range(devices):
      loads = [[], []]
      moves = [[], []]
      for i, members in enumerate((others, list(self.seen))):
        a, b, every = (
          load([u for u in kind if u in members], d)
          for kind in (before, after, others)
        )
        loads[i] = [every, a, b, max(every - a - b, 0)]
        moves[i] = [
          sum(self.transfer(u, v, self.placement[u], d) for u in members),
          sum(self.transfer(v, u, d, self.placement[u]) for u in members),
        ]
      near = sum(
        arrays.volume[pair] + arrays.messages[pair]
        for u in others
        if self.placement[u] == d
        for pair in ((u, v), (v, u))
      )
      total = sum(
        arrays.volume[pair] + arrays.messages[pair]
        for u in others
        for pair in ((u, v), (v, u))
      )
      used = sum(arrays.memory[u] for u in others if self.placement[u] == d)
      cost, own = arrays.cost[v, d], share * arrays.cost[v, d]
      most = max(load(others, e) for e in range(devices))
      rows.append(
        [
          np.log1p(cost),
          np.log1p(cost) - np.log1p(arrays.cost[v][allowed].min()),
          np.log1p(moves[0][0]),
          np.log1p(moves[1][0]),
          np.log1p(moves[0][1]),
          np.log1p(moves[1][1]),
          loads[0][0],
          loads[1][0],
          *loads[0][1:],
          *loads[1][1:],
          np.log1p(max(ends[d, 1] - ends[allowed, 1].min(), 0)),
          ends[d, 1] * share,
          _signed_log(ends[d, 0] - self.free[d]),
          float(self.placement[v] == d),
          used / arrays.room[d],
          max((used + arrays.memory[v]) / arrays.room[d] - 1, 0),
          loads[0][0] + own - most,
          near / max(total, 1e-6),
          progress,
          np.log(devices) / 2,
        ]
      )
    return np.clip(np.array(rows), -10, 10)

  def act(self, v, d):
    self.seen[v] = self.free[d] = self.ends(v)[d, 1]
    self.placement[v] = d


class DeviceFeaturesTest(absltest.TestCase):
  def test_equal_plain_loops_at_each_step_of_a_sweep(self):
    for seed, devices in ((0, 2), (1, 3), (2, 4)):
      rng = np.random.default_rng(seed)
      made = _world(
        problems.layered_random(
          5, 4, seed=seed, devices=problems.topology(devices, linked=True)
        )
      )
      arrays = made.arrays
      start = made.random(rng)
      graphs = graph_batch.to_tensors(
        graph_batch.stack([arrays], [made.start_features(start)])
      )
      fixed = device_features.static(graphs)
      carry = device_features.begin(
        graphs, tf.constant(start[np.newaxis, np.newaxis])
      )
      plain = _Plain(arrays, start)
      for t, v in enumerate(rng.permutation(arrays.num_groups).tolist()):
        progress = t / arrays.num_groups
        node = tf.constant([[v]])
        found, end = device_features.features(
          fixed, carry, node, tf.constant([[progress]], tf.float32)
        )
        np.testing.assert_allclose(
          found[0, 0], plain.features(v, progress), rtol=1e-5, atol=1e-5
        )
        action = int(rng.integers(devices))
        plain.act(v, action)
        carry = device_features.advance(
          carry, node, tf.constant([[action]]), end, tf.constant([[True]])
        )


class GraphArraysTest(absltest.TestCase):
  def test_reach_and_levels_of_a_fork_and_join(self):
    arrays = _world(problems.fork_join(2, 1)).arrays
    # fork, two branches, join
    self.assertEqual(
      arrays.descendants.tolist(),
      [
        [False, True, True, True],
        [False, False, False, True],
        [False, False, False, True],
        [False] * 4,
      ],
    )
    np.testing.assert_array_equal(arrays.ancestors, arrays.descendants.T)
    self.assertEqual(
      sorted(zip(arrays.senders.tolist(), arrays.receivers.tolist())),
      [(0, 1), (0, 2), (1, 3), (2, 3)],
    )
    np.testing.assert_allclose(arrays.cost.min(axis=1).mean(), 1, rtol=1e-6)

  def test_cyclic_groups_are_both_before_and_after(self):
    arrays = _world(problems.chain(6, op_group=[0, 1, 0, 2, 1, 2])).arrays
    self.assertTrue(arrays.ancestors[0, 1] and arrays.descendants[0, 1])
    self.assertFalse(arrays.ancestors.diagonal().any())
    self.assertTrue(np.isfinite(arrays.nodes).all())

  def test_no_sizes_and_no_flops(self):
    arrays = _world(problems.modules(1, flops=0, tensor_bytes=0)).arrays
    for name in ('nodes', 'cost', 'volume', 'messages', 'memory', 'room'):
      self.assertTrue(np.isfinite(getattr(arrays, name)).all(), name)


if __name__ == '__main__':
  absltest.main()
