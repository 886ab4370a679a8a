"""Depth maps in files."""
