"""A picture in place of the cloud: a plane in the scene, which can be moved, magnified and clicked as the cloud can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.view.browser.rays import place_on_plane

if TYPE_CHECKING:
    import viser

DISTANCE = 1.0  # of the plane z = …, in units of the scene; it is as wide
JPEG_QUALITY = 92
CIRCLE = np.linspace(0, 2 * np.pi, 49)
IN_FRONT = 0.9999  # of the distance: where marks lie


class PicturePane:
    """The plane and its marks. Pixel (0, 0) is the centre of the picture's first."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self.size = server, (1, 1)  # width, height, px
        self._plane: Any = None
        self._marks: Any = None
        self._before: dict[int, Any] = {}  # position and target of each page's camera before the picture came

    @property
    def shown(self) -> bool:
        """Whether a picture is in place of the cloud."""
        return self._plane is not None

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Put a picture (h, w, 3) before the cameras of all pages."""
        first = not self.shown
        self._remove()
        height, width = picture.shape[:2]
        self.size = (width, height)
        self._plane = self._server.scene.add_image(
            "/picture",
            picture,
            render_width=DISTANCE,
            render_height=DISTANCE * height / width,
            position=(0.0, 0.0, DISTANCE),
            format="jpeg",
            jpeg_quality=JPEG_QUALITY,
            cast_shadow=False,
            receive_shadow=False,
        )
        if first:
            for key, client in self._server.get_clients().items():
                camera = client.camera
                self._before[key] = camera.position, camera.look_at
                away = 1.15 * DISTANCE * max(height / width, 1 / max(camera.aspect, 0.1)) / (2 * np.tan(camera.fov / 2))
                camera.position, camera.look_at = (0.0, 0.0, DISTANCE - away), (0.0, 0.0, DISTANCE)

    def hide(self) -> None:
        """Give the scene back to the cloud, and the cameras their places."""
        if not self.shown:
            return
        self._remove()
        for key, client in self._server.get_clients().items():
            if key in self._before:
                client.camera.position, client.camera.look_at = self._before[key]
        self._before.clear()

    def pixel(self, origin: ArrayLike, direction: ArrayLike) -> tuple[float, float] | None:
        """The place on the picture that a ray meets, px; None beside it."""
        place = place_on_plane(origin, direction, DISTANCE)
        if place is None:
            return None
        (width, height) = self.size
        x, y = place / DISTANCE * width + [(width - 1) / 2, (height - 1) / 2]
        inside = -0.5 <= x < width - 0.5 and -0.5 <= y < height - 0.5
        return (float(x), float(y)) if inside else None

    def mark(self, center: tuple[float, float], radius: float) -> None:
        """A ring on the picture, px, in place of the one before."""
        width, height = self.size
        x, y = (center[0] - (width - 1) / 2) / width, (center[1] - (height - 1) / 2) / width
        ring = np.stack(
            [x + radius / width * np.cos(CIRCLE), y + radius / width * np.sin(CIRCLE), np.full(49, IN_FRONT)], axis=1
        )
        segments = (DISTANCE * np.stack([ring[:-1], ring[1:]], axis=1)).astype(np.float32)
        self._marks = self._server.scene.add_line_segments(
            "/picture_mark", segments, (255, 214, 0), thickness=3.0, thickness_units="screen"
        )

    def _remove(self) -> None:
        for handle in (self._plane, self._marks):
            if handle is not None:
                handle.remove()
        self._plane = self._marks = None
