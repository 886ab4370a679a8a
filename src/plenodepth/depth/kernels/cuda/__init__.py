"""The sweep in CUDA C++, from the image to the maps; compiled at first use, through CuPy.

One file for each stage, named as those of `kernels.cpu`: `cut.cu` makes tiles of the image, `resample.cu` undoes the
aperture's effect in them, `coarse.cu` and `refined.cu` search, `agreement.cu` compares finished depths. What they share
is in `scalar.cuh`, `pairs.cuh`, `peaks.cuh` and `blocks.cuh`. `sources` puts constants and structures before them,
`device` says whether there is a GPU, `plan` brings a camera's tables there, `search` launches.
"""
