"""The hot loops: rays from pixels, rays against simple shapes, colour where they hit. Compiled by Numba.

A ray in the scene is (ox, oy) on the main lens' plane z = 0 and its slopes (sx, sy) per unit of z, so that its
parameter is the depth z itself. Objects are rows of numbers and of integers, whose columns `layout.py` names.
Everything is float32 and per pixel, so the result does not depend on the number of threads.
"""
