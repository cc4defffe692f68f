"""Tests of message_passing.py and the networks against plain numpy."""

import dataclasses

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.placeto import config
from placer.policies.placeto import graph_batch
from placer.policies.placeto import message_passing
from placer.policies.placeto import networks
from placer.policies.placeto import sampling
from placer.policies.placeto import state_network
from placer.policies.placeto import world
from placer.testing import problems

_SETTINGS = config.PlacetoConfig(hidden=8, rounds=3)


def _relu(x):
  return np.maximum(x, 0)


def _apply(layer, x):
  return x @ layer.w.numpy() + layer.b.numpy()


def _random_dag(rng, nodes=9, density=0.3):
  pairs = np.triu(rng.random((nodes, nodes)) < density, 1)
  return np.nonzero(pairs)


def _two_way(module, nodes, senders, receivers, edges, rounds, mean):
  """One node and one edge after the other, float64."""
  found = []
  for net, ends in zip(
    module._directions,
    ((senders, receivers), (receivers, senders)),
    strict=True,
  ):
    x = nodes.astype(np.float64)
    for _ in range(rounds):
      new = x.copy()
      for v in range(len(x)):
        total, count = np.zeros(x.shape[1:]), 0
        for e, (u, w) in enumerate(zip(*ends, strict=True)):
          if w == v:
            total = total + _relu(_apply(net['f'], x[u]))
            if edges is not None:
              total = total + _apply(net['c'], edges[e])
            count += 1
        if mean:
          total = total / max(count, 1)
        new[v] = x[v] + _relu(_apply(net['g'], total))
      x = new
    found.append(x)
  return np.concatenate(found, axis=-1)


def _world(seed=0, devices=3, **options):
  problem = problems.layered_random(
    6,
    4,
    seed=seed,
    devices=problems.topology(devices, linked=True),
    **options,
  )
  return world.World(problem, _SETTINGS)


def _batch(worlds):
  starts = [w.random(np.random.default_rng(i)) for i, w in enumerate(worlds)]
  features = [w.start_features(s) for w, s in zip(worlds, starts, strict=True)]
  return graph_batch.stack([w.arrays for w in worlds], features), starts


class MessagePassingTest(absltest.TestCase):
  def test_equals_numpy_on_random_graphs(self):
    rng = np.random.default_rng(0)
    for mean in (False, True):
      for edge_features in (None, 2):
        module = message_passing.TwoWay(3, 5, mean=mean)
        for _ in range(4):
          senders, receivers = _random_dag(rng)
          nodes = rng.normal(size=(9, 5)).astype(np.float32)
          edges = None
          if edge_features:
            shape = (len(senders), edge_features)
            edges = rng.normal(size=shape).astype(np.float32)
          found = module(
            tf.constant(nodes),
            tf.constant(senders, tf.int32),
            tf.constant(receivers, tf.int32),
            None if edges is None else tf.constant(edges),
          )
          wanted = _two_way(module, nodes, senders, receivers, edges, 3, mean)
          np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)

  def test_directions_have_their_own_parameters(self):
    module = message_passing.TwoWay(1, 4, mean=False)
    module(tf.ones([2, 4]), tf.constant([0]), tf.constant([1]))
    self.assertLen(module.trainable_variables, 8)

  def test_states_share_a_graph(self):
    rng = np.random.default_rng(1)
    module = message_passing.TwoWay(2, 5, mean=False)
    senders, receivers = _random_dag(rng)
    nodes = rng.normal(size=(9, 3, 5)).astype(np.float32)
    ends = tf.constant(senders, tf.int32), tf.constant(receivers, tf.int32)
    together = module(tf.constant(nodes), *ends)
    for state in range(3):
      alone = module(tf.constant(nodes[:, state]), *ends)
      np.testing.assert_allclose(together[:, state], alone, atol=1e-6)


