"""Semi-global matching: costs of the hypotheses summed along scan lines in eight directions.

Along a line the cost of a hypothesis is its own plus the least of what may have come before: the same hypothesis, the
next one at a small penalty, or any other at a large one (Hirschmüller 2008).
"""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled, inner

f4 = np.float32
u4 = np.uint32


@inner
def step_along(cost, here, before, now, count, small, large, total):
    """One step along a line: now[…] from before[…], both (count + 2,) with their ends huge; adds to total[here …].

    `cost` and `total` are flat; `here` is where the pixel's hypotheses begin.
    """
    least = before[1]
    for n in range(2, count + 1):
        least = min(least, before[n])
    jump = least + large
    for n in range(count):
        m = u4(n + 1)
        way = min(min(before[m], jump), min(before[u4(n)], before[u4(n + 2)]) + small)
        value = cost[u4(here + n)] + way - least
        now[m] = value
        total[u4(here + n)] += value


@compiled
def sweep_lines(cost, small, large, forward, lines, total):
    """Sum the costs along four directions: from the left and from above (forward), or from the right and from below.

    `cost` and `total` (h · w · n,) are flat; the sums are added to `total`. `small` is the penalty of a step to the
    next hypothesis, `large` (h, w) that of a jump, on the way into each pixel. `lines` (2, 3, w + 2, n + 2) and one
    more (2, n + 2) of the line along the row are buffers, their ends huge.
    """
    slanted, straight = lines
    height, width = large.shape
    count = straight.shape[1] - 2
    for i in range(height):
        row = i if forward else height - 1 - i
        last, new = slanted[i % 2], slanted[(i + 1) % 2]
        for j in range(width):
            column = j if forward else width - 1 - j
            here, jump = (row * width + column) * count, large[row, column]
            if j == 0:
                start_line(straight[1], count)
            step_along(cost, here, straight[(j + 1) % 2], straight[j % 2], count, small, jump, total)
            for direction in range(3):
                if i == 0:
                    start_line(last[direction, column + direction], count)
                step_along(
                    cost,
                    here,
                    last[direction, column + direction],
                    new[direction, column + 1],
                    count,
                    small,
                    jump,
                    total,
                )
        # A line that comes from beside the image begins there.
        for direction in range(3):
            start_line(new[direction, 0], count)
            start_line(new[direction, width + 1], count)


@inner
def start_line(values, count):
    """A line that begins: nothing came before."""
    for n in range(count):
        values[n + 1] = f4(0)
