"""Datasets on disk: makes the frames that are missing, keeps the others, and lists all of them in a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.camera import save_camera
from plenodepth.errors import InputError
from plenodepth.io import (
    Observations,
    atomic_path,
    parse_json,
    read_observations,
    read_poses,
    read_scene,
    read_text,
    write_observations,
    write_poses,
    write_scene,
)
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed
from plenodepth.sim.lidar import BESIDE_CAMERA, TERRESTRIAL_SIGMA, LidarSettings, lidar_for_points, upright_pose
from plenodepth.sim.optics.camera import camera_with_optics
from plenodepth.sim.optics.file import save_optics
from plenodepth.sim.optics.options import RealOptics
from plenodepth.sim.output import INFO, OPTICS
from plenodepth.sim.render import Progress, RenderSettings
from plenodepth.sim.scenes.twins import PlannedFrame, Twin, twin, view_center, view_corners
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameInfo, FrameSettings, render_scene, render_white
from plenodepth.version import __version__

MANIFEST = "manifest.json"
SOURCES = ("sim", "camera", "geometry", "io")  # the rooms whose code makes a frame: `sim` may import no others
STATIONS = (BESIDE_CAMERA, (300.0, -100.0, 0.0), (40.0, -300.0, 0.0))  # places of the scanner, mm, camera frame
FACED = 1000.0  # mm: it faces the middle of the view at this depth in every scene, as if it stood there all the time
SCANNED = (400.0, 1500.0)  # mm: its windows hold all that the camera sees between these depths
LEAST_BEAMS, PIXELS_PER_BEAM = 200_000, 10  # so that a central sub-aperture map of the scan has no holes


@dataclass(frozen=True)
class DatasetReport:
    """What making a dataset took: frames in all and those made now, rays and seconds of the latter."""

    frames: int
    made: int
    rays: int
    seconds: float
    cpu_seconds: float


def simulate_dataset(
    name: str,
    out: str | Path,
    *,
    quick: bool = False,
    rays: int = 64,
    seed: int = 0,
    threads: int | None = None,
    sensor: SensorSettings | None = None,
    optics: RealOptics | None = None,
    fresh: bool = False,
    on_frame: Callable[[int, int, str], None] | None = None,
    progress: Progress | None = None,
) -> DatasetReport:
    """Make the twin `name` of one of the paper's datasets in the folder `out`.

    Frames that are there, made from the same scene with the same camera, settings and program, are kept; `fresh` makes
    all of them anew. `optics` are real lenses in the place of the twin's own. `on_frame(index, count, folder)` is
    called before each frame, `progress` while it is rendered.
    """
    plan = twin(name, quick=quick, seed=seed)
    plan = plan if optics is None else replace(plan, optics=optics)
    tracing = RenderSettings(rays=rays, seed=seed, threads=threads, optics=plan.optics)
    base = FrameSettings(tracing, sensor or SensorSettings(seed=seed))
    with made_folder(out), claimed(out):
        return _make(plan, base, Path(out), quick=quick, fresh=fresh, on_frame=on_frame, progress=progress)


def _make(
    plan: Twin,
    base: FrameSettings,
    out: Path,
    *,
    quick: bool,
    fresh: bool,
    on_frame: Callable[[int, int, str], None] | None,
    progress: Progress | None,
) -> DatasetReport:
    root = _open_folder(out, plan)
    work = WorkFolder.fresh(root) if fresh else WorkFolder(root)
    listed = _listed_checksums(root)
    made: list[FrameInfo] = []
    entries = []
    for index, planned in enumerate(plan.frames):
        if on_frame is not None:
            on_frame(index, len(plan.frames), planned.folder)
        settings = _frame_settings(base, plan, index)
        key = frame_key(planned, plan, settings)
        folder = root / planned.folder
        sums = _checksums(folder)
        if work.within(folder).kept(INFO, key) is None or listed.get(planned.folder, sums) != sums:  # or damaged
            made.append(_make_frame(planned, plan, settings, folder, key, progress))
            sums = _checksums(folder)
        distance = {} if planned.distance is None else {"distance": planned.distance}
        entries.append({"folder": planned.folder, "key": key, **distance, "sha256": sums})
        _write_manifest(root, plan, base, quick, entries)
    _join_boards(root, plan)
    return DatasetReport(
        frames=len(plan.frames),
        made=len(made),
        rays=sum(info.rays for info in made),
        seconds=sum(info.seconds for info in made),
        cpu_seconds=sum(info.cpu_seconds for info in made),
    )


def frame_key(planned: PlannedFrame, plan: Twin, settings: FrameSettings) -> str:
    """The cache key of a frame: scene, camera, all settings but the number of threads, and this package's sources.

    For the scene stand the function that builds it, whose sources are in the key, and its arguments: building all
    scenes of a full-size dataset only to compare them takes many seconds.
    """
    recipe = planned.scene
    scene = None if recipe is None else [recipe.func.__name__, recipe.args, recipe.keywords]
    values = {
        "scene": scene,
        "camera": plan.camera,
        "frame": planned.frame,
        "distance": planned.distance,
        "settings": replace(settings, render=replace(settings.render, threads=None)),
    }
    return cache_key(values, rooms=SOURCES)


def _open_folder(root: Path, plan: Twin) -> Path:
    """The dataset's folder with its camera; a folder with another dataset or other files in it is refused."""
    manifest = root / MANIFEST
    try:
        if root.is_dir() and any(root.iterdir()) and not manifest.is_file():
            raise InputError("is a folder with other things in it", file=root, fix="give a new or empty folder")
        if manifest.is_file() and _manifest(manifest).get("dataset") != plan.name:
            raise InputError("holds another dataset", file=manifest, field="dataset", fix="give another folder")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=root, fix="give a writable folder") from None
    with made_folder(root):
        save_camera(camera_with_optics(plan.camera, plan.optics), root / "camera.yaml")
        if plan.optics is not None:
            save_optics(plan.optics, root / OPTICS)
        else:
            (root / OPTICS).unlink(missing_ok=True)  # of another run in the same folder
    return root


