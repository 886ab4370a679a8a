"""``plenodepth doctor``: what is installed, where things are kept, and whether depth comes out right."""
