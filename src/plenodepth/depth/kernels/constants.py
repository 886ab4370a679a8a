"""The numbers that kernels compile in.

Every kernel takes its constants from here and from nowhere else, so that all backends share them. Numbers that depend
on the camera or on the settings reach a kernel in `Tiles`, `Views` and `ResamplingTables` instead.
"""

from __future__ import annotations

import math

import numpy as np

# --- pixels ---------------------------------------------------------------------------------------------------------

# Missing pixels are a huge number instead of NaN: with NaN possible, a loop that skips them would not become vector
# instructions (970 instead of 150 ns per pair). The number shows even if its weight in an interpolation is tiny.
MISSING = np.float32(1e30)
UNUSABLE = np.float32(1e3)  # a value or a difference this large has a missing pixel in it
SNAP = np.float32(1e-4)  # px: a shift this near to a whole number is taken for it

# --- tiles ----------------------------------------------------------------------------------------------------------

# px beyond the compared disc that interpolation and blurring may use, as far as the margin allows; the wide rim is for
# tiles that are resampled.
RIM = 1.0
WIDE_RIM = 2.5
MIXTURE_VARIANCE = 1.5  # px²: variance of the blurred copy that sharp views are mixed with
LAPLACIAN_VARIANCE = 2.0  # px² of variance that adding the Laplacian once amounts to

# --- resampled tiles ------------------------------------------------------------------------------------------------

RESAMPLING_VARIANCE = 0.25  # px² of blur that every resampled pixel has: the most that bilinear interpolation causes
INTERPOLATION_REACH = np.float32(1.6)  # px beyond the compared disc that the interpolation of a pair reads
TABLE_END = 1.001  # entries before the end of a table at which look-ups stop: the next entry must exist

# --- pairs of views -------------------------------------------------------------------------------------------------

LEAST_COMMON_WIDTH = 3.0  # px that the discs of two views must have in common to be compared
SMALLEST_NUMBER = np.float32(1e-6)  # stands for a sum of weights that is zero, so that nothing is divided by zero
SMALLEST_COST = np.float32(1e-12)  # the same for a cost

# --- choice of a hypothesis -----------------------------------------------------------------------------------------

# A sweep tries every second hypothesis first, and then those beside the best: on simulated scenes and real frames all
# but 1 % of the depths are the same as if all had been tried, and those that are not are no worse.
FIRST_STEP = 2
RIVAL_DISTANCE = np.float32(2)  # steps of the sweep: a second minimum nearer than this is part of the first
FULL_VIEWS = 6.0  # views from which on a match is as trustworthy as it gets

# A coarse search goes on between the hypotheses of the sweep: at 5 places half a step apart about the best hypothesis,
# then at 2 more a quarter of a step beside the best of them.
FINE_PLACES = 5
FINE_STEP = 0.5

MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # mean |n| of Gaussian noise n of unit variance
# How much larger errors are than independent pixel noise alone explains: views share pixels, and what interpolation and
# blur leave over is not noise. Fitted to simulated walls through R12-ES and R12-C with noise of 0 to 3 %, among them
# those of benchmarks/bench_depth.py, which prints how true σ is.
SIGMA_FACTOR = 1.7

# --- golden section -------------------------------------------------------------------------------------------------

GOLDEN_RATIO = 0.5 * (math.sqrt(5.0) - 1.0)
FIRST_TOLERANCE = 0.1  # of v: where the first golden section stops
SECOND_TOLERANCE = 0.01  # of v: where the second one stops
SECOND_REACH = 1.96  # of v, to either side of the first result: where the second one searches
SEEN_REACH = 0.505  # of |v|, in pitches: lenses up to this distance see the same point (half of |v|, rounded up)
NEAREST_REACH = 1.01  # pitches: lenses up to this distance always take part
RIVALS = 5  # hypotheses over the whole range that the result is compared with, for its confidence

# --- costs collected in another view --------------------------------------------------------------------------------

# px²: a pair of pixels counts for one side of the micro-images if both stand on it; a product of their offsets from the
# middle down to minus this still does.
ACROSS = np.float32(2.0)
COLLECTED_REACH = 2  # px to each side: the window over which collected costs are summed
LEAST_COLLECTED = np.float32(100.0)  # weight of the comparisons that a collected cost needs
LEAST_SIDE = np.float32(0.15)  # share of that weight that one side of the micro-images needs to count by itself
# What the cost of one side is multiplied by before it competes with that of all views: where nothing is occluded, the
# best of four sides is lower by chance.
SIDE_PENALTY = np.float32(1.3)

# --- agreement of neighbouring views --------------------------------------------------------------------------------

AGREEMENT = 0.05  # relative difference of 1/v up to which two views tell the same depth
LEAST_COMPARED = 2  # a depth that fewer neighbours could confirm is as if so many had been asked

# --- scatter of neighbouring estimates ------------------------------------------------------------------------------

# σ² = (NOISE_SHARE · σ of the match)² + (scatter · typical difference of 1/v to the neighbours)² + what all estimates
# of a surface are off together (`scatter.shared_error`)². Fitted to simulated scenes of R12-E and R12-ES at f/4 and
# f/1.4, judged on others: benchmarks/bench_sigma.py. The scatter holds the noise: little of the match's own is wanted.
NOISE_SHARE = 0.1
COARSE_SCATTER = 1.1
REFINED_SCATTER = 1.3
LONE_SCATTER = 0.05  # of 1/v: the typical difference of an estimate that has no neighbour
