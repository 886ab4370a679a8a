"""Decimal numbers from text: as a whole number and a power of ten each, which one exact division makes a double."""

from __future__ import annotations

from plenodepth.compiling import compiled

MOST_DIGITS = 15  # a double holds every whole number of so many digits
LARGEST_POWER = 22  # and every power of ten up to this one

NEW_LINE, RETURN, TAB, BLANK, PLUS, MINUS, POINT, ZERO, NINE = 10, 13, 9, 32, 43, 45, 46, 48, 57
SMALL_E, LARGE_E = 101, 69


@compiled
def parse_decimals(text, whole, power):
    """Reads lines of as many numbers each from bytes (n,), into whole numbers and powers of ten, both (m,).

    Returns how many there are and how many in a line, or −1 and 0 for text that is anything else: a word, a number of
    too many digits, lines of different lengths. It is for a slower reader then to say what is wrong, if something is.
    """
    n, count, in_line, columns, i = len(text), 0, 0, 0, 0
    while True:
        while i < n and (text[i] == BLANK or text[i] == TAB):
            i += 1
        if i < n and text[i] == RETURN:
            if i + 1 < n and text[i + 1] != NEW_LINE:
                return -1, 0
            i += 1
        if i >= n or text[i] == NEW_LINE:
            if in_line > 0:  # blank lines do not count
                if columns == 0:
                    columns = in_line
                elif in_line != columns:
                    return -1, 0
                in_line = 0
            if i >= n:
                return count, columns
            i += 1
            continue
        negative = text[i] == MINUS
        if negative or text[i] == PLUS:
            i += 1
        value, digits, seen, places, after_point = 0, 0, 0, 0, False
        while i < n:
            byte = text[i]
            if ZERO <= byte <= NINE:
                value = value * 10 + (byte - ZERO)
                seen += 1
                if value > 0:  # zeros in front are no digits
                    digits += 1
                    if digits > MOST_DIGITS:
                        return -1, 0
                if after_point:
                    places -= 1
            elif byte == POINT and not after_point:
                after_point = True
            else:
                break
            i += 1
        if seen == 0:
            return -1, 0
        if i < n and (text[i] == SMALL_E or text[i] == LARGE_E):
            i += 1
            down = i < n and text[i] == MINUS
            if i < n and (text[i] == MINUS or text[i] == PLUS):
                i += 1
            exponent, first = 0, i
            while i < n and ZERO <= text[i] <= NINE and i - first < 4:
                exponent = exponent * 10 + (text[i] - ZERO)
                i += 1
            if i == first:
                return -1, 0
            places += -exponent if down else exponent
        if i < n and not (text[i] == BLANK or text[i] == TAB or text[i] == NEW_LINE or text[i] == RETURN):
            return -1, 0
        if value == 0:
            places = 0
        if places > LARGEST_POWER or places < -LARGEST_POWER:
            return -1, 0
        whole[count] = -value if negative else value
        power[count] = places
        count += 1
        in_line += 1
