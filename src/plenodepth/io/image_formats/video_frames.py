"""The frames of a video as FFmpeg decodes them, none of which it had to repair.

FFmpeg is made for players: it hides what is damaged. It is asked not to, and decodes in one thread, since errors get
lost between threads: of those of H.264 that its threads log, one in ten reaches the caller neither as an error nor as a
mark on the frame. FFV1 keeps its threads, which share one frame, and VVC its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import extra_package, size_of
from plenodepth.io.image_formats.matroska import Checksums, is_matroska
from plenodepth.io.image_formats.stored import TRUNCATED
from plenodepth.io.image_formats.video_messages import errors_said

NO_REPAIR = {"err_detect": "crccheck+explode"}  # options of a decoder


def video_frames(file: BinaryIO, container: Any, stream: Any, path: Path | str) -> Iterator[Any]:
    """The frames of a stream, in the order of time, each as a frame of PyAV; damage is an `InputError`.

    Damage is what the decoder cannot decode or marks as damaged, a wrong checksum (of FFV1, of Matroska, of pictures of
    HEVC and VVC), a packet that is cut off, and fewer frames than the container lists. A stream without checksums may
    be damaged so that it shows something else without an error; that cannot be known.
    """
    av = extra_package("av", "video", path)
    listens = stream.codec_context.name == "ffv1"  # the only decoder that tells damage by a message alone
    stream.thread_type = "SLICE" if listens else "NONE"
    stood = file.tell()
    checks = Checksums(file, size_of(file)) if is_matroska(file) else None
    file.seek(stood)
    number, reached, discarded = 0, 0, 0
    with decodable(path):
        packets = container.demux(stream)
    while True:
        with decodable(path), _errors_said(av, listens) as said:
            packet = next(packets, None)
            frames = packet.decode() if packet is not None else ()
        if packet is None:
            break
        wrong = checks.damage_before(packet.pos) if checks is not None and packet.pos is not None else ""
        if wrong:
            raise InputError(wrong, file=path, fix=TRUNCATED)
        if said or packet.is_corrupt:
            raise InputError(f"is damaged{_because(said)}", file=path, field=f"frame {number}", fix=TRUNCATED)
        for frame in frames:
            if frame.is_corrupt:
                raise InputError("is damaged", file=path, field=f"frame {number}", fix=TRUNCATED)
            yield frame
            number += 1
        discarded += packet.is_discard
        reached = max(reached, 0 if packet.dts is None else packet.dts + 1)
    _check_ending(container, stream, number + discarded, reached, path)
    wrong = checks.damage_before(checks.length) if checks is not None else ""
    if wrong:
        raise InputError(wrong, file=path, fix=TRUNCATED)


@contextmanager
def decodable(path: Path | str) -> Iterator[None]:
    """What PyAV says inside the block about a file becomes an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # what PyAV raises for a damaged file is not a closed list
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be decoded: {reason}", file=path, fix=TRUNCATED) from None


def _errors_said(av: Any, listens: bool) -> AbstractContextManager[list[str]]:
    return errors_said(av) if listens else nullcontext(list[str]())


def _because(said: list[str]) -> str:
    return f": {said[0].rstrip('!')}" if said else ""


def _check_ending(container: Any, stream: Any, count: int, reached: int, path: Path | str) -> None:
    """Refuse a video of which fewer frames came than its container lists, if it does."""
    if container.format.name == "avi":  # lists a frame for each step of time, also where none was recorded
        count = max(count, reached)
    if count < stream.frames:
        raise InputError(f"ends after {count} of {stream.frames} frames", file=path, fix=TRUNCATED)
