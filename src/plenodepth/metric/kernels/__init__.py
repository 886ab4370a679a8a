"""Compiled loops over pixels: from virtual depth to metric maps, points and the central view."""
