"""Pictures from one raw image: in focus everywhere, from other places in the pupil, or focused anew."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.render.view import Pinhole as Pinhole
    from plenodepth.render.view import RenderedView as RenderedView

__getattr__, __dir__, __all__ = lazy_exports(__name__)
