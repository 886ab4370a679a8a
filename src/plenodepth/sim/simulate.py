"""A simulated frame: from a scene to the raw image with its ground truth, in memory or as a folder of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim import output
from plenodepth.sim.lidar import ExtrinsicTargets, LidarScan, LidarSettings, extrinsic_targets, join_scans, scan_scene
from plenodepth.sim.optics.camera import camera_with_optics
from plenodepth.sim.optics.file import optics_content, save_optics
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import Progress, Rendering, RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.scene_names import scene_path
from plenodepth.sim.sensor import RawArray, SensorSettings, expose
from plenodepth.sim.truth import GroundTruth, ground_truth
from plenodepth.version import __version__

WHITE_DISTANCE = 1000.0  # mm; a white wall looks the same from everywhere


@dataclass(frozen=True, eq=False)
class FrameSettings:
    """All that a frame depends on beside camera and scene."""

    render: RenderSettings = field(default_factory=RenderSettings)
    sensor: SensorSettings = field(default_factory=SensorSettings)
    lidar: Sequence[LidarSettings] = ()  # stations of the scanner; their scans become one in the frame of the first


@dataclass(frozen=True, eq=False)
class FrameInfo:
    """How a frame was made, and what it cost: what info.json says."""

    kind: Literal["scene", "white"]
    camera: str  # name
    f_number: float | None
    rays: int  # traced in all
    seconds: float
    cpu_seconds: float
    render: RenderSettings
    sensor: SensorSettings
    frame: int = 0  # number of the frame in its dataset
    objects: tuple[str, ...] = ()  # names of the scene's objects; the map of objects has their indices
    distance: float | None = None  # mm, of the target of a dataset's frame
    key: str | None = None  # cache key of a dataset's frame
    version: str = __version__

    def content(self) -> dict[str, Any]:
        """The content of info.json."""
        content: dict[str, Any] = {
            "plenodepth": self.version,
            "camera": self.camera,
            "f_number": self.f_number,
            "rays": self.rays,
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "render": self._render_content(),
            "sensor": asdict(self.sensor),
            "kind": self.kind,
        }
        if self.kind == "scene":
            content |= {"frame": self.frame, "objects": list(self.objects)}
        optional = {"key": self.key, "distance": self.distance}
        return content | {name: value for name, value in optional.items() if value is not None}

    def _render_content(self) -> dict[str, Any]:
        """The settings, with those options of real lenses that are on."""
        optics = self.render.optics
        return asdict(self.render) | {"optics": None if optics is None else optics_content(optics)}


@dataclass(frozen=True, eq=False)
class SimulatedFrame:
    """A raw image and all that is known about it. A white image has neither ground truth nor scan."""

    raw: RawArray  # (h, w), or (h, w, 3) in colour
    light: NDArray[np.float32]  # (h, w, 3) before the sensor: without noise, 1 = a fully open pixel that looks at white
    scene: Scene
    camera: PlenopticCamera
    info: FrameInfo
    truth: GroundTruth | None = None
    lidar: LidarScan | None = None
    targets: ExtrinsicTargets | None = None  # board corners in the camera's and the scanner's frame

    def save(self, folder: str | Path, *, scene_file: str | Path | None = None) -> None:
        """Write the folder that `plenodepth simulate` writes; `scene_file` is copied into it as scene.yaml.

        The folder appears complete or not at all. It replaces an earlier frame, but no other folder with files in it.
        """
        with output.frame_folder(folder) as temporary:
            self._write(temporary, scene_file)

    def _write(self, folder: Path, scene_file: str | Path | None) -> None:
        output.write_raw(self.raw, folder)
        if self.truth is not None:
            output.write_truth(self.truth, self.scene, folder, self.info.frame)
        if self.lidar is not None:
            output.write_lidar(self.lidar, folder)
        if self.targets is not None:
            output.write_targets(self.targets, folder)
        output.write_description(self.info.content(), self.camera, folder, scene_file)
        if self.info.render.optics is not None:
            save_optics(self.info.render.optics, folder / output.OPTICS)


def render_scene(
    scene: Scene | str | Path,
    camera: PlenopticCamera,
    settings: FrameSettings | None = None,
    *,
    frame: int = 0,
    progress: Progress | None = None,
) -> SimulatedFrame:
    """Render a scene (or the scene of a file) with its ground truth, and scan it where `settings` has a scanner.

    `frame` is the number that board corners and poses carry. The same settings give the same arrays.
    """
    settings = settings or FrameSettings()
    optics = settings.render.optics
    scene = scene if isinstance(scene, Scene) else load_scene(scene)
    camera = camera_with_optics(camera, optics)
    depths = scene_depths(scene, camera.main_lens.focal_length)
    setup = ray_setup(camera, *depths, f_number=settings.render.f_number, optics=optics)
    rendering = render(scene, camera, settings.render, setup=setup, progress=progress)
    lidar = targets = None
    if settings.lidar:
        lidar = join_scans([scan_scene(scene, station) for station in settings.lidar])
        if any(isinstance(thing, Checkerboard) for thing in scene.objects):
            targets = extrinsic_targets(scene, lidar.cam_from_lidar)
    return SimulatedFrame(
        raw=_exposed(rendering, settings, setup),
        light=rendering.light,
        scene=scene,
        camera=camera,
        info=replace(
            _info("scene", camera, rendering, settings),
            frame=frame,
            objects=tuple(thing.name for thing in scene.objects),
        ),
        truth=ground_truth(scene, camera, setup=setup),
        lidar=lidar,
        targets=targets,
    )


def render_white(
    f_number: float | None,
    camera: PlenopticCamera,
    settings: FrameSettings | None = None,
    *,
    progress: Progress | None = None,
) -> SimulatedFrame:
    """Render the white image of a camera at an f-number (None: the camera's own)."""
    settings = settings or FrameSettings()
    f_number = camera.main_lens.f_number if f_number is None else f_number
    if f_number is None:
        raise InputError("the camera has none", field="f_number", fix="give one")
    settings = replace(settings, render=replace(settings.render, f_number=f_number))
    optics = settings.render.optics
    camera = camera_with_optics(camera, optics)
    scene = white_scene(camera)
    depths = scene_depths(scene, camera.main_lens.focal_length)
    setup = ray_setup(camera, *depths, f_number=f_number, optics=optics)
    rendering = render(scene, camera, settings.render, setup=setup, progress=progress)
    raw = _exposed(rendering, settings, setup)
    return SimulatedFrame(raw, rendering.light, scene, camera, _info("white", camera, rendering, settings))


def simulate_scene(
    scene: Scene | str | Path,
    camera: PlenopticCamera,
    out: str | Path,
    settings: FrameSettings | None = None,
    *,
    frame: int = 0,
    scene_file: str | Path | None = None,
    progress: Progress | None = None,
) -> SimulatedFrame:
    """Render a scene (or the scene of a file) and save it in the folder `out`: see `render_scene`.

    A scene file, given as `scene` (or by the name of one that ships) or as `scene_file`, is copied into the folder.

    >>> from plenodepth.sim import FrameSettings, RenderSettings
    >>> quick = FrameSettings(RenderSettings(rays=1))  # per pixel
    >>> frame = plenodepth.simulate_scene("scene.yaml", plenodepth.load_camera("camera.yaml"), "simulated", quick)
    >>> frame.raw.shape, frame.truth.depth.shape
    ((404, 560, 3), (404, 560))
    """
    if scene_file is None and not isinstance(scene, Scene):
        scene_file = scene_path(scene)
    with output.frame_folder(out) as folder:  # a folder that cannot be written is refused before the work
        rendered = render_scene(scene, camera, settings, frame=frame, progress=progress)
        rendered._write(folder, scene_file)
    return rendered


def simulate_white(
    f_number: float | None,
    camera: PlenopticCamera,
    out: str | Path,
    settings: FrameSettings | None = None,
    *,
    progress: Progress | None = None,
) -> SimulatedFrame:
    """Render the white image of a camera at an f-number (None: the camera's own) and save it in the folder `out`.

    >>> from plenodepth.sim import FrameSettings, RenderSettings
    >>> quick = FrameSettings(RenderSettings(rays=1))  # per pixel
    >>> plenodepth.simulate_white(8.0, plenodepth.load_camera("camera.yaml"), "white-f8", quick).info.f_number
    8.0
    """
    with output.frame_folder(out) as folder:
        rendered = render_white(f_number, camera, settings, progress=progress)
        rendered._write(folder, None)
    return rendered


def white_scene(camera: PlenopticCamera) -> Scene:
    """A glowing wall that fills every ray."""
    distance = max(WHITE_DISTANCE, 4 * camera.main_lens.focal_length)
    wall = Pose(np.eye(3), np.array([0.0, 0.0, distance]))
    return Scene((Rectangle(20 * distance, 20 * distance, wall, Material(emits=True), name="white"),))


def _exposed(rendering: Rendering, settings: FrameSettings, setup: RaySetup) -> RawArray:
    optics = settings.render.optics
    return expose(
        rendering.light,
        settings.sensor,
        setup.owner,
        crosstalk=0.0 if optics is None else optics.crosstalk,
        threads=settings.render.threads,
    )


def _info(
    kind: Literal["scene", "white"], camera: PlenopticCamera, rendering: Rendering, settings: FrameSettings
) -> FrameInfo:
    return FrameInfo(
        kind=kind,
        camera=camera.name,
        f_number=settings.render.f_number or camera.main_lens.f_number,
        rays=rendering.rays,
        seconds=rendering.seconds,
        cpu_seconds=rendering.cpu_seconds,
        render=settings.render,
        sensor=settings.sensor,
    )
