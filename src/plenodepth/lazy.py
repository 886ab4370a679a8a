"""Names of a package that are imported at first use, so that importing the package takes no time."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` for a package whose names come from other modules.

    The names are those that `__init__.py` imports under `if TYPE_CHECKING`, where type checkers find them:

        if TYPE_CHECKING:
            from package.module import name as name

        __getattr__, __dir__, __all__ = lazy_exports(__name__)
    """
    modules = _type_checking_imports(Path(str(sys.modules[package].__file__)))

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)  # the next use is an ordinary one
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *modules}), sorted(modules)


def _type_checking_imports(path: Path) -> dict[str, str]:
    """Name → module of all `from module import name` under `if TYPE_CHECKING` in a file."""
    blocks = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
