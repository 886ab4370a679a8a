"""Experiments made of all the other rooms."""
