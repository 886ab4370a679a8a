"""The picture in focus everywhere, seen from the middle of the pupil."""

from __future__ import annotations

from plenodepth.blas import single_blas_thread
from plenodepth.errors import InputError
from plenodepth.metric.result import DepthResult
from plenodepth.render.picture import view_of
from plenodepth.render.surface import central_surface
from plenodepth.render.view import RenderedView
from plenodepth.threads import limited_threads

SCALE = 2  # side of a view's pixel, in pixels of the sensor: a quarter of its pixels
SCALES = (1, 16)


@single_blas_thread()
def all_in_focus(
    depth: DepthResult, *, scale: float = SCALE, sharpen: bool = True, threads: int | None = None
) -> RenderedView:
    """The central view, in focus everywhere, of a depth result that has a dense view.

    Each pixel is the mean of all samples of the raw image that see its surface, the sharp and bright ones weighted
    most; the blur that is left is taken off by the camera's own model of it (`sharpen`). `scale`: side of a pixel in
    pixels of the sensor.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> image = plenodepth.load_raw("raw.png", camera, white="white.png")
    >>> depth = plenodepth.estimate_depth(image, camera, dense=plenodepth.DenseSettings(enabled=True))
    >>> plenodepth.all_in_focus(depth).picture.shape
    (202, 280, 3)
    """
    require_scale(scale)
    with limited_threads(threads):
        return view_of(central_surface(depth), scale, sharpen=sharpen, name=depth.name)


def require_scale(scale: float) -> None:
    """Refuse a size of pixels that makes no picture."""
    if not SCALES[0] <= scale <= SCALES[1]:
        raise InputError(f"is {scale:g}, needs a number from {SCALES[0]} to {SCALES[1]}", field="scale")
