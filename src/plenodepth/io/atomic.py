"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plenodepth.errors import InputError


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Gives a temporary path beside `path`, to be written in the `with` block and renamed onto `path` at its end.

    On any exception the temporary file is removed and `path` keeps what it held before. The temporary name ends
    with the same suffixes as `path`, because writers choose the format by suffix. The file has the permissions
    of a newly created one (umask). A folder that is missing or cannot be written is an `InputError` naming `path`.
    """
    target = Path(os.path.realpath(path))  # write through a symbolic link instead of replacing it
    if os.path.isdir(target):
        raise InputError("is a folder", file=path, fix="give the path of a file")
    if os.path.exists(target) and not os.path.isfile(target):
        raise InputError("is not a regular file", file=path, fix="give the path of a file that may be replaced")
    if not os.path.isdir(target.parent):
        raise InputError("its folder does not exist", file=path, fix=f"create {target.parent} first")
    # Only the tail of the name, so that a long name with the random part still fits the file system's limit.
    temporary = target.with_name(f".tmp-{secrets.token_hex(4)}-{target.name[-48:]}")
    try:
        # Created now: an unwritable folder shows before the work is done, and the umask gives the permissions.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield temporary
        os.replace(temporary, target)
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and _concerns(error, temporary):
            raise InputError(
                f"cannot be written: {error.strerror}", file=path, fix="check the permissions and the free space"
            ) from error
        raise


def _concerns(error: OSError, temporary: Path) -> bool:
    """Whether the system refused to write `temporary`; other errors of the block belong to whoever raised them."""
    return error.errno is not None and error.filename in (None, str(temporary), temporary)
