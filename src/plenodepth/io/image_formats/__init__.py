"""Every image and sequence format: `read_images` reads all of them, one frame at a time."""

from plenodepth.io.image_formats.any_format import (
    counted_frames,
    frame_count,
    image_size_of,
    is_sequence,
    read_images,
)
from plenodepth.io.image_formats.stored import Image, StoredImage

__all__ = [
    "Image",
    "StoredImage",
    "counted_frames",
    "frame_count",
    "image_size_of",
    "is_sequence",
    "read_images",
]
