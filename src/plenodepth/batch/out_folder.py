"""The output folder: one run at a time, results that appear whole, and what of them is still as it was."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from plenodepth.batch.frames import OWN
from plenodepth.batch.job import Outcome, file_state, unchanged
from plenodepth.batch.manifest import Entry, FileState
from plenodepth.errors import InputError
from plenodepth.io.atomic import made_folder

Check = Literal["times", "outputs", "all"]

LOCK = f"{OWN}-lock"
UNFINISHED = f"{OWN}-unfinished-"  # and something of its own for each run


@dataclass(frozen=True)
class OutFolder:
    """The output folder of a run, which has it to itself."""

    path: Path
    unfinished: Path  # where results are made, on the same file system

    def of(self, frame: str) -> Path:
        """The folder of a frame's results."""
        return self.path / frame

    def holds(self, entry: Entry, check: Check) -> bool:
        """Whether the results of an entry are there as they were made.

        times: a file whose size and time are those of the entry counts as it stands. Otherwise its content is read.
        """
        if entry.error or not entry.files:
            return False
        folder = self.of(entry.frame)
        return all(is_as_it_was(folder / name, state, trust=check == "times") for name, state in entry.files.items())

    def require_free(self, frame: str) -> None:
        """Refuse to replace a folder that does not look like the results of a frame."""
        folder, name = self.of(frame), frame.rsplit("/", 1)[-1]
        if os.path.lexists(folder) and not (folder / f"{name}.json").is_file():
            raise InputError("is in the way and not of our making", file=folder, fix="move it, or give another --out")

    def received(self, outcome: Outcome) -> Outcome:
        """An outcome whose files lie in `unfinished`, also where they have come as bytes."""
        if not outcome.contents:
            return outcome
        folder = self.unfinished / secrets.token_hex(8)
        folder.mkdir()
        for name, content in outcome.contents.items():
            (folder / name).write_bytes(content)
        files = {name: file_state(folder / name) for name in outcome.contents}
        return replace(outcome, folder=folder, files=files, contents={})

    def publish(self, made: Path, frame: str) -> None:
        """Let the results of a frame appear, all at once; older ones go."""
        target = self.of(frame)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.withdraw(frame)
        os.rename(made, target)

    def withdraw(self, frame: str) -> None:
        """Remove the results of a frame, all at once."""
        target = self.of(frame)
        if os.path.lexists(target):
            old = self.unfinished / f"old-{secrets.token_hex(8)}"
            os.rename(target, old)
            shutil.rmtree(old, ignore_errors=True)


def is_as_it_was(path: Path, state: FileState, *, trust: bool) -> bool:
    """Whether a file has the content of a state; with `trust`, size and time tell."""
    if trust and unchanged(path, state):
        return True
    try:
        return os.stat(path).st_size == state.size and file_state(path).sha256 == state.sha256
    except OSError:
        return False


@contextmanager
def only_run(out: Path | str) -> Iterator[OutFolder]:
    """Have an output folder to oneself; what killed runs left in it is swept. A second run is an `InputError`."""
    path = Path(out)
    with made_folder(path), _locked(path):
        for left in path.glob(f"{UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)
        for left in path.glob(".tmp-*"):  # of the manifest
            with suppress(OSError):
                left.unlink()
        unfinished = path / f"{UNFINISHED}{secrets.token_hex(4)}"
        try:
            unfinished.mkdir()
        except OSError as error:
            raise _refused(path, error) from None
        try:
            yield OutFolder(path, unfinished)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. The system frees it when the process ends, however that ends."""
    path = folder / LOCK
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise _refused(folder, error) from None
        if not _taken(file):
            holder = os.read(file, 200).decode(errors="replace").strip()
            os.close(file)
            fix = "wait for it, stop it, or give another --out"
            raise InputError(f"another run is at work in it ({holder or 'it has just begun'})", file=folder, fix=fix)
        if _same_file(file, path):
            break
        os.close(file)  # its holder removed it in between
    try:
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(file)


def _taken(file: int) -> bool:
    """Take the lock of an open file unless another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody can have it
        pass
    return True


def _same_file(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _refused(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror}", file=path, fix="check the permissions and the free space")