def _frame_settings(base: FrameSettings, plan: Twin, index: int) -> FrameSettings:
    """Each frame has noise of its own; the lenses' gains stay those of the camera."""
    planned = plan.frames[index]
    sensor = replace(base.sensor, seed=base.sensor.seed + 1000 * (index + 1))
    tracing = replace(base.render, seed=base.render.seed + 1000 * (index + 1), f_number=planned.f_number)
    return FrameSettings(tracing, sensor, stations(plan, sensor.seed) if planned.lidar else ())


def _make_frame(
    planned: PlannedFrame, plan: Twin, settings: FrameSettings, folder: Path, key: str, progress: Progress | None
) -> FrameInfo:
    if planned.scene is None:
        frame = render_white(planned.f_number, plan.camera, settings, progress=progress)
    else:
        frame = render_scene(planned.scene(), plan.camera, settings, frame=planned.frame, progress=progress)
    frame = replace(frame, info=replace(frame.info, key=key, distance=planned.distance))
    frame.save(folder)
    return frame.info


def stations(plan: Twin, seed: int) -> list[LidarSettings]:
    """The scanner to the left of the camera, to the right and above: hardly anything hides from all three.

    They are the same for all scenes of a dataset, so that their poses need to be found in one scene only.
    """
    seen = np.concatenate([view_corners(depth, plan.camera) for depth in SCANNED])
    sensor = plan.camera.sensor
    beams = max(LEAST_BEAMS, sensor.width * sensor.height // PIXELS_PER_BEAM)
    poses = [upright_pose(place, view_center(FACED, plan.camera)) for place in STATIONS]
    return [
        lidar_for_points(seen, beams, pose, range_sigma=TERRESTRIAL_SIGMA, seed=seed + index)
        for index, pose in enumerate(poses)
    ]


def _checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of the files of a frame, but for info.json, which holds the time it took."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.name != INFO}


def _listed_checksums(root: Path) -> dict[str, dict[str, str]]:
    """What the manifest of an earlier run says of its frames."""
    manifest = root / MANIFEST
    frames = _manifest(manifest)["frames"] if manifest.is_file() else []
    return {frame["folder"]: frame["sha256"] for frame in frames}


def _manifest(path: Path) -> dict[str, Any]:
    """What an earlier run has written, if it has."""
    content = parse_json(read_text(path), path)
    frames = content.get("frames") if isinstance(content, dict) else None
    if not isinstance(frames, list) or not all(map(_is_entry, frames)):
        raise InputError("is no manifest of a dataset", file=path, fix="remove the folder and start again")
    return dict(content)


def _is_entry(entry: Any) -> bool:
    known = isinstance(entry, dict) and isinstance(entry.get("folder"), str)
    return known and isinstance(entry.get("sha256"), dict)


def _write_manifest(root: Path, plan: Twin, base: FrameSettings, quick: bool, entries: list[dict[str, Any]]) -> None:
    content = {
        "dataset": plan.name,
        "plenodepth": __version__,
        "camera": plan.camera.name,
        "quick": quick,
        "rays": base.render.rays,
        "seed": base.render.seed,
        "complete": len(entries) == len(plan.frames),
        "frames": entries,
    }
    with atomic_path(root / MANIFEST) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n")


def _join_boards(root: Path, plan: Twin) -> None:
    """One file of features, poses and board per group of frames (boards, steps), as calibration tools take them."""
    groups: dict[str, list[Path]] = {}
    for planned in plan.frames:
        folder = root / planned.folder
        if (folder / "poses.js").is_file():
            groups.setdefault(planned.folder.split("/")[0], []).append(folder)
    for group, folders in groups.items():
        features = np.concatenate([read_observations(folder / "features.bin.gz").features for folder in folders])
        write_observations(Observations(features=features), root / group / "features.bin.gz")
        write_poses([pose for folder in folders for pose in read_poses(folder / "poses.js")], root / group / "poses.js")
        write_scene(read_scene(folders[0] / "scene.js"), root / group / "scene.js")
    for group in {planned.folder.split("/")[0] for planned in plan.frames if planned.distance is not None}:
        lines = [
            f"{planned.frame} {planned.distance:g}\n"
            for planned in plan.frames
            if planned.folder.startswith(f"{group}/")
        ]
        with atomic_path(root / group / "distances.txt") as temporary:
            temporary.write_text("".join(lines))
