"""Buttons that hand the page's picture and points to the browser, which saves them: the viewer writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from plenodepth.io.clouds.ply import ply_bytes
from plenodepth.view.browser.clouds import ShownCloud

if TYPE_CHECKING:
    import viser

PATIENCE = 60.0  # s for a page to draw its picture
LONGEST_SIDE = 4096  # px
DARK = np.float32(17)  # what lies behind the scene


def add_save_buttons(
    gui: viser.GuiApi, name: Callable[[], str], points: Callable[[], ShownCloud], say: Callable[[str], None]
) -> None:
    """Buttons for a screenshot, and for a PLY of all points within the limits. `name` is that of the frame."""
    picture = gui.add_button("save a screenshot", hint="The scene as this page shows it, without the panels, as PNG.")
    cloud = gui.add_button("save the points", hint="All points within the limits, those not drawn too, as PLY.")

    @picture.on_click
    def _screenshot(event: Any) -> None:
        client = event.client
        try:
            camera = client.camera
            height, width = (min(side, LONGEST_SIDE) for side in (camera.image_height, camera.image_width))
            pixels = client.get_render(height, width, transport_format="png", timeout=PATIENCE)
        except (TimeoutError, RuntimeError) as error:
            say(f"no screenshot: {error}")
            return
        client.send_file_download(f"{name()}.screenshot.png", png_bytes(pixels), save_immediately=True)

    @cloud.on_click
    def _points(event: Any) -> None:
        shown = points()
        if not shown.metric:
            say("A relief of virtual depth has no millimetres: there are no points to save.")
            return
        columns = {kind: values for kind in ("confidence", "sigma") if (values := shown.column(kind)) is not None}
        content = ply_bytes(shown.points, colors=shown.colors, **columns)
        event.client.send_file_download(f"{name()}.shown.ply", content, save_immediately=True)


def png_bytes(pixels: np.ndarray[Any, Any]) -> bytes:
    """An image (h, w, 3 or 4) of 8 bits as PNG, on a dark ground where it is transparent."""
    import cv2

    image: Any = pixels[..., :3].astype(np.float32)
    if pixels.shape[-1] == 4:
        opaque = pixels[..., 3:] / np.float32(255)
        image = image * opaque + DARK * (1 - opaque)
    _, data = cv2.imencode(".png", np.ascontiguousarray(image.round().astype(np.uint8)[..., ::-1]))
    return bytes(data)
