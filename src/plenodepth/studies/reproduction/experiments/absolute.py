"""Absolute depth of 3-D scenes (the paper's table 2): central sub-aperture depth maps against a scanner's cloud.

The scanner's pose comes from the targets of the first scene, found in its image and its scan. Reading and reference go
through the same four steps (`central_view`), but for one thing: where several points fall into a pixel, the reading has
their median, since the nearest of noisy depths is too near; the reference has the nearest one, as with the authors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from plenodepth.cache import cache_key
from plenodepth.calib.lidar.files import Targets, read_scan
from plenodepth.calib.lidar.scan_targets import find_lidar_targets
from plenodepth.calib.lidar.scanner import find_scanner
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.depth import scaled_for
from plenodepth.depth.filters import apply_filters
from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar
from plenodepth.evaluate.maps.differences import depth_differences
from plenodepth.geometry import Pose
from plenodepth.io.clouds.any_format import read_cloud
from plenodepth.metric import point_cloud
from plenodepth.metric.central_view import central_depth
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.depth_scale import ScaleFit, camera_with_scale, scale_job
from plenodepth.studies.reproduction.frames import JUDGED, clean_frame, load_map, map_job, save_arrays
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import Method, table_methods
from plenodepth.studies.reproduction.published import SCENES
from plenodepth.studies.reproduction.results import AbsoluteResult, ScannerPoseError, SceneDifferences
from plenodepth.studies.reproduction.sources import SceneFiles
from plenodepth.studies.reproduction.study import Study

DATASET = "r12-elp20"
STAGE = "absolute"
# mm, kept. The paper: up to 1500; the twins have a wall there, which the scanner sees through gaps that are none for
# the camera, so that it would stand in the place of what is in front of it.
NEAR, FAR = 400.0, 1450.0
BAD = (0.01, 0.02, 0.05)  # of the true depth
PICTURES = "pictures"
TRUTH = "truth"
Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class JudgedScannerPose:
    """The pose found for the scanner, and how far off it is where the truth is known."""

    cam_from_lidar: Pose
    error: ScannerPoseError


@dataclass(frozen=True)
class JudgedScene:
    """One method on one scene: differences from the scanner's map, and the file of the central map."""

    differences: SceneDifferences
    picture: Path


def plan_absolute(study: Study, datasets: Mapping[str, Dataset]) -> Job[AbsoluteResult]:
    """Absolute differences, mm, of all scenes and methods; central maps go to `out/pictures`."""
    dataset = datasets[DATASET]
    calibration = dataset.source.scenes[SCENES[0]]
    pose = Job(judge_scanner_pose, (dataset, calibration), STAGE, f"{dataset.name}, pose of the scanner")
    truths, judged = [], []
    for scene in SCENES:
        files = dataset.source.scenes[scene]
        truth = Job(save_true_map, (scene, files, dataset.camera, pose), STAGE, f"{scene}, scan")
        truths.append((scene, truth))
        for method in table_methods():
            depth_map = map_job(dataset, files.image, method.settings, STAGE, camera=method.camera, dense=method.dense)
            fit = scale_job(dataset, method, STAGE)
            arguments = (dataset, scene, method, fit, depth_map, truth)
            judged.append((scene, method.label, Job(judge_scene, arguments, STAGE, f"{scene}, {method.label}")))
    return Job(_collect, (pose, tuple(truths), tuple(judged)), STAGE, weight=0, in_caller=True)


def judge_scanner_pose(study: Study, dataset: Dataset, files: SceneFiles) -> JudgedScannerPose:
    """The scanner's pose by the targets of a scene, in its image and its scan."""
    key = cache_key({"camera": dataset.camera}, [files.image, dataset.white, files.cloud])
    work, name = study.work_folder("calibration", dataset.name), "lidar.json"
    record = work.kept(name, key)
    if record is None:
        study.progress(0, 1, "targets in the scan")
        found = find_lidar_targets(*read_scan(files.cloud))
        names = tuple(f"target {number}" for number in range(len(found.points)))
        gray = clean_frame(files.image, dataset.white, dataset.camera).gray
        scanner = find_scanner(gray, Targets(found.points, names), found.sigma, dataset.camera, aperture=True)
        pose = scanner.pose.cam_from_lidar
        content = {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()}
        record = work.keep(name, key, [], content)
    pose = Pose(np.array(record["rotation"]), np.array(record["translation"]))
    return JudgedScannerPose(pose, _pose_error(pose, files.cloud.with_name("cam_from_lidar.json")))


