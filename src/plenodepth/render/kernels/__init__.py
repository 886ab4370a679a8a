"""Compiled loops of the views: where samples of the raw image fall in a view, and how they are added up."""
