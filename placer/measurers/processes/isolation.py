"""Isolation: a network of one's own, and not outliving one's parent.

A TensorFlow server listens on all interfaces and obeys anyone (DESIGN §3.14).
In a new network namespace 'all interfaces' is a loopback that nobody else
can reach. A user namespace comes with it, since unprivileged users may make
network namespaces only inside one.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x1 | 0x40


def enter_network_namespace() -> None:
  """Moves this process into new user and network namespaces, loopback up.

  The process must have one thread only. User and group stay the same.

  Raises:
    OSError: the kernel or a sandbox forbids it.
  """
  user, group = os.getuid(), os.getgid()
  _call('unshare', _CLONE_NEWUSER | _CLONE_NEWNET)
  # A group map needs setgroups denied first; the file is there since 3.19.
  _write('/proc/self/setgroups', 'deny')
  _write('/proc/self/uid_map', f'{user} {user} 1')
  _write('/proc/self/gid_map', f'{group} {group} 1')
  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    request = struct.pack('16sh22x', b'lo', _IFF_UP_RUNNING)
    fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def die_with_parent(parent: int) -> None:
  """Has the kernel kill this process when its parent dies.

  Call it right after a fork from the parent's main thread: the kernel watches
  the thread that forked.

  Args:
    parent: the parent's process id, taken before the fork.
  """
  _call('prctl', _PR_SET_PDEATHSIG, signal.SIGKILL)
  if os.getppid() != parent:  # it died before the call above
    os._exit(1)


def _call(name: str, *arguments: int) -> None:
  libc = ctypes.CDLL(None, use_errno=True)
  if getattr(libc, name)(*arguments) != 0:
    code = ctypes.get_errno()
    raise OSError(code, f'{name}: {os.strerror(code)}')


def _write(path: str, text: str) -> None:
  with open(path, 'w', encoding='ascii') as file:
    file.write(text)
