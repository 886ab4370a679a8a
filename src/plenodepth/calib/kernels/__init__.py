"""The hot loops of calibration."""
