"""How much faster: the paired ratio of two placements, with its interval.

Letters: `K` pairs. A pair is one step of a candidate and the step of the
reference that was taken right after it, so that slow drift of the host is in
both. The ratio is median(steps) / median(references): below 1 the candidate
is faster. Its interval is the percentile bootstrap over pairs.
"""

from collections.abc import Sequence

import numpy as np

# With fewer pairs even K equal signs happen by chance more often than 5 % of
# the time (2 * 0.5**5 = 6 %), so no 95 % interval can be had from them.
MIN_PAIRS = 6


def ratio(steps: Sequence[float], references: Sequence[float]) -> float:
  """The paired ratio of the medians.

  Args:
    steps: K step times of the candidate, seconds.
    references: K step times of the reference, seconds.

  Returns:
    median(steps) / median(references).
  """
  return float(np.median(steps) / np.median(references))


def interval(
  steps: Sequence[float],
  references: Sequence[float],
  *,
  confidence: float = 0.95,
  resamples: int = 2000,
  seed: int = 0,
) -> tuple[float, float] | None:
  """The percentile bootstrap interval of `ratio`, pairs resampled together.

  Args:
    steps: step times of the candidate, seconds.
    references: step times of the reference, seconds; of different lengths the
      first K of both are used.
    confidence: of the interval, in (0, 1).
    resamples: bootstrap resamples.
    seed: of the resampling.

  Returns:
    (low, high), or None with fewer than `MIN_PAIRS` pairs.
  """
  count = min(len(steps), len(references))
  if count < MIN_PAIRS:
    return None
  steps, references = np.asarray(steps[:count]), np.asarray(references[:count])
  picks = np.random.default_rng(seed).integers(count, size=(resamples, count))
  ratios = np.median(steps[picks], axis=1) / np.median(
    references[picks], axis=1
  )
  tail = (1 - confidence) / 2
  low, high = np.quantile(ratios, [tail, 1 - tail])
  return float(low), float(high)
