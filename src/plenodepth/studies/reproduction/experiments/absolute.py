"""Absolute depth of 3-D scenes (the paper's table 2): central sub-aperture depth maps against a scanner's cloud.

The scanner's pose comes from the targets of the first scene, found in its image and its scan. Reading and reference go
through the same four steps (`central_view`), but for one thing: where several points fall into a pixel, the reading has
their median, since the nearest of noisy depths is too near; the reference has the nearest one, as with the authors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from plenodepth.cache import cache_key
from plenodepth.calib.lidar.files import Targets, read_scan
from plenodepth.calib.lidar.scan_targets import find_lidar_targets
from plenodepth.calib.lidar.scanner import find_scanner
from plenodepth.camera.depth import scaled_for
from plenodepth.depth.filters import apply_filters
from plenodepth.evaluate.maps.differences import depth_differences
from plenodepth.geometry import Pose
from plenodepth.io import atomic_path
from plenodepth.io.clouds.any_format import read_cloud
from plenodepth.metric import point_cloud
from plenodepth.metric.central_view import central_depth
from plenodepth.studies.reproduction.datasets import Dataset, prepared
from plenodepth.studies.reproduction.frames import JUDGED, clean_frame, virtual_map
from plenodepth.studies.reproduction.methods import Method, sharing_maps, table_methods
from plenodepth.studies.reproduction.published import SCENES
from plenodepth.studies.reproduction.results import AbsoluteResult, ScannerPoseError, SceneDifferences
from plenodepth.studies.reproduction.scale_by_boards import scaled_camera
from plenodepth.studies.reproduction.sources import SceneFiles
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import Task

DATASET = "r12-elp20"
# mm, kept. The paper: up to 1500; the twins have a wall there, which the scanner sees through gaps that are none for
# the camera, so that it would stand in the place of what is in front of it.
NEAR, FAR = 400.0, 1450.0
BAD = (0.01, 0.02, 0.05)
Float32 = NDArray[np.float32]


def absolute_experiment(study: Study, methods: Sequence[Method] | None = None) -> AbsoluteResult:
    """Absolute differences, mm, of all scenes and methods; pictures go to `out/pictures`."""
    methods = table_methods() if methods is None else methods
    dataset = prepared(study, DATASET)
    pose, facts = scanner_pose(study, dataset)
    scenes: dict[str, dict[str, SceneDifferences]] = {}
    pictures: dict[str, dict[str, str]] = {}
    for scene in SCENES:
        files = dataset.source.scenes[scene]
        truth = _truth(dataset, files, pose)
        pictures[scene] = {"truth": _kept(study, f"{scene}-truth", truth)}
        scenes[scene] = {}
        for index, method in enumerate(methods):
            study.progress(index, len(methods), f"{scene}, {method.label}")
            found = central_map(study, dataset, files.image, method)
            scenes[scene][method.label] = _statistics(found, truth)
            pictures[scene][method.label] = _kept(study, f"{scene}-{method.label.replace('/', '')}", found)
    means = {
        method.label: float(np.mean([scenes[scene][method.label].median for scene in SCENES])) for method in methods
    }
    return AbsoluteResult(scenes, means, facts, pictures)


def absolute_tasks(study: Study) -> list[list[Task]]:
    """What can be done ahead, in phases: the scanner's pose and Γ, then maps by scene and settings."""
    methods = table_methods()
    # Γ of refined maps is that of coarse ones, and D has that of B.
    scaled = {method.scaled_as or method.settings: method for method in methods if method.scaling != "none"}
    own = [method for settings, method in scaled.items() if not settings.refined]
    return [
        [Task(_pose_ahead, ()), *(Task(_scale_ahead, (method,)) for method in own)],
        [Task(_maps_ahead, (scene, group)) for scene in SCENES for group in sharing_maps(methods)],
    ]


def _pose_ahead(study: Study) -> None:
    scanner_pose(study, prepared(study, DATASET))


def _scale_ahead(study: Study, method: Method) -> None:
    scaled_camera(study, prepared(study, DATASET), method)