def _pose_error(pose: Pose, truth: Path) -> ScannerPoseError:
    if not truth.is_file():
        return ScannerPoseError(SCENES[0])
    true = read_cam_from_lidar(truth)
    turned = float(Rotation.from_matrix(pose.rotation @ true.rotation.T).magnitude())
    return ScannerPoseError(SCENES[0], float(np.linalg.norm(pose.translation - true.translation)), 1000 * turned)


def save_true_map(
    study: Study, scene: str, files: SceneFiles, camera: PlenopticCamera, pose: JudgedScannerPose
) -> Path:
    """The central depth map of the scanner's cloud, as a file for the report."""
    points = pose.cam_from_lidar(read_cloud(files.cloud).points)
    return _save_picture(study, scene, TRUTH, central_depth(_within(points), camera))


def judge_scene(
    study: Study, dataset: Dataset, scene: str, method: Method, fit: ScaleFit | None, depth_map: Path, truth: Path
) -> JudgedScene:
    """The central map of a method against the scanner's."""
    found = _central_map(study, depth_map, camera_with_scale(dataset, method, fit))
    result = depth_differences(found, load_depth(truth), bad_parts=BAD)
    differences = SceneDifferences(
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
    return JudgedScene(differences, _save_picture(study, scene, method.label, found))


def _central_map(study: Study, depth_map: Path, camera: PlenopticCamera) -> Float32:
    """The central sub-aperture depth map (h, w) of a frame, mm; kept."""
    key = cache_key({"map": depth_map.name, "camera": camera, "filters": JUDGED, "range": (NEAR, FAR)})
    work, name = study.work_folder("central"), f"{key[:20]}.npz"
    if not work.has(name):
        found = apply_filters(load_map(depth_map), camera, JUDGED)
        cloud = point_cloud(found, scaled_for(camera, found.aperture_model), None, every_pixel=not found.refined)
        save_arrays(work / name, depth=central_depth(_within(cloud.points), camera, rule="median"))
    return load_depth(work / name)


def _within(points: NDArray[Any]) -> NDArray[Any]:
    depth = points[:, 2]
    return points[(depth > NEAR) & (depth < FAR)]


def _save_picture(study: Study, scene: str, label: str, depth: Float32) -> Path:
    path = study.out / PICTURES / f"{scene}-{label.replace('/', '')}.npz"
    save_arrays(path, depth=depth)
    return path


def load_depth(path: Path) -> Float32:
    """The depth map (h, w) in a file of this experiment, mm."""
    with np.load(path) as content:
        return np.asarray(content["depth"])


def _collect(
    study: Study,
    pose: JudgedScannerPose,
    truths: tuple[tuple[str, Path], ...],
    judged: tuple[tuple[str, str, JudgedScene], ...],
) -> AbsoluteResult:
    scenes: dict[str, dict[str, SceneDifferences]] = {}
    pictures = {scene: {TRUTH: _relative_path(study, path)} for scene, path in truths}
    for scene, label, found in judged:
        scenes.setdefault(scene, {})[label] = found.differences
        pictures[scene][label] = _relative_path(study, found.picture)
    labels = dict.fromkeys(label for _, label, _ in judged)
    means = {label: float(np.mean([scenes[scene][label].median for scene in scenes])) for label in labels}
    return AbsoluteResult(scenes, means, pose.error, pictures)


def _relative_path(study: Study, path: Path) -> str:
    return str(path.relative_to(study.out))
