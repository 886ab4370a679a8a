"""Baselines for rendered views."""
