"""The licences of the packages that constraints.txt pins, and which of them a user of plenodepth gets."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# Their metadata do not say it, or say it with the whole text; or they are only for other systems than this one.
BY_HAND = {
    "appnope": "BSD-2-Clause",
    "cffi": "MIT-0",
    "embreex": "BSD-2-Clause",
    "openexr": "BSD-3-Clause",
    "pycparser": "BSD-3-Clause",
}


def pinned() -> list[str]:
    """The names in constraints.txt, in its order."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [canonicalize_name(line.split("==")[0].strip()) for line in lines if re.match(r"[A-Za-z0-9]", line)]
    return list(dict.fromkeys(names))


def licence_of(name: str) -> str | None:
    """What the metadata of an installed package say; None where it is not installed."""
    if name in BY_HAND:
        return BY_HAND[name]
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    classes = [text.split(" :: ")[-1] for text in about.get_all("Classifier", []) if text.startswith("License")]
    text = about.get("License-Expression") or "; ".join(classes) or (about.get("License") or "").strip()
    return text.splitlines()[0] if text else ""


def needed_by(name: str, extras: frozenset[str]) -> set[str]:
    """All packages that a package with these extras brings with it."""
    found, waiting = set[str](), [(canonicalize_name(name), extras)]
    while waiting:
        package, wanted = waiting.pop()
        try:
            lines = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            continue
        for requirement in map(Requirement, lines):
            marker = requirement.marker
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in (wanted or {""}) | {""}):
                continue
            child = canonicalize_name(requirement.name)
            if child not in found:
                found.add(child)
                waiting.append((child, frozenset(requirement.extras)))
    return found
