"""The files of a raw image and its white images, read ahead on threads; white images are kept for the next frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from plenodepth.io import read_image
from plenodepth.io.image_formats import StoredImage, read_images
from plenodepth.io.images import Image
from plenodepth.threads import thread_count


class Read(NamedTuple):
    """An image from a file, and the CPU-seconds that it took."""

    image: StoredImage
    seconds: float


# What `read_ahead` has begun to read and nobody has asked for, by its role and path.
_ahead = dict[tuple[str, Path], Callable[[], Read]]()


def read_ahead(path: Path | str, whites: Sequence[Path]) -> None:
    """Begin to read the files that `load_raw` is going to need, unless that is under way.

    Each is read by a thread of its own; with one thread, when it is asked for. Errors come from `load_raw`.
    """
    for role, file, read in (("image", Path(path), _first), *(("white", white, _white_file) for white in whites)):
        if (role, file) not in _ahead:
            _ahead[role, file] = _begin(_timed, read, file)


def files_read(path: Path | str, whites: Sequence[Path]) -> list[Read]:
    """The image and the white images, from where `read_ahead` has got to."""
    read_ahead(path, whites)
    return [_ahead.pop(("image", Path(path)))(), *(_ahead.pop(("white", file))() for file in whites)]


def _first(path: Path) -> StoredImage:
    """The image of a file, or the first frame of a sequence."""
    return next(read_images(path))


def _white_file(path: Path) -> StoredImage:
    return StoredImage(read_white(path), path.stem)


def _begin(work: Callable[..., Read], *arguments: Any) -> Callable[[], Read]:
    """Do work on a thread of its own, if there may be several; what is returned waits for the result."""
    if thread_count() == 1:
        return partial(work, *arguments)
    pool = ThreadPoolExecutor(1)
    result = pool.submit(work, *arguments).result
    pool.shutdown(wait=False)
    return result


def _timed(read: Callable[[Path], StoredImage], path: Path) -> Read:
    began = time.thread_time()
    return Read(read(path), time.thread_time() - began)


def forget_white() -> None:
    """Free the white image that `load_raw` keeps for the next frame."""
    _read_unchanged.cache_clear()


def read_white(path: Path) -> Image:
    """A white image from a file, which is kept for the next frame unless the file changes."""
    try:
        state = path.stat()
    except OSError:
        return read_image(path)  # which says what is wrong
    return _read_unchanged(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read_unchanged(path: Path, *_: int) -> Image:
    image = read_image(path)
    image.flags.writeable = False
    return image
