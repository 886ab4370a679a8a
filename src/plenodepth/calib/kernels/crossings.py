"""Fits of a blurred crossing of two edges to the pixels around a corner, by Levenberg and Marquardt's method.

The model: brightness = offset + contrast · erf(a/(√2 σ)) · erf(b/(√2 σ)), with a and b the signed distances, px, of a
pixel to the two edges. Its parameters: x, y of the crossing, the angles of the two normals, contrast, offset, log σ.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.calib.kernels.compiling import compiled, inlined

SIZE = 7
X, Y, FIRST, SECOND, CONTRAST, OFFSET, LOG_SIGMA = range(SIZE)
ROOT_HALF = math.sqrt(0.5)
PEAK = math.sqrt(2 / math.pi)


@inlined
def model_at(x, y, p, slope):
    """The model at a pixel; its derivatives go to `slope` (7,)."""
    sigma = math.exp(p[LOG_SIGMA])
    dx, dy = x - p[X], y - p[Y]
    c1, s1 = math.cos(p[FIRST]), math.sin(p[FIRST])
    c2, s2 = math.cos(p[SECOND]), math.sin(p[SECOND])
    a, b = (c1 * dx + s1 * dy) / sigma, (c2 * dx + s2 * dy) / sigma
    ea, eb = math.erf(a * ROOT_HALF), math.erf(b * ROOT_HALF)
    ga, gb = PEAK * math.exp(-a * a / 2), PEAK * math.exp(-b * b / 2)
    by_a, by_b = p[CONTRAST] * ga * eb / sigma, p[CONTRAST] * ea * gb / sigma
    slope[X] = -(by_a * c1 + by_b * c2)
    slope[Y] = -(by_a * s1 + by_b * s2)
    slope[FIRST] = by_a * (c1 * dy - s1 * dx)
    slope[SECOND] = by_b * (c2 * dy - s2 * dx)
    slope[CONTRAST] = ea * eb
    slope[OFFSET] = 1.0
    slope[LOG_SIGMA] = -(by_a * a + by_b * b) * sigma
    return p[OFFSET] + p[CONTRAST] * ea * eb


@inlined
def solve(matrix, right, factor, out):
    """Cholesky's solution of a positive definite system; False where it is not."""
    size = len(right)
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for t in range(j):
                total -= factor[i, t] * factor[j, t]
            if i == j:
                if not total > 1e-300:
                    return False
                factor[i, i] = math.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    for i in range(size):
        total = right[i]
        for t in range(i):
            total -= factor[i, t] * out[t]
        out[i] = total / factor[i, i]
    for i in range(size - 1, -1, -1):
        total = out[i]
        for t in range(i + 1, size):
            total -= factor[t, i] * out[t]
        out[i] = total / factor[i, i]
    return True


@inlined
def gather(gray, center, start, window, reach, noise, pixels, limit):
    """The usable pixels about a corner, x, y, brightness and the two noise numbers; returns how many."""
    height, width = gray.shape
    count = 0
    first_row, last_row = max(0, math.ceil(start[1] - window)), min(height - 1, math.floor(start[1] + window))
    first, last = max(0, math.ceil(start[0] - window)), min(width - 1, math.floor(start[0] + window))
    for row in range(first_row, last_row + 1):
        for column in range(first, last + 1):
            if (column - start[0]) ** 2 + (row - start[1]) ** 2 > window * window:
                continue
            distance = math.sqrt((column - center[0]) ** 2 + (row - center[1]) ** 2)
            if distance > reach or count == limit:
                continue
            value = float(gray[row, column])
            if not math.isfinite(value):
                continue
            ring = min(int(distance), noise.shape[0] - 1)
            pixels[count, 0], pixels[count, 1], pixels[count, 2] = column, row, value
            pixels[count, 3], pixels[count, 4] = noise[ring, 0], noise[ring, 1]
            count += 1
    return count


@inlined
def normal_equations(pixels, count, p, prior, slope, matrix, right):
    """Fill JᵀWJ and JᵀWr, with the prior of (mean, weight) on each parameter; returns χ² with and without the prior."""
    size = len(p)
    matrix[:] = 0.0
    right[:] = 0.0
    total = 0.0
    for n in range(count):
        value = model_at(pixels[n, 0], pixels[n, 1], p, slope)
        weight = 1 / (pixels[n, 3] + pixels[n, 4] * max(value, 0.0))
        residual = pixels[n, 2] - value
        # The weight goes with the model; without its logarithm a brighter model would always fit better.
        total += weight * residual * residual - math.log(weight)
        for i in range(size):
            step = weight * slope[i]
            right[i] += step * residual
            for j in range(i + 1):
                matrix[i, j] += step * slope[j]
    for i in range(size):
        away = prior[i, 0] - p[i]
        total += prior[i, 1] * away * away
        matrix[i, i] += prior[i, 1]
        right[i] += prior[i, 1] * away
    return total


