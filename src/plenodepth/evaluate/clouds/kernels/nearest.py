"""The nearest item of a tree to each of many points: items are points or triangles.

Nearer boxes first, the farther ones wait on a stack. The nearest item of one point is the first guess for the next,
which is a good one for points in the order of an image.
"""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled, inlined
from plenodepth.evaluate.clouds.kernels.tree import box_distance

DEEPEST = 64  # levels of a tree; as many nodes wait at most
FLAT = 1e-12  # squared sine of a triangle's angle, below which it is taken for its edges


@inlined
def point_distance(points, i, x, y, z):
    """Squared distance of (x, y, z) to point i of (n, 3)."""
    dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
    return dx * dx + dy * dy + dz * dz


@inlined
def edge_distance(px, py, pz, ex, ey, ez):
    """Squared distance of p to the line from the origin to e; e may be the origin."""
    length = ex * ex + ey * ey + ez * ez
    along = min(max((px * ex + py * ey + pz * ez) / length, 0.0), 1.0) if length > 0 else 0.0
    dx, dy, dz = px - along * ex, py - along * ey, pz - along * ez
    return dx * dx + dy * dy + dz * dz


@compiled
def triangle_distance(triangles, i, x, y, z):
    """Squared distance of (x, y, z) to triangle i of (n, 9): corner a, edges a→b and a→c. Flat ones are their edges.

    By regions of the plane (corners, edges, inside) after Ericson, "Real-time collision detection", section 5.1.5.
    """
    t = triangles[i]
    px, py, pz = x - t[0], y - t[1], z - t[2]
    d1 = t[3] * px + t[4] * py + t[5] * pz  # ab · ap
    d2 = t[6] * px + t[7] * py + t[8] * pz  # ac · ap
    bb = t[3] * t[3] + t[4] * t[4] + t[5] * t[5]
    cc = t[6] * t[6] + t[7] * t[7] + t[8] * t[8]
    bc = t[3] * t[6] + t[4] * t[7] + t[5] * t[8]
    if bb * cc - bc * bc <= FLAT * bb * cc:
        ab = edge_distance(px, py, pz, t[3], t[4], t[5])
        ac = edge_distance(px, py, pz, t[6], t[7], t[8])
        cb = edge_distance(px - t[3], py - t[4], pz - t[5], t[6] - t[3], t[7] - t[4], t[8] - t[5])
        return min(ab, ac, cb)
    d3, d4 = d1 - bb, d2 - bc  # ab · bp, ac · bp
    d5, d6 = d1 - bc, d2 - cc  # ab · cp, ac · cp
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if d1 <= 0 and d2 <= 0:
        v, w = 0.0, 0.0
    elif d3 >= 0 and d4 <= d3:
        v, w = 1.0, 0.0
    elif d6 >= 0 and d5 <= d6:
        v, w = 0.0, 1.0
    elif vc <= 0 and d1 >= 0 and d3 <= 0:
        v, w = d1 / bb, 0.0
    elif vb <= 0 and d2 >= 0 and d6 <= 0:
        v, w = 0.0, d2 / cc
    elif va <= 0 and d4 - d3 >= 0 and d5 - d6 >= 0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    dx, dy, dz = px - v * t[3] - w * t[6], py - v * t[4] - w * t[7], pz - v * t[5] - w * t[8]
    return dx * dx + dy * dy + dz * dz


@inlined
def item_distance(items, i, x, y, z):
    """Squared distance of (x, y, z) to item i: a point of (n, 3), or a triangle of (n, 9)."""
    return point_distance(items, i, x, y, z) if items.shape[1] == 3 else triangle_distance(items, i, x, y, z)


@compiled
def nearest(queries, items, boxes, levels, cap, squared, index):
    """Fills squared distances (m,) and indices (m,) into the items; ∞ and −1 for none nearer than √cap."""
    n, leaves = len(items), 1 << levels
    waiting, waiting_distance = np.empty(DEEPEST, np.int64), np.empty(DEEPEST)
    guess = -1
    for q in range(len(queries)):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        best, best_index = cap, -1
        if guess >= 0:
            d = item_distance(items, guess, x, y, z)
            if d < best:
                best, best_index = d, guess
        waiting[0], waiting_distance[0], count = 0, box_distance(boxes[0], x, y, z), 1
        while count > 0:
            count -= 1
            if waiting_distance[count] >= best:
                continue
            node = waiting[count]
            skip = False
            while node < leaves - 1:
                one = box_distance(boxes[2 * node + 1], x, y, z)
                other = box_distance(boxes[2 * node + 2], x, y, z)
                near, far, near_node = (one, other, 2 * node + 1) if one <= other else (other, one, 2 * node + 2)
                if far < best:
                    waiting[count] = 4 * node + 3 - near_node  # the sibling
                    waiting_distance[count] = far
                    count += 1
                if near >= best:
                    skip = True
                    break
                node = near_node
            if skip:
                continue
            leaf = node - (leaves - 1)
            for i in range(leaf * n // leaves, (leaf + 1) * n // leaves):
                d = item_distance(items, i, x, y, z)
                if d < best:
                    best, best_index = d, i
        squared[q] = best if best_index >= 0 else np.inf
        index[q] = best_index
        guess = best_index if best_index >= 0 else guess
