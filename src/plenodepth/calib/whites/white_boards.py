"""White images that were given where boards are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plenodepth.calib.image_list import ListedImage, ReadImage
from plenodepth.calib.whites.grid import find_grid
from plenodepth.errors import InputError
from plenodepth.io.images import read_image

LOOKED_AT = 3  # images: folders are mistaken for each other, rarely single files


@contextmanager
def said_of_white_boards(boards: Sequence[ListedImage], read: ReadImage = read_image) -> Iterator[None]:
    """Where the search for boards in the block fails because the images are white ones, say so instead.

    Another error passes through. The images are looked at only after an error: a search that finds boards costs nothing
    more.
    """
    try:
        yield
    except InputError:
        for image in boards[:LOOKED_AT]:
            if _is_white(image, read):
                raise InputError(
                    "is a white image, not one of a checkerboard",
                    file=image.path,
                    field="boards",
                    fix="give the images of the checkerboard as boards, and the white images as whites",
                ) from None
        raise


def _is_white(image: ListedImage, read: ReadImage) -> bool:
    try:
        return find_grid(read(image.path), name=str(image.path)).white
    except InputError:  # no grid at all
        return False
