"""Order in short lists of numbers."""

from __future__ import annotations

from plenodepth.compiling import compiled


@compiled
def sort_columns(values, count, exchanges):
    """Sort the first `count` values of each column of values (n, width).

    `exchanges` (m, 2) are pairs of rows to compare, in order, that sort `count` rows or more (`sorting_exchanges`).
    They are compared for all columns at once, in vector instructions.
    """
    for n in range(len(exchanges)):
        if exchanges[n, 1] >= count:  # the rows that are not there would be the largest, and stay behind
            continue
        low, high = values[exchanges[n, 0]], values[exchanges[n, 1]]
        for column in range(values.shape[1]):
            one, other = low[column], high[column]
            low[column] = one if one < other else other
            high[column] = other if one < other else one


@compiled
def kth_smallest(values, low, high, wanted):
    """The value that would stand at index `wanted` if values[low … high] were sorted; they change their order."""
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return values[wanted]