class StateNetworkTest(absltest.TestCase):
  def test_equals_numpy(self):
    settings = dataclasses.replace(config.paper(), rounds=3)
    network = networks.make(settings, 3, seed=0)
    rng = np.random.default_rng(0)
    for seed in range(3):
      made = _world(seed)
      batch, _ = _batch([made])
      groups, states = made.arrays.num_groups, 4
      placed = np.eye(3)[rng.integers(3, size=(1, states, groups))]
      visited = rng.random((1, states, groups)) < 0.5
      node = rng.integers(groups, size=(1, states))
      graphs = graph_batch.to_tensors(batch)
      features = state_network._features(
        graphs,
        tf.constant(placed, tf.float32),
        tf.constant(visited, tf.float32),
        tf.constant(node, tf.int32),
      )
      found = network.logits(graphs, features, tf.constant(node, tf.int32))
      for state in range(states):
        wanted = self._numpy(
          network, made, placed[0, state], visited[0, state], node[0, state]
        )
        np.testing.assert_allclose(
          found[0, state], wanted, rtol=1e-5, atol=1e-5
        )

  def _numpy(self, network, made, placed, visited, node):
    """The logits of one state, from the paper's text."""
    problem, arrays = made.objective.problem, made.arrays
    groups = arrays.num_groups
    op_seconds = made.objective.costs.op_seconds.min(axis=1)
    seconds = np.bincount(problem.op_group, op_seconds, minlength=groups)
    size = np.bincount(
      problem.op_group, problem.graph.output_bytes, minlength=groups
    )
    raw = np.column_stack(
      [
        seconds / seconds.max(),
        size / size.max(),
        placed,
        visited,
        np.arange(groups) == node,
      ]
    )
    embedded = _two_way(
      network._messages, raw, arrays.senders, arrays.receivers, None, 3, False
    )
    before, after = self._reach(arrays, node)
    sets = [
      [u for u in range(groups) if u in before],
      [u for u in range(groups) if u in after],
      [u for u in range(groups) if u not in before | after | {node}],
    ]
    parts = [embedded[node]]
    for inner, outer, members in zip(
      network._pools._inner, network._pools._outer, sets, strict=True
    ):
      total = sum(
        (_relu(_apply(inner, embedded[u])) for u in members),
        np.zeros(inner.output_size),
      )
      parts.append(_relu(_apply(outer, total)))
    hidden = _relu(_apply(network._hidden, np.concatenate(parts)))
    return _apply(network._logits, hidden)

  def _reach(self, arrays, node):
    """All that can reach a group and all it reaches, by search."""
    found = []
    for ends in (
      (arrays.receivers, arrays.senders),
      (arrays.senders, arrays.receivers),
    ):
      seen, todo = set(), [node]
      while todo:
        u = todo.pop()
        for a, b in zip(*ends, strict=True):
          if a == u and b not in seen:
            seen.add(int(b))
            todo.append(int(b))
      found.append(seen)
    return found


class BothNetworksTest(absltest.TestCase):
  def test_log_probs_again_are_those_of_the_draw(self):
    for settings in (
      config.PlacetoConfig(hidden=8),
      dataclasses.replace(config.paper(), rounds=2),
    ):
      network = networks.make(settings, 3, seed=1)
      worlds = [_world(0), _world(1)]
      episodes, graphs, order = self._draw(network, worlds)
      whole = network.log_probs(graphs, episodes, 0, order.shape[2])
      parts = tf.concat(
        [
          network.log_probs(graphs, episodes, 0, 3),
          network.log_probs(graphs, episodes, 3, order.shape[2]),
        ],
        axis=2,
      )
      np.testing.assert_allclose(whole, parts, atol=1e-5)
      np.testing.assert_allclose(np.exp(whole).sum(axis=3), 1, rtol=1e-5)
      chosen = np.take_along_axis(
        whole.numpy(), episodes.actions.numpy()[..., np.newaxis], axis=3
      )[..., 0]
      np.testing.assert_allclose(
        np.where(order >= 0, chosen, 0), episodes.log_probs, atol=1e-5
      )

  def test_padding_changes_nothing(self):
    network = networks.make(config.PlacetoConfig(hidden=8), 3, seed=1)
    small, large = _world(0), _world(1)
    self.assertNotEqual(small.arrays.num_groups, large.arrays.num_groups)
    both = self._draw(network, [small, large], temperature=0.0)[0]
    for i, one in enumerate((small, large)):
      alone = self._draw(network, [one], temperature=0.0, first=i)[0]
      groups = one.arrays.num_groups
      np.testing.assert_array_equal(
        both.actions[i, :, :groups], alone.actions[0]
      )
      np.testing.assert_allclose(
        both.log_probs[i, :, :groups], alone.log_probs[0], atol=1e-5
      )

  def test_equal_seeds_draw_the_same(self):
    network = networks.make(config.PlacetoConfig(hidden=8), 3, seed=1)
    one = self._draw(network, [_world(0)])[0]
    other = self._draw(network, [_world(0)])[0]
    np.testing.assert_array_equal(one.actions, other.actions)

  def test_actions_are_legal_on_any_number_of_devices(self):
    network = networks.make(config.PlacetoConfig(hidden=8), 2, seed=1)
    rng = np.random.default_rng(0)
    for devices in range(2, 9):
      groups = _world(0, devices).arrays.num_groups
      allowed = rng.random((groups, devices)) < 0.5
      allowed[np.arange(groups), rng.integers(devices, size=groups)] = True
      made = _world(0, devices, allowed=allowed)
      actions = self._draw(network, [made])[0].actions.numpy()
      order = np.arange(groups)
      self.assertTrue(made.arrays.allowed[order, actions[0]].all())

  def _draw(self, network, worlds, temperature=1.0, first=0):
    count = 2
    batch, _ = _batch(worlds)
    starts = [
      np.tile(w.random(np.random.default_rng(first + i)), (count, 1))
      for i, w in enumerate(worlds)
    ]
    features = [
      w.start_features(s[0]) for w, s in zip(worlds, starts, strict=True)
    ]
    batch = graph_batch.stack([w.arrays for w in worlds], features)
    orders = [np.tile(np.arange(s.shape[1]), (count, 1)) for s in starts]
    order = sampling.pad(orders, -1)
    graphs = graph_batch.to_tensors(batch)
    episodes = sampling.draw(
      network,
      graphs,
      tf.constant(sampling.pad(starts, 0)),
      tf.constant(order),
      tf.constant([1, 2]),
      tf.fill([count], temperature),
    )
    return episodes, graphs, order


if __name__ == '__main__':
  absltest.main()