@compiled
def fit_crossings(gray, center, start, prior_weight, window, reach, noise, steps, result, covariance, quality):
    """Fit every crossing; n in all.

    `center` (n, 2) px of the micro-image; `start` (n, 7) parameters; `prior_weight` (n, 7): 1/σ² about the start;
    `window` (n,) px around the start and `reach` px around the centre limit the pixels. `noise` (rings, 2): the
    variance of a pixel is noise[r, 0] + noise[r, 1] · brightness at r px from the centre. Filled are `result` (n, 7),
    `covariance` (n, 7, 7) for that noise, `quality` (n, 2): χ² per degree of freedom and the number of pixels; NaN
    where a fit fails.
    """
    limit = 1200
    pixels = np.empty((limit, 5))
    matrix, damped, factor = np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE))
    right, slope, step, tried = np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE)
    other, other_right, prior = np.zeros((SIZE, SIZE)), np.zeros(SIZE), np.zeros((SIZE, 2))
    for n in range(len(start)):
        result[n, :] = np.nan
        covariance[n, :, :] = np.nan
        quality[n, :] = np.nan
        count = gather(gray, center[n], start[n], window[n], reach, noise, pixels, limit)
        if count < 2 * SIZE:
            continue
        p = start[n].copy()
        prior[:, 0] = start[n]
        prior[:, 1] = prior_weight[n]
        cost = normal_equations(pixels, count, p, prior, slope, matrix, right)
        damping = 1e-2
        for _ in range(steps):
            damped[:] = matrix
            for i in range(SIZE):
                damped[i, i] += damping * matrix[i, i] + 1e-12
            if not solve(damped, right, factor, step):
                break
            size = 0.0
            for i in range(SIZE):
                tried[i] = p[i] + step[i]
            # The blur stays between a third of a pixel and the micro-image.
            tried[LOG_SIGMA] = min(max(tried[LOG_SIGMA], -1.1), 2.0)
            for i in range(2):
                size = max(size, abs(step[i]))
            next_cost = normal_equations(pixels, count, tried, prior, slope, other, other_right)
            if next_cost < cost:
                p[:] = tried
                matrix[:] = other
                right[:] = other_right
                gain = cost - next_cost
                cost = next_cost
                damping = max(damping / 10, 1e-7)
                if size < 2e-3 and gain < 1e-2:
                    break
            else:
                damping *= 10
                if damping > 1e4:
                    break
        if abs(p[X] - start[n, X]) > window[n] or abs(p[Y] - start[n, Y]) > window[n]:
            continue
        good = True
        for i in range(SIZE):
            for j in range(SIZE):
                right[j] = 1.0 if i == j else 0.0
            if not solve(matrix, right, factor, step):
                good = False
                break
            for j in range(SIZE):
                covariance[n, i, j] = step[j]
        if not good:
            covariance[n, :, :] = np.nan
            continue
        chi = 0.0
        for m in range(count):
            value = model_at(pixels[m, 0], pixels[m, 1], p, slope)
            chi += (pixels[m, 2] - value) ** 2 / (pixels[m, 3] + pixels[m, 4] * max(value, 0.0))
        result[n] = p
        quality[n, 0], quality[n, 1] = chi / (count - SIZE), count


@compiled
def ring_residuals(gray, center, result, window, reach, sums):
    """Add up, for every ring of one pixel about the micro-image's centre, what tells variance by brightness.

    `sums` (rings, 5) takes: count, Σm, Σm², Σr², Σr²m over pixels with the brightness m of the model and residual r.
    """
    pixels = np.empty((1200, 5))
    slope = np.zeros(SIZE)
    noise = np.zeros((sums.shape[0], 2))
    for n in range(len(result)):
        count = gather(gray, center[n], result[n], window[n], reach, noise, pixels, 1200)
        for m in range(count):
            value = max(model_at(pixels[m, 0], pixels[m, 1], result[n], slope), 0.0)
            squared = (pixels[m, 2] - value) ** 2
            ring = int(math.sqrt((pixels[m, 0] - center[n, 0]) ** 2 + (pixels[m, 1] - center[n, 1]) ** 2))
            ring = min(ring, sums.shape[0] - 1)
            sums[ring, 0] += 1
            sums[ring, 1] += value
            sums[ring, 2] += value * value
            sums[ring, 3] += squared
            sums[ring, 4] += squared * value
