"""Prints the devices TensorFlow sees, as one line of JSON; a child process.

python -m placer.devices.list_devices
[{"name": "/device:CPU:0", "memory_bytes": 268435456, "description": ""}]
"""

import json

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import device_lib


def main() -> None:
  """Prints the line."""
  config = config_pb2.ConfigProto()
  config.gpu_options.allow_growth = True
  print(
    json.dumps(
      [
        {
          'name': device.name,
          'memory_bytes': device.memory_limit,
          'description': device.physical_device_desc,
        }
        for device in device_lib.list_local_devices(config)
        if device.device_type in ('CPU', 'GPU')
      ]
    )
  )


if __name__ == '__main__':
  main()
