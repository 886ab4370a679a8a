"""The camera beside its cloud: what it sees (the frustum), its lens array, and a truth over the cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.view.browser.instrument import Instrument
from plenodepth.view.figures.style import type_color

if TYPE_CHECKING:
    import viser

TRUTH = (230, 159, 0)
EDGE = (220, 220, 220)
LENS = 0.7  # of the pitch: a drawn lens
FRUSTUM = 0.35  # of the distance to the cloud's middle: where the frustum ends


def frustum(camera: PlenopticCamera, depth: float) -> NDArray[np.float32]:
    """The corners (4, 3) of what a pinhole at the main lens' centre sees at a depth, clockwise from the top left."""
    right, bottom = camera.sensor.width - 0.5, camera.sensor.height - 0.5
    corners = np.array([[-0.5, -0.5], [right, -0.5], [right, bottom], [-0.5, bottom]])
    direction = -camera.sensor.metric_from_image(corners) / camera.main_lens.focal_length
    return np.column_stack([direction * depth, np.full(4, depth)]).astype(np.float32)


def add_camera(
    server: viser.ViserServer, instrument: Instrument, unit: float, view: NDArray[np.uint8] | None
) -> list[Any]:
    """Draw the frustum, the picture at its end, and the lens array, each lens in the colour of its type."""
    camera, lenses = instrument.camera, instrument.lenses
    if not isinstance(camera, PlenopticCamera) or lenses is None:
        return []
    corners = frustum(camera, FRUSTUM)  # in units of the scene
    edges = [[np.zeros(3), corner] for corner in corners]
    edges += [[corners[i], corners[(i + 1) % 4]] for i in range(4)]
    drawn: list[Any] = [
        server.scene.add_line_segments(
            "/camera/frustum", np.array(edges, np.float32), EDGE, thickness=2.0, thickness_units="screen"
        )
    ]
    if view is not None:
        size = corners[2] - corners[0]
        drawn.append(
            server.scene.add_image(
                "/camera/view",
                view,
                render_width=float(size[0]),
                render_height=float(size[1]),
                position=(corners[0] + corners[2]) / 2,
                format="jpeg",
                cast_shadow=False,
                receive_shadow=False,
            )
        )
    colors = [tuple(bytes.fromhex(type_color(kind)[1:])) for kind in instrument.lens_types.tolist()]
    drawn.append(
        server.scene.add_point_cloud(
            "/camera/lenses",
            lenses / np.float32(unit),
            np.array(colors, np.uint8),
            point_size=LENS * float(camera.micro_lenses.pitch.mean()) / unit,
            point_shape="circle",
            precision="float32",
            point_shading="flat",
        )
    )
    return drawn


def add_truth(server: viser.ViserServer, places: NDArray[np.float32], size: float) -> Any:
    """The points of a truth (m, 3), in the scene, in one colour; not visible at first."""
    return server.scene.add_point_cloud(
        "/truth", places, TRUTH, point_size=size, precision="float32", point_shading="flat", visible=False
    )
