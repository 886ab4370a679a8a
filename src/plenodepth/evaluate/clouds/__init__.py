"""Point clouds against clouds, meshes and planes."""
