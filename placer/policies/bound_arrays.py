"""Step and Scratch: what the compiled bounds read and write.

Letters: `N` ops, `G` groups, `D` devices, `S` signals, `P` prices.

`Step`: a PlanningGraph as arrays, with its names; an op that can run nowhere
takes no time. `busy` is time and gap, float64 `[N, D]`; `prices` float64
`[P, D]`, parts of all slots' time (`window_bounds.py`).

`Scratch`: memory that is used again: `head` and `tail` float64 `[N, D]`, `way`
float64 `[N, N]` or empty, `order` int64 `[N]`, and of jobs `release`, `work`,
`rest` and `heap`.

`compiled` makes a compiled function that Python calls, `inner` one that only
compiled ones call.
"""

import pathlib
from typing import NamedTuple

import numpy as np

from placer.policies import planning_graph
from placer.simulation import compiled as compiled_lib

_FILES = [
  pathlib.Path(__file__).parent / name
  for name in ('bound_arrays.py', 'machine_bounds.py', 'assignment_kernel.py')
]
compiled = compiled_lib.cached(_FILES, from_python=True)
inner = compiled_lib.cached(_FILES, from_python=False)


class Step(NamedTuple):
  """A PlanningGraph as arrays; see the module docstring."""

  group: np.ndarray
  hold: np.ndarray
  gap: np.ndarray
  busy: np.ndarray
  slots: np.ndarray
  source: np.ndarray
  first_signal: np.ndarray
  readers: np.ndarray
  first_reader: np.ndarray
  inputs: np.ndarray
  first_input: np.ndarray
  delay: np.ndarray
  send: np.ndarray
  wire: np.ndarray
  latency: np.ndarray
  receive: np.ndarray
  channel: np.ndarray
  prices: np.ndarray


class Scratch(NamedTuple):
  """Memory that is used again; see the module docstring."""

  head: np.ndarray
  tail: np.ndarray
  way: np.ndarray
  order: np.ndarray
  release: np.ndarray
  work: np.ndarray
  rest: np.ndarray
  heap: np.ndarray


def make_step(graph: planning_graph.PlanningGraph, prices: np.ndarray) -> Step:
  """The Step of a graph.

  Args:
    graph: N ops.
    prices: float64 `[P, D]`; slots at each add up to 1.

  Returns:
    The Step.
  """
  hold = np.where(np.isfinite(graph.hold_seconds), graph.hold_seconds, 0.0)
  signals = graph.signals
  return Step(
    group=graph.group.astype(np.int64),
    hold=hold,
    gap=graph.gap_seconds.astype(np.float64),
    busy=hold + graph.gap_seconds,
    slots=graph.slots.astype(np.float64),
    source=signals.source,
    first_signal=signals.first_signal,
    readers=signals.readers,
    first_reader=signals.first_reader,
    inputs=signals.inputs,
    first_input=signals.first_input,
    delay=graph.delay_seconds,
    send=graph.send_seconds,
    wire=graph.wire_seconds,
    latency=graph.latency_seconds,
    receive=graph.receive_seconds,
    channel=np.ascontiguousarray(graph.channel, np.int64),
    prices=np.ascontiguousarray(prices),
  )


def make_scratch(step: Step, *, deep: bool) -> Scratch:
  """Memory for the bounds of a Step.

  Args:
    step: of N ops.
    deep: whether ways are kept, float64 `[N, N]`.

  Returns:
    The Scratch.
  """
  ops, devices = step.hold.shape
  size = ops if deep else 0
  jobs = ops + len(step.source) * devices * 2
  return Scratch(
    head=np.zeros((ops, devices)),
    tail=np.zeros((ops, devices)),
    way=np.zeros((size, size)),
    order=np.zeros(ops, np.int64),
    release=np.zeros(jobs),
    work=np.zeros(jobs),
    rest=np.zeros(jobs),
    heap=np.zeros(jobs, np.int64),
  )
