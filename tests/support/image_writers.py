"""Writers of image files of every format: by the library of that format, or packed by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import OpenEXR
import tifffile

Array = np.ndarray[Any, Any]
HEIGHT, WIDTH = 32, 48


class Writers:
    """How a test makes its files."""

    @staticmethod
    def exr(path: Path, **channels: Array) -> None:
        header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
        OpenEXR.File(header, channels).write(str(path))

    @staticmethod
    def video(path: Path, frames: list[Array], codec: str, pix_fmt: str, **options: str) -> None:
        """`frames` are what PyAV takes for the pixel format."""
        with av.open(str(path), "w") as container:
            stream = container.add_stream(codec, rate=25, options=options)
            first = av.VideoFrame.from_ndarray(frames[0], format=pix_fmt)
            stream.width, stream.height, stream.pix_fmt = first.width, first.height, pix_fmt
            for number, array in enumerate(frames):
                frame = av.VideoFrame.from_ndarray(array, format=pix_fmt)
                frame.pts = number
                container.mux(stream.encode(frame))
            container.mux(stream.encode())

    @staticmethod
    def dng(path: Path, mosaic: Array, filters: tuple[int, ...] = (1, 0, 2, 1), **more: Any) -> None:
        """A DNG of 10 bits whose black is 64; filters: 0 red, 1 green, 2 blue."""

        def fractions(values: Array) -> list[int]:
            return [number for value in values for number in (int(value * 10_000), 10_000)]

        tags = [
            (50706, "B", 4, (1, 4, 0, 0), False),  # DNGVersion
            (50708, "s", 0, "Test camera", False),  # UniqueCameraModel
            (33421, "H", 2, (2, 2), False),  # CFARepeatPatternDim
            (33422, "B", 4, filters, False),  # CFAPattern
            (50713, "H", 2, (2, 2), False),  # BlackLevelRepeatDim
            (50714, "H", 4, (64, 64, 64, 64), False),  # BlackLevel
            (50717, "H", 1, 1023, False),  # WhiteLevel
            (50721, "2i", 9, fractions(np.eye(3).ravel()), False),  # ColorMatrix1
            (50728, "2I", 3, fractions(np.ones(3)), False),  # AsShotNeutral
            (50778, "H", 1, 21, False),  # CalibrationIlluminant1
        ]
        options = {"photometric": 32803, "planarconfig": "contig", "metadata": None, **more}
        tifffile.imwrite(path, mosaic, extratags=tags, **options)

    @staticmethod
    def lytro(path: Path, packed: bytes, image: dict[str, Any], *, illum: bool) -> None:
        """A container as the first camera (.lfp) or the Illum (.lfr) writes it."""
        metadata = json.dumps({"image": image}).encode()
        frame = {"frame": {"imageRef": _sha1(packed), "metadataRef": _sha1(metadata)}}
        content = {"frames": [frame]} if illum else {"picture": {"frameArray": [frame]}}
        sections = [(b"M", json.dumps(content).encode()), (b"C", metadata), (b"C", packed)]
        path.write_bytes(b"\x89LFP\r\n\x1a\n" + bytes([0, 0, 0, 1]) + bytes(4) + b"".join(map(_section, sections)))

    @staticmethod
    def yuv(path: Path, frames: list[tuple[Array, Array, Array]]) -> None:
        path.write_bytes(b"".join(plane.tobytes() for frame in frames for plane in frame))


def _sha1(data: bytes) -> str:
    return f"sha1-{hashlib.sha1(data).hexdigest()}"


def _section(kind_and_data: tuple[bytes, bytes]) -> bytes:
    kind, data = kind_and_data
    header = b"\x89LF" + kind + b"\r\n\x1a\n" + bytes(4) + len(data).to_bytes(4, "big")
    whole = header + _sha1(data).encode().ljust(80, b"\0") + data
    return whole + bytes(-len(whole) % 16)


def lytro_metadata(width: int, height: int, *, illum: bool) -> dict[str, Any]:
    bits, upper_left, order = (10, "gr", "little") if illum else (12, "b", "big")
    black, white = (64, 1023) if illum else (168, 4095)
    details = {
        "pixelFormat": {
            "rightShift": 0,
            "black": dict.fromkeys(("r", "gr", "gb", "b"), black),
            "white": dict.fromkeys(("r", "gr", "gb", "b"), white),
        },
        "pixelPacking": {"endianness": order, "bitsPerPixel": bits},
        "mosaic": {"tile": "r,gr:gb,b", "upperLeftPixel": upper_left},
    }
    image = {"width": width, "height": height, "orientation": 1, "representation": "rawPacked"}
    return image | (details if illum else {"rawDetails": details})
