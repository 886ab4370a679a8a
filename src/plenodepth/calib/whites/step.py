"""The step of a calibration that measures white images: grid, centres, radii, and the camera to start from.

The work folder gets `start.yaml`, `centers.csv` and the record `white.json`. The step is skipped if it is up to date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.feature_files import read_centers, write_centers
from plenodepth.calib.features import Centers
from plenodepth.calib.image_list import ListedImage, ReadImage
from plenodepth.calib.records import finite, keep_record, kept_record
from plenodepth.calib.whites.cats_eye import CatsEye, fit_cats_eye
from plenodepth.calib.whites.precalibration import precalibrate
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera, save_camera
from plenodepth.errors import InputError
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress
from plenodepth.raw.periodicity import light_of

START, CENTERS, RECORD = "start.yaml", "centers.csv", "white.json"


@dataclass(frozen=True)
class GridOptions:
    """What the user knows of the lens array; None is found in the image."""

    columns: int | None = None
    rows: int | None = None
    shifted_parity: int | None = None  # which rows (columns) are shifted by half a pitch: 0 even, 1 odd ones
    type_count: int | None = 3  # lens types; 0: pinholes


FIND_GRID = GridOptions()


@dataclass(frozen=True)
class RadiiRecord:
    """`WhiteRadii` as JSON has them: None for what is not known."""

    f_numbers: tuple[float | None, ...]
    aperture: tuple[float | None, ...]
    intercepts: tuple[float | None, ...]
    intercept_errors: tuple[float | None, ...]
    slope: float | None
    slope_error: float | None
    rms: float | None
    type_pattern: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, radii: WhiteRadii) -> RadiiRecord:
        """The record of measured radii."""
        return cls(
            f_numbers=tuple(map(finite, radii.f_numbers)),
            aperture=tuple(map(finite, radii.aperture)),
            intercepts=tuple(map(finite, radii.intercepts)),
            intercept_errors=tuple(map(finite, radii.intercept_errors)),
            slope=finite(radii.slope),
            slope_error=finite(radii.slope_error),
            rms=finite(radii.rms),
            type_pattern=tuple(tuple(row) for row in radii.type_pattern.tolist()),
            notes=radii.notes,
        )

    def radii(self) -> WhiteRadii:
        """The radii of the record."""
        return WhiteRadii(
            f_numbers=np.array(self.f_numbers, dtype=np.float64),
            aperture=np.array(self.aperture, dtype=np.float64),
            intercepts=np.array(self.intercepts, dtype=np.float64),
            intercept_errors=np.array(self.intercept_errors, dtype=np.float64),
            slope=_or_nan(self.slope),
            slope_error=_or_nan(self.slope_error),
            type_pattern=np.array(self.type_pattern, dtype=np.int64),
            rms=_or_nan(self.rms),
            notes=self.notes,
        )


@dataclass(frozen=True)
class WhiteRecord:
    """What the step found, besides camera and centres."""

    notes: tuple[str, ...]
    images: dict[str, str]  # path: SHA-256
    pitch_px: tuple[float, float]
    lenses: tuple[int, int]  # columns, rows
    radii: RadiiRecord | None
    cats_eye: CatsEye | None = None  # mechanical vignetting; None where nothing could be told


@dataclass(frozen=True, eq=False)
class WhiteStep:
    """What the white images gave: a camera to start from, and the centres."""

    camera: PlenopticCamera
    centers: Centers
    record: WhiteRecord
    fresh: bool  # made now, not by an earlier run

    @property
    def radii(self) -> WhiteRadii | None:
        """Radii of the micro-images; None without white images."""
        return None if self.record.radii is None else self.record.radii.radii()


def white_step(
    whites: Sequence[ListedImage],
    optics: Optics,
    work: WorkFolder,
    *,
    fallback: Path | None = None,
    grid: GridOptions = FIND_GRID,
    threads: int = 1,
    progress: Progress = no_progress,
    read: ReadImage = read_image,
) -> WhiteStep:
    """Grid, centres, radii and the camera that the adjustment starts from.

    Without white images the grid comes from `fallback`, any raw image of the camera.
    """
    files = [image.path for image in whites] or ([fallback] if fallback else [])
    if not files:
        raise InputError("are missing, and there is no other image", field="whites", fix="give white images")
    f_numbers = [image.f_number for image in whites]
    key = cache_key({"optics": optics, "grid": grid, "f_numbers": f_numbers}, files)
    record = kept_record(WhiteRecord, work, RECORD, key)
    fresh = record is None
    if record is None:
        progress(0, 1, "white images")
        with ThreadPoolExecutor(threads) as pool:
            pictures = list(pool.map(lambda path: _light(read(path), optics), files))
        found = precalibrate(
            pictures if whites else [],
            f_numbers,
            optics,
            image=None if whites else pictures[0],
            columns=grid.columns,
            rows=grid.rows,
            shifted_parity=grid.shifted_parity,
            type_count=grid.type_count,
            names=[str(path) for path in files] if whites else None,
            threads=threads,
        )
        save_camera(found.camera, work / START)
        write_centers(found.centers, work / CENTERS)
        lattice = found.camera.micro_images.lattice
        cats_eye = _cats_eye(dict(zip(f_numbers, pictures, strict=True)) if whites else {}, found.camera)
        record = WhiteRecord(
            notes=(*found.notes, *([str(cats_eye)] if cats_eye is not None and cats_eye.shows else [])),
            images={str(path): file_hash(path) for path in files},
            pitch_px=(float(lattice.pitch[0]), float(lattice.pitch[1])),
            lenses=(lattice.columns, lattice.rows),
            radii=None if found.radii is None else RadiiRecord.of(found.radii),
            cats_eye=cats_eye,
        )
        keep_record(record, work, RECORD, key, [START, CENTERS])
    # As written, so that what follows is the same to the last digit whether this was done now or before.
    return WhiteStep(load_plenoptic_camera(work / START), read_centers(work / CENTERS), record, fresh)


def _cats_eye(whites: Mapping[float | None, NDArray[Any]], camera: PlenopticCamera) -> CatsEye | None:
    """Mechanical vignetting by the widest and the narrowest aperture; None where they cannot tell."""
    numbers = sorted(number for number in whites if number is not None)
    if not numbers or not camera.type_count:
        return None
    try:
        return fit_cats_eye({number: light_of(whites[number]) for number in (numbers[0], numbers[-1])}, camera)
    except InputError:
        return None


def _light(image: NDArray[Any], optics: Optics) -> NDArray[Any]:
    """A raw image without its black level."""
    if not optics.black_level or image.dtype.kind == "f":
        return image
    black = optics.black_level * np.iinfo(image.dtype).max
    light: NDArray[Any] = np.maximum(image.astype(np.float32) - np.float32(black), 0)
    return light


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
