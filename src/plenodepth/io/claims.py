"""One run at a time for each output: a second one stops instead of writing over what the first is making."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from plenodepth.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, where two runs are not told
    fcntl = None  # type: ignore[assignment]

PREFIX = ".lock-"


@contextmanager
def claimed(path: Path | str) -> Iterator[None]:
    """Hold an output, a file or a folder or how names begin, for the block; an `InputError` if another run does.

    The lock is a hidden file beside it, which goes with the block, and with the run, however that ends: what a killed
    run has left holds nothing, and the next run takes it. A missing folder, and a file system without locks, hold
    nothing.
    """
    target = Path(os.path.realpath(path))
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    lock = target.with_name(f"{PREFIX}{name}")
    descriptor = _locked(lock, path) if fcntl is not None and target.parent.is_dir() else None
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                os.unlink(lock)
            os.close(descriptor)


@contextmanager
def claimed_each(paths: Iterable[Path]) -> Iterator[None]:
    """Hold several outputs, or none."""
    with ExitStack() as stack:
        for path in paths:
            stack.enter_context(claimed(path))
        yield


def _locked(lock: Path, path: Path | str) -> int | None:
    """The open lock, or None where there are no locks."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            reason = error.strerror or str(error)
            fix = "check the permissions and the free space"
            raise InputError(f"cannot be written: {reason}", file=path, fix=fix) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            fix = "wait for it, or give another place"
            raise InputError("is being written by another run", file=path, fix=fix) from None
        except OSError:
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(lock)
            return None
        with suppress(OSError):
            if os.path.samestat(os.stat(lock), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)  # another run has removed it since
