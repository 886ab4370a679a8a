"""White images in; grid, centres, radii and a camera to start from out."""
