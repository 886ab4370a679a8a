"""The fast kernels in Numba, from the image to the maps.

`cut` makes tiles of the image, `resample` undoes the aperture's effect in them, `pairs` compares two views, `costs`
sums over views, `peaks` chooses hypotheses, `sweep` and `golden` search, `agreement` and `scatter` compare finished
depths.
"""
