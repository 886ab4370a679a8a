"""Compiled loops over the pixels of an image: which micro-image each belongs to."""
