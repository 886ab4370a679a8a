"""Clean image and camera in, virtual depth out."""
