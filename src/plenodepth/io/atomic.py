"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plenodepth.errors import InputError
from plenodepth.io.temporaries import sweep, temporary_name


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
    sweep(target.parent)
    temporary = target.with_name(temporary_name(target.name))
    try:
        # Created now: an unwritable folder shows before the work is done, and the umask gives the permissions.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield temporary
        os.replace(temporary, target)
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        with suppress(OSError):  # a read-only disk does not even say that the file is not there
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and _concerns(error, temporary):
            raise _refused(error, path) from error
        raise


@contextmanager
def atomic_files(folder: Path | str) -> Iterator[Path]:
    """Gives a temporary folder inside `folder`; what is written into it moves to `folder` together at the end.

    On any exception none of them does, and `folder` holds what it held before; one that was not there is gone again.
    Errors name the files by where they would have gone. Names with a folder in the way, and a `folder` that takes no
    files, are an `InputError`.
    """
    target = Path(folder)
    with made_folder(target):
        sweep(target)
        temporary = target / temporary_name()
        try:
            os.mkdir(temporary)
        except OSError as error:
            raise _refused(error, folder) from error
        try:
            yield temporary
            _move_files(temporary, target)
        except InputError as error:
            inside = error.file is not None and Path(error.file).is_relative_to(temporary)
            if not inside:
                raise
            final = target / Path(error.file or "").relative_to(temporary)
            raise InputError(error.message, file=final, field=error.field, fix=error.fix) from error.__cause__
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def made_folder(folder: Path | str) -> Iterator[Path]:
    """Make a folder, with those above it, unless it is there; one that cannot be made is an `InputError`.

    On any exception in the block the folders that it made are removed again, and empty ones in them. A folder that
    holds a file stays.
    """
    target, missing = Path(folder), _missing(folder)
    try:
        os.makedirs(target, exist_ok=True)
    except OSError as error:
        _remove_empty(missing)
        raise InputError(f"cannot be written: {error.strerror}", file=folder, fix="give a writable folder") from None
    try:
        yield target
    except BaseException:  # an interrupt, too, leaves nothing behind
        _remove_empty(missing)
        raise


@contextmanager
def filled_folder(folder: Path | str) -> Iterator[Path]:
    """As `made_folder`, but where the block ends without an error a folder that it left empty goes, too."""
    missing = _missing(folder)
    with made_folder(folder) as made:
        yield made
    _remove_empty(missing)


def require_writable(folder: Path | str) -> None:
    """Refuse a folder that cannot be made or takes no files: before the work, not after it. Leaves nothing behind."""
    missing = _missing(folder)
    with atomic_files(folder):
        pass
    _remove_empty(missing)


def _missing(folder: Path | str) -> list[Path]:
    """A folder and those above it that are not there, the innermost first."""
    absolute = Path(folder).absolute()
    return [path for path in (absolute, *absolute.parents) if not os.path.lexists(path)]


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, and those in them, as far as they are empty."""
    for folder in folders:
        for path, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):  # it holds something, or is gone
                os.rmdir(path)


def _move_files(source: Path, target: Path) -> None:
    """Move all files of one folder, and of those in it, to another on the same file system: it takes no more space."""
    names = sorted(path.relative_to(source) for path in source.rglob("*") if not path.is_dir())
    for name in names:  # before the first is moved
        if os.path.isdir(target / name):
            raise InputError("is a folder", file=target / name, fix="move it away, or give another folder")
    for name in names:
        try:
            os.makedirs((target / name).parent, exist_ok=True)
            os.replace(source / name, target / name)
        except OSError as error:
            raise _refused(error, target / name) from error


def _refused(error: OSError, path: Path | str) -> InputError:
    reason = error.strerror or str(error)
    return InputError(f"cannot be written: {reason}", file=path, fix="check the permissions and the free space")


def _concerns(error: OSError, temporary: Path) -> bool:
    """Whether the system refused to write `temporary`; an error about another file belongs to whoever raised it."""
    return error.filename in (None, str(temporary), temporary)
