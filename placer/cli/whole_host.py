"""The whole host as one device: what the devices of a search compete with.

On one socket, one process with one device on all cores is usually the fastest
way to run (DESIGN §3.11), so it is measured beside every result, in pairs with
the best single device.
"""

import dataclasses
import sys

import numpy as np

from placer.core import search_result
from placer.measurers import base as measurers_base
from placer.search import paired_ratio

# The whole host is timed for about so long, in pairs with the reference.
_WHOLE_HOST_SECONDS = 15.0
_WHOLE_HOST_STEPS = 50


def add(
  result: search_result.SearchResult,
  measurer: measurers_base.Measurer,
) -> search_result.SearchResult:
  """Adds the whole-host reference, paired with the best single device.

  Args:
    result: of a search.
    measurer: open.

  Returns:
    The result with `whole_host`, unless the devices' times mean nothing or
    the devices are simulated.
  """
  problem = result.problem
  if problem.devices.is_simulated or not problem.devices.timing_is_meaningful:
    return result
  best = next(
    (
      row
      for row in result.rows
      if result.reference_label and row.label == result.reference_label
    ),
    None,
  )
  reference, steps = None, paired_ratio.MIN_PAIRS
  if best is not None:
    reference = best.candidate
    pair_seconds = 2 * best.measurement.step_time_seconds
    steps = int(_WHOLE_HOST_SECONDS / pair_seconds)
    steps = min(max(steps, paired_ratio.MIN_PAIRS), _WHOLE_HOST_STEPS)
  print('Measuring the whole host as one device ...', file=sys.stderr)
  measured = measurer.measure_whole_host(
    problem, reference=reference, steps=steps
  )
  pair = measured.step_times_seconds, measured.reference_times_seconds
  return dataclasses.replace(
    result,
    whole_host=search_result.Row(
      label='whole host as one device',
      policy='',
      candidate=np.zeros(0, np.int32),
      measurement=measured,
      ratio=paired_ratio.ratio(*pair) if pair[1] else None,
      interval=paired_ratio.interval(*pair) if pair[1] else None,
      remeasured=True,
    ),
  )
