"""Makes the network of a configuration, with weights from a seed."""

import numpy as np
import tensorflow as tf

from placer.policies.placeto import config as config_lib
from placer.policies.placeto import device_network
from placer.policies.placeto import graph_arrays
from placer.policies.placeto import graph_batch
from placer.policies.placeto import sampling
from placer.policies.placeto import state_network

# Small at first: all devices alike, so that nothing is ruled out.
_LAST_LAYERS = ('score', 'logits')
_LAST_SCALE = 0.05


def make(
  config: config_lib.PlacetoConfig, num_devices: int, seed: int
) -> sampling.Network:
  """Makes a network whose variables are there.

  Args:
    config: the settings.
    num_devices: D; 'states' has an output for each.
    seed: of the weights.

  Returns:
    A Sonnet module, a `sampling.Network`.
  """
  if config.network == 'states':
    network = state_network.StateNetwork(config, num_devices)
  else:
    network = device_network.DeviceNetwork(config)
  one = tf.zeros([1, 1, 1], tf.int32)
  sampling.draw(
    network,
    _smallest(num_devices),
    start=one,
    order=one,
    seed=tf.zeros([2], tf.int32),
    temperature=tf.ones([1]),
  )
  rng = np.random.default_rng([seed, 0])
  for variable in network.trainable_variables:
    shape = variable.shape.as_list()
    if len(shape) > 1:
      last = any(f'{name}/' in variable.name for name in _LAST_LAYERS)
      scale = (_LAST_SCALE if last else 1.0) / np.sqrt(shape[0])
      variable.assign(rng.normal(scale=scale, size=shape).astype(np.float32))
  return network


def _smallest(devices: int) -> graph_batch.GraphBatch:
  """A graph of one group."""
  one = np.ones(1, np.float32)
  graph = graph_arrays.GraphArrays(
    unit_seconds=1.0,
    seconds=one,
    output_bytes=one,
    nodes=np.zeros((1, graph_arrays.NODE_FEATURES), np.float32),
    senders=np.zeros(0, np.int32),
    receivers=np.zeros(0, np.int32),
    edges=np.zeros((0, graph_arrays.EDGE_FEATURES), np.float32),
    ancestors=np.zeros((1, 1), bool),
    descendants=np.zeros((1, 1), bool),
    cost=np.ones((1, devices), np.float32),
    allowed=np.ones((1, devices), bool),
    volume=np.zeros((1, 1), np.float32),
    messages=np.zeros((1, 1), np.float32),
    per_volume=np.zeros((devices, devices), np.float32),
    per_message=np.zeros((devices, devices), np.float32),
    memory=np.zeros(1, np.float32),
    room=np.ones(devices, np.float32),
  )
  start = np.zeros((1, graph_batch.START_FEATURES), np.float32)
  return graph_batch.to_tensors(graph_batch.stack([graph], [start]))
