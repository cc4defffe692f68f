"""Weights of a network as a text file, without the state of its training.

    {"command": "…",                  what made it
     "config": {...},                 PlacetoConfig
     "num_devices": 4,                of a 'states' network; others take any
     "variables": {"device_network/input/w:0":
                     {"shape": [19, 32], "float16": "base64 …"}, ...}}

`pretrained.json` is the file that comes with placer.
"""

import base64
import dataclasses
import functools
import json
import os
import pathlib

import numpy as np

from placer.core import errors
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import networks
from placer.policies.placeto import sampling

# What decides the shapes of the variables.
_SHAPE = ('network', 'rounds', 'hidden', 'message_passing', 'structure')
PRETRAINED = pathlib.Path(__file__).parent / 'pretrained.json'


def save(
  network: sampling.Network,
  config: config_lib.PlacetoConfig,
  path: str | os.PathLike[str],
  *,
  num_devices: int,
  command: str,
) -> None:
  """Writes a network.

  Args:
    network: of `networks.make`.
    config: that it was made with.
    path: of the file.
    num_devices: D of a 'states' network.
    command: what made it, for people.
  """
  variables = {
    variable.name: {
      'shape': variable.shape.as_list(),
      'float16': base64.b64encode(
        variable.numpy().astype('<f2').tobytes()
      ).decode(),
    }
    for variable in network.trainable_variables
  }
  payload = {
    'command': command,
    'config': dataclasses.asdict(config),
    'num_devices': num_devices,
    'variables': variables,
  }
  path = pathlib.Path(path)
  partial = path.with_name(path.name + '.partial')
  partial.write_text(json.dumps(payload, indent=1) + '\n')
  partial.replace(path)


def load(
  path: str | os.PathLike[str] = PRETRAINED,
) -> tuple[sampling.Network, config_lib.PlacetoConfig]:
  """Reads a network.

  Args:
    path: of `save`.

  Returns:
    (the network, the configuration that it was made with).

  Raises:
    UsageError: the file is not of `save`.
  """
  try:
    payload = json.loads(pathlib.Path(path).read_text())
    fields = payload['config']
    fields['warm_start'] = tuple(fields['warm_start'])
    config = config_lib.PlacetoConfig(**fields)
    network = networks.make(config, payload['num_devices'], seed=0)
    assign(network, payload['variables'])
  except (OSError, ValueError, KeyError, TypeError) as error:
    raise errors.UsageError(
      f'{str(path)!r} has no weights of this version of Placeto '
      f'({type(error).__name__}: {error}). Pass a file that '
      '`python -m benchmarks.placeto_pretraining` wrote.'
    ) from error
  return network, config


def assign(network: sampling.Network, variables: dict) -> None:
  """Gives a network the weights of a file.

  Args:
    network: whose variables change.
    variables: of the file.

  Raises:
    ValueError: names or shapes differ.
  """
  ours = {variable.name: variable for variable in network.trainable_variables}
  if ours.keys() != variables.keys():
    different = sorted(ours.keys() ^ variables.keys())
    raise ValueError(f'Other layers: {", ".join(different)}.')
  for name, entry in variables.items():
    data = np.frombuffer(base64.b64decode(entry['float16']), '<f2')
    ours[name].assign(data.reshape(entry['shape']).astype(np.float32))


def assign_pretrained(
  network: sampling.Network, config: config_lib.PlacetoConfig
) -> None:
  """Gives a network the weights that come with placer.

  Args:
    network: whose variables change.
    config: that it was made with.

  Raises:
    UsageError: the network has another shape.
  """
  ours, theirs = dataclasses.asdict(config), dataclasses.asdict(pretrained()[1])
  different = [
    f'{name} ({ours[name]!r}, there {theirs[name]!r})'
    for name in _SHAPE
    if ours[name] != theirs[name]
  ]
  if different:
    raise errors.UsageError(
      f'The weights that come with placer are of another network: '
      f'{", ".join(different)}. Set pretrained=False to begin with random ones.'
    )
  for ours, theirs in zip(
    network.trainable_variables,
    pretrained()[0].trainable_variables,
    strict=True,
  ):
    ours.assign(theirs)


@functools.cache
def pretrained() -> tuple[sampling.Network, config_lib.PlacetoConfig]:
  """The network that comes with placer; nobody may change it."""
  return load()
