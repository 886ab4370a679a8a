"""The hot loops: rays from pixels, rays against simple shapes, colour where they hit. Compiled by Numba.

A ray in the scene is (ox, oy) on the plane z = 0 of the main lens and its slopes (sx, sy) per unit of z, so that its
parameter is the depth z itself. An object is a row of numbers and a row of integers; the columns have names in the
modules that read them. Everything is float32 and per pixel, so the result does not depend on the number of threads.
"""
