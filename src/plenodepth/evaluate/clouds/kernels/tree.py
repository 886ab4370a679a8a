"""A balanced tree of boxes over items in space, made by splitting at the median of the longest side.

Node i has the children 2 i + 1 and 2 i + 2; the last 2**levels nodes are the leaves, and leaf j holds the items
j·n // 2**levels up to (j + 1)·n // 2**levels in the order that `median_order` returns.
"""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled, inlined


@inlined
def swap(points, order, i, j):
    """Exchange items i and j."""
    for axis in range(3):
        points[i, axis], points[j, axis] = points[j, axis], points[i, axis]
    order[i], order[j] = order[j], order[i]


@compiled
def select(points, order, axis, first, end, nth):
    """Move items in [first, end) so that none before `nth` is larger along `axis`, and none from it on smaller."""
    low, high = first, end - 1
    while low < high:
        middle = (low + high) // 2  # median of three, so that sorted input is no bad case
        if points[middle, axis] < points[low, axis]:
            swap(points, order, low, middle)
        if points[high, axis] < points[low, axis]:
            swap(points, order, low, high)
        if points[high, axis] < points[middle, axis]:
            swap(points, order, middle, high)
        pivot = points[middle, axis]
        i, j = low - 1, high + 1
        while True:
            i += 1
            while points[i, axis] < pivot:
                i += 1
            j -= 1
            while points[j, axis] > pivot:
                j -= 1
            if i >= j:
                break
            swap(points, order, i, j)
        if nth <= j:
            high = j
        else:
            low = j + 1


@compiled
def median_order(points, levels):
    """Order (n,) in which n points (n, 3) fill the leaves; `points` itself is brought into this order."""
    n = len(points)
    order = np.arange(n)
    for level in range(levels):
        parts = 1 << level
        leaves = 1 << (levels - level)  # of a part
        total = 1 << levels
        for part in range(parts):
            first, end = part * leaves * n // total, (part + 1) * leaves * n // total
            nth = (2 * part + 1) * (leaves // 2) * n // total
            axis, longest = 0, -1.0
            for a in range(3):
                low = high = points[first, a]
                for i in range(first + 1, end):
                    low, high = min(low, points[i, a]), max(high, points[i, a])
                if high - low > longest:
                    axis, longest = a, high - low
            if nth < end:
                select(points, order, axis, first, end, nth)
    return order


@compiled
def node_boxes(low, high, levels):
    """Boxes (2**(levels + 1) − 1, 6), lower then upper corner, of nodes over items (n, 3) in leaf order."""
    n, leaves = len(low), 1 << levels
    boxes = np.empty((2 * leaves - 1, 6))
    for leaf in range(leaves):
        node = leaves - 1 + leaf
        for axis in range(3):
            smallest, largest = np.inf, -np.inf
            for i in range(leaf * n // leaves, (leaf + 1) * n // leaves):
                smallest, largest = min(smallest, low[i, axis]), max(largest, high[i, axis])
            boxes[node, axis], boxes[node, 3 + axis] = smallest, largest
    for node in range(leaves - 2, -1, -1):
        for axis in range(3):
            boxes[node, axis] = min(boxes[2 * node + 1, axis], boxes[2 * node + 2, axis])
            boxes[node, 3 + axis] = max(boxes[2 * node + 1, 3 + axis], boxes[2 * node + 2, 3 + axis])
    return boxes


@inlined
def box_distance(box, x, y, z):
    """Squared distance of a point to a box (6,), 0 inside."""
    dx = max(box[0] - x, 0.0, x - box[3])
    dy = max(box[1] - y, 0.0, y - box[4])
    dz = max(box[2] - z, 0.0, z - box[5])
    return dx * dx + dy * dy + dz * dz
