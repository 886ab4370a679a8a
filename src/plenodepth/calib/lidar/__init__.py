"""Where a laser scanner stands relative to the camera."""
