"""Datasets on disk: makes what is missing, keeps what is there, and says what is what in a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth import __version__
from plenodepth.camera import save_camera
from plenodepth.camera.files.native import content_of_camera
from plenodepth.errors import InputError
from plenodepth.io import (
    Observations,
    atomic_path,
    read_observations,
    read_poses,
    read_scene,
    write_observations,
    write_poses,
    write_scene,
)
from plenodepth.sim.lidar import BESIDE_CAMERA, LidarSettings, settings_around, upright_pose
from plenodepth.sim.output import INFO
from plenodepth.sim.render import Progress, RenderSettings
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import PlannedFrame, Twin, twin, view_center, view_corners
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white

MANIFEST = "manifest.json"
LIDAR_SIGMA = 1.0  # mm, of a terrestrial scanner at short range
STATIONS = (BESIDE_CAMERA, (300.0, -100.0, 0.0), (40.0, -300.0, 0.0))  # mm, camera frame
FACED = 1000.0  # mm, the depth that they are turned to, whatever stands there: a scanner stays where it is
SCANNED = (400.0, 1500.0)  # mm: what the camera sees between these depths is in their windows
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
    on_frame: Callable[[int, int, str], None] | None = None,
    progress: Progress | None = None,
) -> DatasetReport:
    """Make the twin `name` in the folder `out`. Frames that are there, made with the same settings, are kept.

    `on_frame(index, count, folder)` is called before each frame, `progress` while it is rendered.
    """
    plan = twin(name, quick=quick, seed=seed)
    base = FrameSettings(RenderSettings(rays=rays, seed=seed, threads=threads), sensor or SensorSettings(seed=seed))
    root = _prepared(Path(out), plan)
    made: list[dict[str, Any]] = []
    entries = []
    for index, planned in enumerate(plan.frames):
        if on_frame is not None:
            on_frame(index, len(plan.frames), planned.folder)
        settings = _settings_of(base, planned, index)
        key = _key(plan, planned, settings)
        folder = root / planned.folder
        if _key_of(folder) != key:
            made.append(_make(plan, planned, settings, folder, key, progress))
        entries.append({"folder": planned.folder, "key": key, **planned.truth, "sha256": dict(_checksums(folder))})
        _write_manifest(root, plan, base, quick, entries, len(plan.frames))
    _join_boards(root, plan)
    totals = [sum(info[field] for info in made) for field in ("rays", "seconds", "cpu_seconds")]
    return DatasetReport(len(plan.frames), len(made), int(totals[0]), float(totals[1]), float(totals[2]))


def _prepared(root: Path, plan: Twin) -> Path:
    """The dataset's folder with its camera; a folder with another dataset in it is refused."""
    manifest = root / MANIFEST
    try:
        if root.is_dir() and any(root.iterdir()) and not manifest.is_file():
            raise InputError("is a folder with other things in it", file=root, fix="give a new or empty folder")
        if manifest.is_file() and json.loads(manifest.read_text()).get("dataset") != plan.name:
            raise InputError("holds another dataset", file=manifest, field="dataset", fix="give another folder")
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=root, fix="give a writable folder") from None
    except json.JSONDecodeError:
        raise InputError("is not valid JSON", file=manifest, fix="remove the folder and start again") from None
    save_camera(plan.camera, root / "camera.yaml")
    return root


def _settings_of(base: FrameSettings, planned: PlannedFrame, index: int) -> FrameSettings:
    """Each frame has noise of its own; the lenses' gains stay those of the camera."""
    sensor = replace(base.sensor, seed=base.sensor.seed + 1000 * (index + 1))
    tracing = replace(base.render, seed=base.render.seed + 1000 * (index + 1), f_number=planned.f_number)
    return FrameSettings(tracing, sensor)


def _key(plan: Twin, planned: PlannedFrame, settings: FrameSettings) -> str:
    """A fingerprint of all that a frame is made from, but not of how fast (threads)."""
    render = {**asdict(settings.render), "threads": None}
    beams = [_beams(plan), *STATIONS, FACED, *SCANNED] if planned.lidar else False
    facts = [
        __version__, plan.name, content_of_camera(plan.camera), planned.folder, beams, dict(planned.truth),
        render, asdict(settings.sensor),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _key_of(folder: Path) -> str | None:
    """The fingerprint of a frame that is there, None when it is missing or broken."""
    try:
        key = json.loads((folder / INFO).read_text()).get("key")
    except (OSError, ValueError):
        return None
    return key if isinstance(key, str) else None


def _make(
    plan: Twin, planned: PlannedFrame, settings: FrameSettings, folder: Path, key: str, progress: Progress | None
) -> dict[str, Any]:
    more = {"key": key, **planned.truth}
    if planned.scene is None:
        assert planned.f_number is not None
        return simulate_white(planned.f_number, plan.camera, folder, settings, more=more, progress=progress)
    scene: Scene = planned.scene()
    if planned.lidar:
        first, *others = stations(plan, settings.sensor.seed)
        settings = replace(settings, lidar=first, more_stations=tuple(others))
    return simulate_scene(scene, plan.camera, folder, settings, frame=planned.frame, more=more, progress=progress)


def stations(plan: Twin, seed: int) -> list[LidarSettings]:
    """The scanner to the left of the camera, to the right and above: hardly anything hides from all three.

    They are the same for all scenes of a dataset, so that one scene serves to find their poses.
    """
    seen = np.concatenate([view_corners(depth, plan.camera) for depth in SCANNED])
    poses = [upright_pose(place, view_center(FACED, plan.camera)) for place in STATIONS]
    return [
        settings_around(seen, _beams(plan), pose, range_sigma=LIDAR_SIGMA, seed=seed + index)
        for index, pose in enumerate(poses)
    ]


def _beams(plan: Twin) -> int:
    """Of the scanner."""
    sensor = plan.camera.sensor
    return max(LEAST_BEAMS, sensor.width * sensor.height // PIXELS_PER_BEAM)


def _checksums(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir()):
        if path.name != INFO:  # holds the time it took
            yield path.name, hashlib.sha256(path.read_bytes()).hexdigest()


def _write_manifest(
    root: Path, plan: Twin, base: FrameSettings, quick: bool, entries: list[dict[str, Any]], count: int
) -> None:
    content = {
        "dataset": plan.name,
        "plenodepth": __version__,
        "camera": plan.camera.name,
        "quick": quick,
        "rays": base.render.rays,
        "seed": base.render.seed,
        "complete": len(entries) == count,
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
    for group in {planned.folder.split("/")[0] for planned in plan.frames if "distance" in planned.truth}:
        lines = [
            f"{planned.frame} {planned.truth['distance']:g}\n"
            for planned in plan.frames
            if planned.folder.startswith(f"{group}/")
        ]
        with atomic_path(root / group / "distances.txt") as temporary:
            temporary.write_text("".join(lines))
