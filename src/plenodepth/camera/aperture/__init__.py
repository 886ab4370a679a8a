"""The main lens' aperture: which part of each micro-lens it leaves open, and what pixels see through that."""