def _maps_ahead(study: Study, scene: str, methods: Sequence[Method]) -> None:
    dataset = prepared(study, DATASET)
    for index, method in enumerate(methods):
        study.progress(index, len(methods), f"{scene}, {method.label}")
        central_map(study, dataset, dataset.source.scenes[scene].image, method)


def scanner_pose(study: Study, dataset: Dataset) -> tuple[Pose, ScannerPoseError]:
    """cam_from_lidar by the targets of the calibration scene; and how far off it is where the truth is known."""
    image, scan = dataset.source.scenes[SCENES[0]].image, dataset.source.scenes[SCENES[0]].cloud
    made_of = {"camera": dataset.camera, "files": cache_key({}, [image, scan])}

    def compute() -> dict[str, Any]:
        study.progress(0, 1, f"{dataset.name}: targets in the scan")
        found = find_lidar_targets(*read_scan(scan))
        names = tuple(f"target {number}" for number in range(len(found.points)))
        gray = clean_frame(image, dataset.camera, dataset.white).gray
        scanner = find_scanner(gray, Targets(found.points, names), found.sigma, dataset.camera, aperture=True)
        pose = scanner.pose.cam_from_lidar
        return {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()}

    record = study.kept(study.folder("calibration", dataset.name), "lidar", made_of, compute)
    pose = Pose(np.array(record["rotation"]), np.array(record["translation"]))
    return pose, _pose_error(pose, scan.parent / "cam_from_lidar.json")


def _pose_error(pose: Pose, truth: Path) -> ScannerPoseError:
    """How far a pose is off, mm and mrad; None where the truth is unknown."""
    if not truth.is_file():
        return ScannerPoseError(SCENES[0])
    content = json.loads(truth.read_text(encoding="utf-8"))
    rotation, translation = np.array(content["rotation"]), np.array(content["translation"])
    turned = Rotation.from_matrix(pose.rotation @ rotation.T).magnitude()
    return ScannerPoseError(SCENES[0], float(np.linalg.norm(pose.translation - translation)), 1000 * float(turned))


def central_map(study: Study, dataset: Dataset, path: Path, method: Method) -> Float32:
    """The central sub-aperture depth map of a frame, mm; kept."""
    camera = scaled_camera(study, dataset, method)
    made_of = {
        "camera": camera,
        "settings": method.settings,
        "filters": JUDGED,
        "range": (NEAR, FAR),
    }
    work, name = study.work(study.folder("central")), f"{cache_key(made_of, [path, dataset.white])[:20]}.npz"
    kept = work / name
    if work.has(name):
        with np.load(kept) as content:
            return np.asarray(content["depth"])
    found = apply_filters(virtual_map(study, dataset, path, method), camera, JUDGED)
    cloud = point_cloud(found, scaled_for(camera, found.aperture_model), None, every_pixel=not found.refined)
    depth = central_depth(_within(cloud.points), camera, rule="median")
    with atomic_path(kept) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, depth=depth)
    return depth


def _truth(dataset: Dataset, files: SceneFiles, pose: Pose) -> Float32:
    return central_depth(_within(pose(read_cloud(files.cloud).points)), dataset.camera)


def _within(points: NDArray[np.float64]) -> NDArray[np.float64]:
    depth = points[:, 2]
    return points[(depth > NEAR) & (depth < FAR)]


def _statistics(found: Float32, truth: Float32) -> SceneDifferences:
    result = depth_differences(found, truth, bad_parts=BAD)
    return SceneDifferences(
        q25=result.q25,
        median=result.median,
        q75=result.q75,
        mean=result.mean,
        rmse=result.rmse,
        bias=result.bias,
        bad={f"{100 * part:g} %": result.bad_parts[part] for part in BAD},
        completeness=100 * result.completeness,
        common=result.common,
    )


def _kept(study: Study, name: str, depth: Float32) -> str:
    """A map for the report, as a path relative to `out`."""
    path = study.out / "pictures" / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, depth=depth)
    return str(path.relative_to(study.out))
