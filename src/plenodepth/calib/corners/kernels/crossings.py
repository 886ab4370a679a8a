"""Fits of a blurred crossing of two edges to the pixels around a corner, by Levenberg and Marquardt's method.

The model: brightness = offset + contrast · (E(a/σ_a) · E(b/σ_b) + bump), with a and b the signed distances, px, to the
two edges of the place that a pixel looks at, and E an edge blurred by a disc whose standard deviation across is σ,
half its radius. σ² = spread² · (normalᵀ V normal) + floor, where V is the shape of the pixel's blur: the identity
unless the aperture clips it. Where the shape of what is open matters, the model is the mean of this about several
points of it, and V is what lies about each. The bump is what the two edges have in common where the blur is not round
about them, as for a Gaussian: without it clipped corners would be fitted too far out. Parameters: x, y of the crossing,
the angles of the two normals, contrast, offset, log spread.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined

SIZE = 7
X, Y, FIRST, SECOND, CONTRAST, OFFSET, LOG_SIGMA = range(SIZE)
TWO_OVER_PI = 2 / math.pi
LEAST_LOG_SIGMA, MOST_LOG_SIGMA = math.log(0.1), math.log(7.0)
SMALL_STEP = 2e-3  # px: a fit ends with a step so small,
SMALL_GAIN = 1e-2  # of χ², that gained so little,
SMALL_PROMISE = 1e-3  # of χ², or that was no gain and had promised so little: weights go with the model, steps do not
MOST_DAMPING = 1e4
FAR = 2.0  # windows from the start: such a fit is given up


@inlined
def edge(z):
    """An edge blurred by a disc, −1 … 1, and its slope, at z times the spread (half the disc's radius) from it."""
    half = z / 2
    if half >= 1:
        return 1.0, 0.0
    if half <= -1:
        return -1.0, 0.0
    root = math.sqrt(1 - half * half)
    return 2 / math.pi * (half * root + math.asin(half)), 2 / math.pi * root


@inlined
def directions(p):
    """What the model needs of its parameters at every pixel: spread, cosine and sine of both normals."""
    return math.exp(p[LOG_SIGMA]), math.cos(p[FIRST]), math.sin(p[FIRST]), math.cos(p[SECOND]), math.sin(p[SECOND])


@inlined
def model_at(pixel, p, turned, floor, nodes, slope):
    """The model at a pixel (x, y, brightness, V as xx, xy, yy, …); its derivatives go to `slope` (7,).

    The mean over `nodes` (n, 2), along and across the pixel's direction (its last two numbers), of what the blur shows.
    `turned`: `directions` of p.
    """
    spread, c1, s1, c2, s2 = turned
    square = spread * spread
    vx1, vy1 = pixel[3] * c1 + pixel[4] * s1, pixel[4] * c1 + pixel[5] * s1
    vx2, vy2 = pixel[3] * c2 + pixel[4] * s2, pixel[4] * c2 + pixel[5] * s2
    blur1, blur2 = square * (c1 * vx1 + s1 * vy1), square * (c2 * vx2 + s2 * vy2)
    inverse1, inverse2 = 1 / (blur1 + floor), 1 / (blur2 + floor)
    per1, per2 = math.sqrt(inverse1), math.sqrt(inverse2)  # 1/σ
    # Blur that is wider along one diagonal than along the other makes the crossing itself brighter or darker.
    common = square * (c2 * vx1 + s2 * vy1) + floor * (c1 * c2 + s1 * s2)
    height = TWO_OVER_PI * common * per1 * per2
    turn1, turn2 = square * (c1 * vy1 - s1 * vx1) * inverse1, square * (c2 * vy2 - s2 * vx2) * inverse2
    wide1, wide2 = blur1 * inverse1, blur2 * inverse2
    total, by_first, by_second, by_turn1, by_turn2, by_spread = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(len(nodes)):
        ox = spread * (nodes[n, 0] * pixel[8] - nodes[n, 1] * pixel[9])
        oy = spread * (nodes[n, 0] * pixel[9] + nodes[n, 1] * pixel[8])
        dx, dy = pixel[0] + ox - p[X], pixel[1] + oy - p[Y]
        a, b = (c1 * dx + s1 * dy) * per1, (c2 * dx + s2 * dy) * per2
        ea, ga = edge(a)
        eb, gb = edge(b)
        bump = height * math.exp(-(a * a + b * b) / 2)
        by_a, by_b = ga * eb - a * bump, gb * ea - b * bump
        by_first += by_a
        by_second += by_b
        by_turn1 += by_a * ((c1 * dy - s1 * dx) * per1 - a * turn1)
        by_turn2 += by_b * ((c2 * dy - s2 * dx) * per2 - b * turn2)
        by_spread += by_a * ((c1 * ox + s1 * oy) * per1 - a * wide1) + by_b * ((c2 * ox + s2 * oy) * per2 - b * wide2)
        total += ea * eb + bump
    share = p[CONTRAST] / len(nodes)
    by_first, by_second = share * by_first * per1, share * by_second * per2
    slope[X], slope[Y] = -by_first * c1 - by_second * c2, -by_first * s1 - by_second * s2
    slope[FIRST], slope[SECOND], slope[LOG_SIGMA] = share * by_turn1, share * by_turn2, share * by_spread
    slope[CONTRAST] = total / len(nodes)
    slope[OFFSET] = 1.0
    return p[OFFSET] + share * total


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
def gather(gray, center, place, window, reach, noise, middle, gap, table, table_step, pixels, entries):
    """The usable pixels about a place; returns how many.

    Each gets: where it looks (x, y), brightness, the shape of its blur (xx, xy, yy), the two numbers of its noise, and
    its direction (x, y) from `middle`, with which the blur turns; `entries` gets its row of the table, (m, 4): centroid
    px and variances along and across of the open lens, middle of the light px, over the distance from `middle`.
    """
    height, width = gray.shape
    count = 0
    first_row, last_row = max(0, math.ceil(place[1] - window)), min(height - 1, math.floor(place[1] + window))
    first, last = max(0, math.ceil(place[0] - window)), min(width - 1, math.floor(place[0] + window))
    for row in range(first_row, last_row + 1):
        for column in range(first, last + 1):
            if (column - place[0]) ** 2 + (row - place[1]) ** 2 > window * window:
                continue
            distance = math.sqrt((column - center[0]) ** 2 + (row - center[1]) ** 2)
            if distance > reach or count == len(pixels):
                continue
            value = float(gray[row, column])
            if not math.isfinite(value):
                continue
            ring = min(int(distance), noise.shape[0] - 1)
            x, y = column - middle[0], row - middle[1]
            away = math.sqrt(x * x + y * y)
            rx, ry = (x / away, y / away) if away > 0 else (1.0, 0.0)
            spot = min(away / table_step, len(table) - 1.001)
            low = int(spot)
            part = spot - low
            centroid = (1 - part) * table[low, 0] + part * table[low + 1, 0]
            along = (1 - part) * table[low, 1] + part * table[low + 1, 1]
            across = (1 - part) * table[low, 2] + part * table[low + 1, 2]
            pixel = pixels[count]
            # The middle of the pixel's light, and where one looks from there.
            ahead = 1 + gap * (table[low + 1, 0] - table[low, 0]) / table_step
            shift = gap * centroid + ahead * ((1 - part) * table[low, 3] + part * table[low + 1, 3])
            pixel[0], pixel[1], pixel[2] = column + shift * rx, row + shift * ry, value
            pixel[3] = along * rx * rx + across * ry * ry
            pixel[4] = (along - across) * rx * ry
            pixel[5] = along * ry * ry + across * rx * rx
            pixel[6], pixel[7] = noise[ring, 0], noise[ring, 1]
            # A pixel out of focus on the other side sees the lens turned about.
            side = 1.0 if gap >= 0 else -1.0
            pixel[8], pixel[9] = side * rx, side * ry
            entries[count] = low
            count += 1
    return count


@inlined
def normal_equations(pixels, entries, count, p, prior, floor, nodes, slope, matrix, right):
    """Fill JᵀWJ and JᵀWr, with the prior of (mean, weight) on each parameter; returns the cost."""
    size = len(p)
    matrix[:] = 0.0
    right[:] = 0.0
    total = 0.0
    turned = directions(p)
    for n in range(count):
        value = model_at(pixels[n], p, turned, floor, nodes[entries[n]], slope)
        weight = 1 / (pixels[n, 6] + pixels[n, 7] * max(value, 0.0))
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
def fit_crossings(
    gray,
    center,
    place,
    start,
    prior_weight,
    window,
    reach,
    noise,
    middle,
    gap,
    lens_type,
    table,
    nodes,
    table_step,
    floor,
    steps,
    result,
    covariance,
    quality,
):
    """Fit every crossing; n in all.

    `center` (n, 2) px of the micro-image; `place` (n, 2) px: pixels within `window` (n,) of it and within `reach` of
    the centre are fitted; `start` (n, 7) parameters; `prior_weight` (7,): 1/σ² about the start. `noise` (rings, 2): the
    variance of a pixel is noise[r, 0] + noise[r, 1] · brightness at r px from the centre. `middle` (n, 2), `gap` (n,)
    1/v − 1/v0, `lens_type` (n,), `table` (types, m, 4) with its `table_step` px, `nodes` (types, m, n, 2), `floor` px²:
    see `gather` and `model_at`. Filled are `result` (n, 7), `covariance` (n, 7, 7) for that noise, `quality` (n, 2): χ²
    per degree of freedom and the number of pixels; NaN where a fit fails.
    """
    limit = 1200
    pixels, entries = np.empty((limit, 10)), np.empty(limit, np.int64)
    matrix, damped, factor = np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE))
    right, slope, step, tried = np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE)
    other, other_right, prior = np.zeros((SIZE, SIZE)), np.zeros(SIZE), np.zeros((SIZE, 2))
    for n in range(len(start)):
        result[n, :] = np.nan
        covariance[n, :, :] = np.nan
        quality[n, :] = np.nan
        shape, points = table[lens_type[n]], nodes[lens_type[n]]
        count = gather(
            gray, center[n], place[n], window[n], reach, noise, middle[n], gap[n], shape, table_step, pixels, entries
        )
        if count < 2 * SIZE:
            continue
        p = start[n].copy()
        prior[:, 0] = start[n]
        prior[:, 1] = prior_weight
        cost = normal_equations(pixels, entries, count, p, prior, floor, points, slope, matrix, right)
        damping = 1e-2
        for _ in range(steps):
            damped[:] = matrix
            for i in range(SIZE):
                damped[i, i] += damping * matrix[i, i] + 1e-12
            if not solve(damped, right, factor, step):
                break
            size, promised = 0.0, 0.0
            for i in range(SIZE):
                tried[i] = p[i] + step[i]
                promised += step[i] * right[i]
            tried[LOG_SIGMA] = min(max(tried[LOG_SIGMA], LEAST_LOG_SIGMA), MOST_LOG_SIGMA)
            for i in range(2):
                size = max(size, abs(step[i]))
            next_cost = normal_equations(pixels, entries, count, tried, prior, floor, points, slope, other, other_right)
            if next_cost < cost:
                p[:] = tried
                matrix[:] = other
                right[:] = other_right
                gain = cost - next_cost
                cost = next_cost
                damping = max(damping / 10, 1e-7)
                if size < SMALL_STEP and gain < SMALL_GAIN:
                    break
                if abs(p[X] - start[n, X]) > FAR * window[n] or abs(p[Y] - start[n, Y]) > FAR * window[n]:
                    break  # it hardly comes back
            else:
                damping *= 10
                if damping > MOST_DAMPING or (size < SMALL_STEP and promised < SMALL_PROMISE):
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
        turned = directions(p)
        for m in range(count):
            value = model_at(pixels[m], p, turned, floor, points[entries[m]], slope)
            chi += (pixels[m, 2] - value) ** 2 / (pixels[m, 6] + pixels[m, 7] * max(value, 0.0))
        result[n] = p
        quality[n, 0], quality[n, 1] = chi / (count - SIZE), count


