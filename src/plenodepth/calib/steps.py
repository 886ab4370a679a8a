"""The steps of a calibration on files: white images, then features, then the adjustment. Each is skipped if up to date.

Everything goes to one work folder: `start.yaml` and `centers.csv` (white), `features.csv` (features), `camera.yaml` and
`poses.js` (adjust), and a record of each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.bundle.adjust import Adjustment, adjust
from plenodepth.calib.bundle.pose_files import write_board_poses
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.uncertainty import Uncertainty, uncertainty
from plenodepth.calib.corners.find_features import find_features
from plenodepth.calib.feature_files import read_centers, read_features, write_centers, write_features
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.image_list import ListedImage
from plenodepth.calib.whites.initial_camera import Optics
from plenodepth.calib.whites.precalibration import precalibrate
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera import PlenopticCamera, calibrate_inverse_distortion, load_plenoptic_camera, save_camera
from plenodepth.camera.model import Provenance
from plenodepth.errors import InputError
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import load_raw

RADII_ARRAYS = ("f_numbers", "aperture", "intercepts", "intercept_errors")
RADII_NUMBERS = ("slope", "slope_error", "rms")
START, CENTERS, FEATURES, CAMERA, POSES = "start.yaml", "centers.csv", "features.csv", "camera.yaml", "poses.js"
WHITE_RECORD, FEATURES_RECORD = "white.json", "features.json"


@dataclass(frozen=True, eq=False)
class WhiteStep:
    """What the white images gave: a camera to start from, and the centres."""

    camera: PlenopticCamera
    centers: Centers
    record: dict[str, Any]
    fresh: bool  # made now

    @property
    def radii(self) -> WhiteRadii | None:
        """Of the micro-images in the white images, if there were any."""
        content = self.record.get("radii")
        if content is None:
            return None
        parts: dict[str, Any] = {name: np.array(content[name], dtype=np.float64) for name in RADII_ARRAYS}
        parts |= {name: _number(content[name]) for name in RADII_NUMBERS}
        parts |= {"type_pattern": np.array(content["type_pattern"], dtype=np.int64), "notes": tuple(content["notes"])}
        return WhiteRadii(**parts)


@dataclass(frozen=True)
class GridOptions:
    """What the user knows of the array; None is found."""

    columns: int | None = None
    rows: int | None = None
    shifted_parity: int | None = None
    type_count: int | None = 3


def white_step(
    work: WorkFolder,
    optics: Optics,
    whites: Sequence[ListedImage],
    fallback: Path | None,
    grid: GridOptions,
    progress: Progress = no_progress,
) -> WhiteStep:
    """Grid, centres, radii and the camera that the adjustment starts from; without white images from `fallback`."""
    files = [image.path for image in whites] or ([fallback] if fallback else [])
    if not files:
        raise InputError("are missing, and there is no other image", field="--whites", fix="give white images")
    settings = {"optics": optics, "grid": grid, "f_numbers": [image.f_number for image in whites]}
    key = cache_key(settings, files)
    known = work.kept(WHITE_RECORD, key)
    fresh = known is None
    if known is None:
        progress(0, 1, "white images")
        pictures = [_light(path, optics) for path in files]
        found = precalibrate(
            optics,
            pictures if whites else [],
            [image.f_number for image in whites],
            image=None if whites else pictures[0],
            columns=grid.columns,
            rows=grid.rows,
            shifted_parity=grid.shifted_parity,
            type_count=grid.type_count,
            names=[str(path) for path in files] if whites else None,
        )
        save_camera(found.camera, work / START)
        write_centers(found.centers, work / CENTERS)
        content: dict[str, Any] = {
            "notes": list(found.notes),
            "images": {str(path): file_hash(path) for path in files},
            "pitch_px": found.camera.micro_images.lattice.pitch.tolist(),
            "lenses": [found.camera.micro_images.lattice.columns, found.camera.micro_images.lattice.rows],
        }
        if found.radii is not None:
            content["radii"] = _plain(found.radii)
        known = work.keep(WHITE_RECORD, key, [START, CENTERS], content)
    # As written, so that what follows is the same to the last digit whether this was done now or before.
    return WhiteStep(load_plenoptic_camera(work / START), read_centers(work / CENTERS), known, fresh)


@dataclass(frozen=True, eq=False)
class FeaturesStep:
    """The features of all frames."""

    features: Features
    record: dict[str, Any]
    fresh: bool


def features_step(
    boards: Sequence[ListedImage],
    white: Path | None,
    board: Board,
    camera: PlenopticCamera,
    work: WorkFolder,
    threads: int = 1,
    progress: Progress = no_progress,
) -> FeaturesStep:
    """Corners of the board in all frames."""
    files = [image.path for image in boards] + ([white] if white else [])
    settings = {"board": board, "frames": [image.frame for image in boards], "camera": camera}
    key = cache_key(settings, files)
    known = work.kept(FEATURES_RECORD, key)
    if known is not None:
        return FeaturesStep(read_features(work / FEATURES), known, False)
    done = 0

    def one(image: ListedImage) -> tuple[Features, tuple[str, ...]]:
        nonlocal done
        clean = load_raw(image.path, camera, white=white)
        try:
            found = find_features(clean.gray, camera.micro_images, board, camera=camera, frame=image.frame)
        except InputError as error:
            raise error.in_file(image.path) from None
        done += 1
        progress(done, len(boards), image.path.parent.name if image.path.stem == "raw" else image.path.name)
        return found.features, found.notes

    progress(0, len(boards), "features")
    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(one, boards))
    features = Features.joined([found for found, _ in results])
    if not len(features):
        raise InputError("show no board", field="--boards", fix="check --board, and that the boards are in focus")
    write_features(features, work / FEATURES)
    content = {
        "notes": [note for _, notes in results for note in notes],
        "images": {str(path): file_hash(path) for path in files},
        "features": {str(image.frame): len(found) for image, (found, _) in zip(boards, results, strict=True)},
    }
    known = work.keep(FEATURES_RECORD, key, [FEATURES], content)
    return FeaturesStep(read_features(work / FEATURES), known, True)


@dataclass(frozen=True, eq=False)
class AdjustStep:
    """The calibrated camera and how well it is known."""

    camera: PlenopticCamera
    adjustment: Adjustment
    known: Uncertainty


def adjust_step(
    features: Features,
    centers: Centers | None,
    board: Board,
    start: PlenopticCamera,
    work: WorkFolder,
    settings: AdjustSettings,
    progress: Progress = no_progress,
    name: str = "calibrated",
) -> AdjustStep:
    """Bundle adjustment, uncertainty and inverse distortion; writes the camera, of that name, and the boards' poses."""
    adjustment = adjust(
        features, centers, board, replace(start, name=name), settings, report=lambda what: progress(0, 1, what)
    )
    known = uncertainty(adjustment.problem, adjustment.estimate, adjustment.considered)
    try:
        inverse, notes = calibrate_inverse_distortion(adjustment.camera).distortion, adjustment.notes
    except InputError:
        inverse = None
        notes = (*adjustment.notes, "the distortion found has no inverse over the image: check the board's size")
    camera = replace(
        adjustment.camera,
        inverse_distortion=inverse,
        provenance=Provenance(
            source="plenodepth calibrate",
            notes=notes,
            residuals=_residuals(adjustment),
            covariance_parameters=known.names,
            covariance=(known.covariance + known.covariance.T) / 2 if known.names else None,
        ),
    )
    save_camera(camera, work / CAMERA)
    write_board_poses(adjustment.estimate.poses, work / POSES)
    return AdjustStep(camera, adjustment, known)


def _plain(radii: WhiteRadii) -> dict[str, Any]:
    """Radii as JSON has them; numbers that are not known are null."""
    return {
        **{name: [_known(value) for value in getattr(radii, name)] for name in RADII_ARRAYS},
        **{name: _known(getattr(radii, name)) for name in RADII_NUMBERS},
        "type_pattern": radii.type_pattern.tolist(),
        "notes": list(radii.notes),
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _residuals(adjustment: Adjustment) -> dict[str, float]:
    values = {
        "rmse_uv": adjustment.rmse_uv,
        "rmse_rho": adjustment.rmse_rho,
        "rmse_centers": adjustment.rmse_centers,
    }
    return {name: value for name, value in values.items() if np.isfinite(value)}


def _light(path: Path, optics: Optics) -> NDArray[Any]:
    """A raw image without its black level."""
    image = read_image(path)
    if not optics.black_level or image.dtype.kind == "f":
        return image
    black = optics.black_level * np.iinfo(image.dtype).max
    light: NDArray[Any] = np.maximum(image.astype(np.float32) - np.float32(black), 0)
    return light
