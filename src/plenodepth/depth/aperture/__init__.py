"""How the main lens' aperture changes what pixels see, and how the matching undoes it."""
