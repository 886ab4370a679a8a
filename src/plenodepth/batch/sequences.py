"""Frames of sequences, read here and sent to workers: a video is decoded once, and not by each worker."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import cast

from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.recipe import Recipe
from plenodepth.errors import InputError
from plenodepth.io.image_formats import StoredImage, read_images


class SequenceReader:
    """Reads on where it stands; a frame that lies before that, as one that is tried again, starts anew."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._path: Path | None = None
        self._next = 0
        self._images: Generator[StoredImage] | None = None

    def read(self, frame: BatchFrame) -> StoredImage:
        """The frame as it is stored."""
        number = frame.number or 0
        if self._images is None or frame.path != self._path or number < self._next:
            self.close()
            images = read_images(frame.path, frames=slice(number, None), size=self._recipe.size, bits=self._recipe.bits)
            self._images = cast(Generator[StoredImage], images)
            self._path, self._next = frame.path, number
        while True:
            try:
                image = next(self._images)
            except StopIteration:
                self.close()
                raise InputError(f"ends before frame {number}", file=frame.path) from None
            except InputError:
                self.close()
                raise
            self._next += 1
            if self._next > number:
                return image

    def close(self) -> None:
        """Close the file at hand."""
        if self._images is not None:
            with suppress(InputError):
                self._images.close()
        self._images, self._path = None, None
