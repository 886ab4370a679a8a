"""The scenes that ship with the package, by their names.

They are those of the folder examples/scenes, to which the link `shipped` beside this file leads; a wheel holds copies.
"""

from __future__ import annotations

from pathlib import Path

from plenodepth.errors import InputError

SHIPPED = Path(__file__).parent / "shipped"


def scene_names() -> list[str]:
    """The names of the scenes that ship with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def scene_path(scene: str | Path) -> Path:
    """The file of a scene: the scene that ships under this name, or the path as it is given.

    A file of that name wins. A word without a suffix that is neither is an error, which lists the names.
    """
    path = Path(scene)
    if path.suffix or len(path.parts) != 1 or path.is_file():
        return path
    shipped = SHIPPED / f"{path.name}.yaml"
    if not shipped.is_file():
        names = ", ".join(scene_names())
        raise InputError("is neither a scene file nor a scene that ships", file=path, fix=f"give a file, or {names}")
    return shipped
