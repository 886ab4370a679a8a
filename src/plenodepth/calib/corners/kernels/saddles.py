"""Saddle points of the brightness in each micro-image: where corners of a checkerboard may be."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined


@inlined
def cut_patch(gray, column, row, half, inside, patch):
    """The square about a pixel less the mean of its disc, 0 where nothing is known; returns the number known."""
    height, width = gray.shape
    side = 2 * half + 1
    total, count = 0.0, 0
    for i in range(side):
        for j in range(side):
            y, x = row + i - half, column + j - half
            value = np.nan
            if inside[i, j] and 0 <= y < height and 0 <= x < width:
                value = float(gray[y, x])
            patch[i, j] = value
            if math.isfinite(value):
                total += value
                count += 1
    mean = total / count if count else 0.0
    for i in range(side):
        for j in range(side):
            patch[i, j] = patch[i, j] - mean if math.isfinite(patch[i, j]) else 0.0
    return count


@inlined
def smooth(patch, taps, padded, between, out):
    """Convolve a square with `taps` along both axes; the border is repeated.

    `padded` (side, side + taps − 1) and `between` (side + taps − 1, side) are for what lies between.
    """
    side, reach = patch.shape[0], len(taps) // 2
    for i in range(side):
        for j in range(side):
            padded[i, j + reach] = patch[i, j]
        for j in range(reach):
            padded[i, j], padded[i, side + reach + j] = patch[i, 0], patch[i, side - 1]
        line = between[i + reach]
        line[:] = 0.0
        for t in range(len(taps)):
            for j in range(side):
                line[j] += taps[t] * padded[i, j + t]
    for i in range(reach):
        between[i] = between[reach]
        between[side + reach + i] = between[side + reach - 1]
    for i in range(side):
        line = out[i]
        line[:] = 0.0
        for t in range(len(taps)):
            for j in range(side):
                line[j] += taps[t] * between[i + t, j]


@compiled
def find_saddles(gray, center, inside, share_inside, taps, reach, least, share, place, hessian, strength):
    """Up to M saddles per micro-image, the strongest first; returns how many each has, (n,).

    `gray` (h, w); `center` (n, 2) px; `inside` (side, side): which pixels of a square about the centre are usable;
    `share_inside` (side, side): their share after smoothing by `taps`. A saddle is a local maximum of s² = −det of the
    Hessian with s > `least` and s > `share` times the range of brightness in its micro-image, at most `reach` px from
    the centre. Filled are `place` (n, M, 2) px, `hessian` (n, M, 3) as xx, xy, yy and `strength` (n, M).
    """
    number, most = strength.shape
    side = inside.shape[0]
    half = side // 2
    counts = np.zeros(number, np.int64)
    wide = side + len(taps) - 1
    patch, soft = np.empty((side, side)), np.empty((side, side))
    padded, between = np.empty((side, wide)), np.empty((wide, side))
    xx, xy, yy = np.zeros((side, side)), np.zeros((side, side)), np.zeros((side, side))
    answer = np.zeros((side, side))
    for n in range(number):
        column, row = math.floor(center[n, 0] + 0.5), math.floor(center[n, 1] + 0.5)
        if not cut_patch(gray, column, row, half, inside, patch):
            continue
        smooth(patch, taps, padded, between, soft)
        darkest, brightest = np.inf, -np.inf
        for i in range(side):
            for j in range(side):
                soft[i, j] /= share_inside[i, j]
                darkest, brightest = min(darkest, soft[i, j]), max(brightest, soft[i, j])
        threshold = max(least, share * (brightest - darkest))
        for i in range(1, side - 1):
            for j in range(1, side - 1):
                xx[i, j] = soft[i, j - 1] - 2 * soft[i, j] + soft[i, j + 1]
                yy[i, j] = soft[i - 1, j] - 2 * soft[i, j] + soft[i + 1, j]
                xy[i, j] = (soft[i + 1, j + 1] - soft[i + 1, j - 1] - soft[i - 1, j + 1] + soft[i - 1, j - 1]) / 4
                answer[i, j] = xy[i, j] * xy[i, j] - xx[i, j] * yy[i, j]
        for i in range(2, side - 2):
            for j in range(2, side - 2):
                here = answer[i, j]
                if not here > threshold * threshold:
                    continue
                x, y = column + j - half, row + i - half
                if not (0 <= x < gray.shape[1] and 0 <= y < gray.shape[0]):
                    continue
                if (x - center[n, 0]) ** 2 + (y - center[n, 1]) ** 2 > reach * reach:
                    continue
                highest = True
                for a in range(-1, 2):
                    for b in range(-1, 2):
                        if answer[i + a, j + b] > here:
                            highest = False
                if not highest:
                    continue
                # Insertion by strength; the weakest falls off the end.
                value = math.sqrt(here)
                at = counts[n]
                if at == most:
                    if value <= strength[n, most - 1]:
                        continue
                    at -= 1
                else:
                    counts[n] += 1
                while at > 0 and strength[n, at - 1] < value:
                    strength[n, at] = strength[n, at - 1]
                    place[n, at] = place[n, at - 1]
                    hessian[n, at] = hessian[n, at - 1]
                    at -= 1
                strength[n, at] = value
                place[n, at, 0], place[n, at, 1] = x, y
                hessian[n, at, 0], hessian[n, at, 1], hessian[n, at, 2] = xx[i, j], xy[i, j], yy[i, j]
    return counts
