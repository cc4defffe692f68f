"""What the model says of the answer: its step, a bound, and a trace of it.

The answer stands without any of it, so nothing in here ends a command: what
cannot be told is left out, with a warning.
"""

import os

from absl import logging

from placer.core import errors
from placer.core import search_result
from placer.policies import answer_bound
from placer.policies import planning_costs
from placer.reports import chrome_trace
from placer.simulation import simulator

TRACE = 'trace_predicted.json'
_PART_OF_BUDGET = 0.1
_MOST_SECONDS = 10.0
_SECONDS_OF_INTERRUPTED = 1.0
# A mistake of the model, or of the bound, is not one of the answer.
_FAILURES = (errors.PlacerError, ValueError, MemoryError)


def add_bound(
  result: search_result.SearchResult, budget_seconds: float | None
) -> search_result.SearchResult:
  """Adds the predicted step and the bound.

  Args:
    result: of a search.
    budget_seconds: of the search; a tenth is for this, 10 s at most. None for
      no limit.

  Returns:
    The result with what could be told. Ctrl-C ends it without.
  """
  seconds = _MOST_SECONDS
  if budget_seconds is not None:
    seconds = min(seconds, _PART_OF_BUDGET * budget_seconds)
  if result.interrupted:
    seconds = min(seconds, _SECONDS_OF_INTERRUPTED)
  try:
    return answer_bound.add(result, seconds)
  except _FAILURES as error:
    logging.warning('There is no bound on the step: %s', error)
  except KeyboardInterrupt:
    logging.warning('There is no bound on the step: interrupted.')
  return result


def write_trace(result: search_result.SearchResult, folder: str) -> str:
  """Writes the predicted step of the answer as a Chrome trace.

  Args:
    result: of a search.
    folder: where to.

  Returns:
    A sentence for the user; '' where there is nothing to see.
  """
  problem, chosen = result.problem, result.chosen
  try:
    costs = planning_costs.of_problem(problem)
    schedule = simulator.schedule(problem, costs, chosen.candidate)
    trace = chrome_trace.build(problem, schedule, label=chosen.label)
  except _FAILURES as error:
    logging.warning('There is no trace of the predicted step: %s', error)
    return ''
  chrome_trace.write(trace, os.path.join(folder, TRACE))
  return f'The predicted step is in {TRACE}; open it in ui.perfetto.dev.'