@compiled
def ring_residuals(
    gray, center, place, result, window, reach, middle, gap, lens_type, table, nodes, table_step, floor, sums
):
    """Add up, for every ring of one pixel about the micro-image's centre, what tells variance by brightness.

    `sums` (rings, 5) takes: count, Σm, Σm², Σr², Σr²m over pixels with the brightness m of the model and residual r.
    The rest is as in `fit_crossings`.
    """
    pixels, entries = np.empty((1200, 10)), np.empty(1200, np.int64)
    slope = np.zeros(SIZE)
    rings = np.zeros((sums.shape[0], 2))
    rings[:, 0] = np.arange(sums.shape[0])  # in place of the noise: which ring a pixel is in
    for n in range(len(result)):
        shape, points = table[lens_type[n]], nodes[lens_type[n]]
        count = gather(
            gray, center[n], place[n], window[n], reach, rings, middle[n], gap[n], shape, table_step, pixels, entries
        )
        turned = directions(result[n])
        for m in range(count):
            value = max(model_at(pixels[m], result[n], turned, floor, points[entries[m]], slope), 0.0)
            squared = (pixels[m, 2] - value) ** 2
            ring = int(pixels[m, 6])
            sums[ring, 0] += 1
            sums[ring, 1] += value
            sums[ring, 2] += value * value
            sums[ring, 3] += squared
            sums[ring, 4] += squared * value
