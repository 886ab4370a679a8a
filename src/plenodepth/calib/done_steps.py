"""Steps that are not done twice: a step's record names what it was made of, and its results.

The record `NAME.json` of a step is written last, so that a step which was interrupted counts as not done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from plenodepth import __version__
from plenodepth.io.atomic import atomic_path

Progress = Callable[[int, int, str], None]  # done, of how many, what


def quietly(done: int, total: int, what: str) -> None:
    """No progress."""


def fingerprint(settings: Mapping[str, Any], files: Iterable[Path]) -> str:
    """Of all that a step depends on: its settings, the content of its input files, and this program's version."""
    digest = hashlib.sha256(json.dumps([__version__, settings], sort_keys=True, default=str).encode())
    for path in files:
        digest.update(sha256(path).encode())
    return digest.hexdigest()


def sha256(path: Path) -> str:
    """Of a file's content."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def up_to_date(record: Path, key: str) -> dict[str, Any] | None:
    """The record of a step that was done with the same key and whose files are all there; None otherwise."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("key") != key:
        return None
    files = content.get("files", [])
    return content if all((record.parent / name).is_file() for name in files) else None


def write_record(record: Path, key: str, files: Iterable[str], content: Mapping[str, Any]) -> dict[str, Any]:
    """Say that a step is done: which files it made, and what there is to say."""
    whole = {"key": key, "files": list(files), **content}
    with atomic_path(record) as temporary:
        temporary.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return whole
