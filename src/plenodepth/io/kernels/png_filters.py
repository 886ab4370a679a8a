"""The filters of PNG undone: each row was stored as its difference from what the pixels before it predict."""

from __future__ import annotations

from plenodepth.compiling import compiled

NONE, SUB, UP, AVERAGE, PAETH = range(5)


@compiled
def undo_filters(rows, step):
    """Turn filtered rows (h, 1 + m) of bytes into the pixels' own, in place; `step` bytes make a pixel.

    The first byte of a row names its filter; False for one that there is not. What stands before the first pixel of a
    row, and above the first row, counts as 0.
    """
    height, end = rows.shape
    first = 1 + step
    for y in range(height):
        kind = rows[y, 0]
        if kind == SUB:
            for x in range(first, end):
                rows[y, x] += rows[y, x - step]
        elif kind == UP:
            if y > 0:
                for x in range(1, end):
                    rows[y, x] += rows[y - 1, x]
        elif kind == AVERAGE:
            for x in range(1, end):
                left = int(rows[y, x - step]) if x >= first else 0
                above = int(rows[y - 1, x]) if y > 0 else 0
                rows[y, x] += (left + above) >> 1
        elif kind == PAETH:
            for x in range(1, end):
                left = int(rows[y, x - step]) if x >= first else 0
                above = int(rows[y - 1, x]) if y > 0 else 0
                corner = int(rows[y - 1, x - step]) if y > 0 and x >= first else 0
                guess = left + above - corner
                from_left, from_above, from_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
                if from_left <= from_above and from_left <= from_corner:
                    rows[y, x] += left
                elif from_above <= from_corner:
                    rows[y, x] += above
                else:
                    rows[y, x] += corner
        elif kind != NONE:
            return False
    return True
