"""Pictures from one raw image: in focus everywhere, from other places in the pupil, or focused anew."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.render.allfocus import all_in_focus as all_in_focus
    from plenodepth.render.animation import write_animation as write_animation
    from plenodepth.render.exports.export import export_views as export_views
    from plenodepth.render.pupil_views import viewpoints as viewpoints
    from plenodepth.render.refocus import refocused as refocused
    from plenodepth.render.steady import steady_surfaces as steady_surfaces
    from plenodepth.render.view import RenderedView as RenderedView
    from plenodepth.render.view_files import load_dense as load_dense
    from plenodepth.render.view_files import load_rendered as load_rendered
    from plenodepth.render.view_files import save_rendered as save_rendered
    from plenodepth.render.view_files import view_of_dense as view_of_dense

__getattr__, __dir__, __all__ = lazy_exports(__name__)
