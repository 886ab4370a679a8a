"""Names of a package that are imported at first use, so that importing the package takes no time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` for a package whose names come from other modules.

    `modules` maps each name to the module that defines it:

        __getattr__, __dir__, __all__ = lazy_exports(__name__, {"estimate_depth": "plenodepth.metric.frame"})

    Type checkers do not see such names; an import under `if TYPE_CHECKING` tells them.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)  # the next use is an ordinary one
        return value

    names = sorted(modules)
    return load, lambda: sorted({*vars(sys.modules[package]), *names}), names
