"""Loops over the pixels of many discs; a disc's pixels are those whose middles lie within `reach` px of its centre."""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled

# Profiles are (bins,) over the distance from the centre; bin i lies at (i + ½) · width.


@compiled
def add_profiles(light, centers, classes, reach, width, total, weight, distances, counts):
    """Per class of discs and bin, (classes, bins): adds light to `total`, the discs' mean brightness to `weight`.

    And the pixels' distances and how many they are to `distances` and `counts`.
    """
    bins = total.shape[1]
    for n in range(len(centers)):
        u, v = centers[n, 0], centers[n, 1]
        brightness, count = 0.0, 0
        for row in range(int(np.ceil(v - reach)), int(np.floor(v + reach)) + 1):
            for column in range(int(np.ceil(u - reach)), int(np.floor(u + reach)) + 1):
                if (column - u) ** 2 + (row - v) ** 2 <= reach**2:
                    brightness += light[row, column]
                    count += 1
        brightness /= count
        group = classes[n]
        for row in range(int(np.ceil(v - reach)), int(np.floor(v + reach)) + 1):
            for column in range(int(np.ceil(u - reach)), int(np.floor(u + reach)) + 1):
                square = (column - u) ** 2 + (row - v) ** 2
                if square <= reach**2:
                    distance = np.sqrt(square)
                    i = min(int(distance / width), bins - 1)
                    total[group, i] += light[row, column]
                    weight[group, i] += brightness
                    distances[group, i] += distance
                    counts[group, i] += 1


@compiled
def at_distance(profile, place):
    """The profile at `place` = distance / width − ½, linear between its bins."""
    i = min(max(int(np.floor(place)), 0), len(profile) - 2)
    share = min(max(place - i, 0.0), 1.0)
    return (1 - share) * profile[i] + share * profile[i + 1]


@compiled
def fit_discs(light, centers, reach, width, profile, slope, worth, solution, covariance, squares, counts):
    """Least squares of each disc: g, g x, g y into `solution` (n, 3), the covariance (n, 3) of (g x, g y): xx, xy, yy.

    `worth` (bins,) weighs the pixels. Squared residuals over g², and how many, are added to `squares` and `counts`.
    """
    bins = len(profile)
    for n in range(len(centers)):
        u, v = centers[n, 0], centers[n, 1]
        a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # normal matrix, upper triangle by rows
        p, q, r = 0.0, 0.0, 0.0
        energy, count = 0.0, 0
        for row in range(int(np.ceil(v - reach)), int(np.floor(v + reach)) + 1):
            for column in range(int(np.ceil(u - reach)), int(np.floor(u + reach)) + 1):
                x, y = column - u, row - v
                distance = np.sqrt(x * x + y * y)
                if distance <= reach:
                    place = distance / width - 0.5
                    seen = at_distance(profile, place)
                    steep = -at_distance(slope, place) / max(distance, 1e-9)
                    w = at_distance(worth, place)
                    value = light[row, column]
                    x, y = steep * x, steep * y
                    a, b, c = a + w * seen * seen, b + w * seen * x, c + w * seen * y
                    d, e, f = d + w * x * x, e + w * x * y, f + w * y * y
                    p, q, r = p + w * seen * value, q + w * x * value, r + w * y * value
                    energy += w * value * value
                    count += 1
        # The inverse of the normal matrix by its cofactors.
        aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d
        dd, de, ff = a * f - c * c, b * c - a * e, a * d - b * b
        determinant = a * aa + b * ab + c * ac
        if not determinant > 0:
            solution[n] = np.nan
            covariance[n] = np.nan
            continue
        g = (aa * p + ab * q + ac * r) / determinant
        gx = (ab * p + dd * q + de * r) / determinant
        gy = (ac * p + de * q + ff * r) / determinant
        solution[n, 0], solution[n, 1], solution[n, 2] = g, gx, gy
        variance = max(energy - g * p - gx * q - gy * r, 0.0) / max(count - 3, 1)
        covariance[n, 0] = variance * dd / determinant
        covariance[n, 1] = variance * de / determinant
        covariance[n, 2] = variance * ff / determinant
        if not g > 0:
            continue
        for row in range(int(np.ceil(v - reach)), int(np.floor(v + reach)) + 1):
            for column in range(int(np.ceil(u - reach)), int(np.floor(u + reach)) + 1):
                x, y = column - u, row - v
                distance = np.sqrt(x * x + y * y)
                if distance <= reach:
                    place = distance / width - 0.5
                    steep = -at_distance(slope, place) / max(distance, 1e-9)
                    model = g * at_distance(profile, place) + steep * (gx * x + gy * y)
                    i = min(int(distance / width), bins - 1)
                    squares[i] += ((light[row, column] - model) / g) ** 2
                    counts[i] += 1
