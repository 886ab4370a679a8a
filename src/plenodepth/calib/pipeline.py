"""The calibration: white images and boards in, a camera with uncertainties and advice out.

Steps, each in its room: `whites.step` (grid, centres, radii, a camera to start from), `corners.step` (features),
`bundle.step` (adjustment), `blur.step` (κ). Results of steps are kept in the work folder and used again as long as
they are up to date.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from plenodepth.blas import single_blas_thread
from plenodepth.cache import WorkFolder
from plenodepth.calib.advice.rules import Advice
from plenodepth.calib.advice.summary import CalibrationRun, CalibrationSummary, HoldOut, KappaSummary, input_file
from plenodepth.calib.blur.step import KappaRecord, kappa_step
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty
from plenodepth.calib.bundle.poses import write_board_poses
from plenodepth.calib.bundle.settings import FOCAL, AdjustSettings, free_parameters
from plenodepth.calib.bundle.step import CAMERA, POSES, AdjustStep, adjust_step
from plenodepth.calib.corners.step import FEATURES, FeaturesStep, features_step
from plenodepth.calib.feature_files import write_centers, write_features
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.image_list import ImageReader, ListedImage, ReadImage, images_of, white_at_aperture
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.calib.whites.step import CENTERS, FIND_GRID, START, GridOptions, WhiteStep, white_step
from plenodepth.calib.whites.white_boards import said_of_white_boards
from plenodepth.camera import PlenopticCamera, intrinsic_names, save_camera
from plenodepth.errors import InputError
from plenodepth.io import atomic_path
from plenodepth.io.atomic import made_folder
from plenodepth.progress import Progress, no_progress
from plenodepth.threads import thread_count

SUMMARY = "summary.json"
# Of a board. From one, F comes out up to 10 % off (simulated corners, F left to the data), from two 0.6 %; from three
# on, a nominal F that is 1.4 % off is put right to within about the stated σ.
LEAST_VIEWS = 3
Images = Path | str | Sequence[ListedImage | Path | str]  # a folder, or files

ADJUST_ALL = AdjustSettings(aperture=True)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibrated camera, how well it is known, what it was made from, and what would make it better."""

    camera: PlenopticCamera  # with the covariance of its parameters (`camera.provenance`), and κ where it was found
    run: CalibrationRun  # adjustment, settings, board, uncertainty and notes, from which summary and advice follow
    features: Features  # corners of the boards
    centers: Centers | None  # of the micro-images in white images
    kappa: KappaRecord | None = None
    made_now: Mapping[str, bool] | None = None  # by step: False where an earlier result was up to date

    @property
    def adjustment(self) -> Adjustment:
        """The bundle adjustment: poses of the boards and residuals."""
        return self.run.adjustment

    @property
    def uncertainty(self) -> Uncertainty | None:
        """Covariance of the parameters, and what follows from it."""
        return self.run.uncertainty

    @property
    def start(self) -> PlenopticCamera | None:
        """The camera that the adjustment started from."""
        return self.run.start

    @property
    def radii(self) -> WhiteRadii | None:
        """Radii of the micro-images in the white images; None without any."""
        return self.run.radii

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say about the steps."""
        return self.run.all_notes

    @property
    def summary(self) -> CalibrationSummary:
        """The calibration in numbers."""
        return self.run.summary

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What is weak about the calibration and what to do about it, the most important first."""
        return self.run.advice

    def save(self, folder: Path | str) -> None:
        """Write camera.yaml, start.yaml, features.csv, centers.csv, poses.js and summary.json."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save_camera(self.camera, path / CAMERA)
        write_features(self.features, path / FEATURES)
        write_board_poses(self.adjustment.estimate.poses, path / POSES)
        if self.start is not None:
            save_camera(self.start, path / START)
        if self.centers is not None:
            write_centers(self.centers, path / CENTERS)
        with atomic_path(path / SUMMARY) as temporary:
            text = json.dumps(self.summary.to_json(), indent=1, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")


@single_blas_thread()
def calibrate(
    boards: Images,
    board: Board | str,
    optics: Optics,
    *,
    whites: Images | None = None,
    work: Path | str | None = None,
    grid: GridOptions = FIND_GRID,
    settings: AdjustSettings = ADJUST_ALL,
    kappa: bool = True,
    fresh: bool = False,
    threads: int | None = None,
    name: str = "calibrated",
    progress: Progress = no_progress,
    on_step: Callable[[WhiteStep | FeaturesStep], None] = lambda step: None,
    read: ReadImage | None = None,
) -> Calibration:
    """Calibrate a camera by images of a checkerboard and white images.

    boards, whites: folders, or lists of files. f-numbers and frames come from a manifest or from the files' names.
    board: the checkerboard, as a `Board` or as text: "9x5:10mm".
    optics: what is printed on the camera and its lens, with the f-number of the board images.
    work: folder that keeps the results of steps; without one everything is done anew.
    grid: what is known of the lens array.
    settings: what is adjusted. For an array of pinholes blur and aperture are left out.
    kappa: find the blur coefficient κ as well.
    fresh: use no result of an earlier run.
    threads: by default one for each core.
    on_step: called when white images or features are done, as to draw a figure of them.
    read: reads image files; by default an `ImageReader`, which reads each file once.

    >>> optics = plenodepth.Optics(50, 4, 450, 0.0055, 560, 404)  # F, f-number, focus, pixel (mm), width, height (px)
    >>> calibration = plenodepth.calibrate("boards", "5x4:2.5mm", optics, whites=["white.png"])
    >>> calibration.summary.rmse_uv < 0.3, len(calibration.camera.provenance.covariance_parameters) > 10
    (True, True)
    >>> calibration.save("calibration")
    """
    kind = Board.from_text(board) if isinstance(board, str) else board
    pictures, white_images = images_of(boards), [] if whites is None else images_of(whites)
    if not pictures:
        raise InputError("are missing", field="boards", fix="give images of a checkerboard")
    workers, reader = thread_count(threads), ImageReader() if read is None else read
    white = white_at_aperture(white_images, optics.f_number)
    with _work_folder(work, fresh) as folder:
        first = white_step(
            white_images,
            optics,
            folder,
            fallback=pictures[0].path,
            grid=grid,
            threads=workers,
            progress=progress,
            read=reader,
        )
        on_step(first)
        chosen = _for_lens_types(settings, first.camera)
        free_parameters(first.camera, chosen)  # an error in the settings shows before the search for features
        with said_of_white_boards(pictures, reader):
            second = features_step(
                pictures, kind, first.camera, folder, white=white, threads=workers, progress=progress, read=reader
            )
        on_step(second)
        _require_views(second.features, first.camera, chosen, "boards")
        third = adjust_step(
            second.features, first.centers, kind, first.camera, folder, settings=chosen, name=name, progress=progress
        )
        notes = [*first.record.notes, *second.record.notes, *_white_notes(white_images, white, optics.f_number)]
        camera, found, made_now = third.camera, None, {"white": first.fresh, "features": second.fresh}
        if kappa and camera.type_count > 1:  # κ compares the blur of lens types
            try:
                fourth = kappa_step(
                    pictures,
                    second.features,
                    camera,
                    folder,
                    white=white,
                    threads=workers,
                    progress=progress,
                    read=reader,
                )
            except InputError as error:  # no reason to lose the camera
                notes.append(f"no blur coefficient κ: {error}")
            else:
                camera, found, made_now["kappa"] = fourth.camera, fourth.record, fourth.fresh
                notes += found.notes
    inputs = [image.path for image in [*(white_images or pictures[:1]), *pictures]] + ([white] if white else [])
    run = CalibrationRun(
        adjustment=third.adjustment,
        settings=chosen,
        board=kind,
        uncertainty=third.uncertainty,
        start=first.camera,
        radii=first.radii,
        inputs=tuple(input_file(path) for path in dict.fromkeys(inputs)),
        notes=tuple(notes),
        kappa=None if found is None else KappaSummary(found.kappa, found.standard_error, found.pairs, found.outliers),
        optics=third.optics,
        cats_eye=first.record.cats_eye,
    )
    return Calibration(camera, run, second.features, first.centers, found, made_now)


@single_blas_thread()
def calibrate_from_features(
    features: Features,
    centers: Centers | None,
    board: Board | str,
    start: PlenopticCamera,
    *,
    settings: AdjustSettings = ADJUST_ALL,
    hold_out: int | None = None,
    work: Path | str | None = None,
    inputs: Sequence[Path] = (),
    name: str = "calibrated",
    progress: Progress = no_progress,
) -> Calibration:
    """Calibrate a camera by features and centres that were found before, beginning with the camera `start`.

    hold_out: leave out every so-many-th frame, and test the camera with it.
    inputs: files that the features and centres come from, for the summary.
    """
    kind = Board.from_text(board) if isinstance(board, str) else board
    chosen = _for_lens_types(settings, start)
    used, left_out = _split(features, hold_out)
    _require_views(used, start, chosen, "features")
    with _work_folder(work, fresh=False) as folder:
        step = adjust_step(used, centers, kind, start, folder, settings=chosen, name=name, progress=progress)
    run = CalibrationRun(
        adjustment=step.adjustment,
        settings=chosen,
        board=kind,
        uncertainty=step.uncertainty,
        start=start,
        inputs=tuple(input_file(path) for path in inputs),
        hold_out=None if left_out is None else _residuals_of(left_out, kind, step, chosen),
        optics=step.optics,
    )
    return Calibration(step.camera, run, features, centers)


@contextmanager
def _work_folder(work: Path | str | None, fresh: bool) -> Iterator[WorkFolder]:
    """The folder, made if it is not there; without one a temporary folder."""
    if work is None:
        with TemporaryDirectory(prefix="plenodepth-") as temporary:
            yield WorkFolder(Path(temporary))
        return
    with made_folder(work) as path:
        yield WorkFolder.fresh(path) if fresh else WorkFolder(path)


def _require_views(features: Features, camera: PlenopticCamera, settings: AdjustSettings, field: str) -> None:
    """Refuse too few views of boards to tell F from D and from the boards' distances, unless F is held."""
    views = len(np.unique(np.stack([features.frame, features.board]), axis=1).T)
    if views < LEAST_VIEWS and FOCAL in free_parameters(camera, settings):
        raise InputError(
            f"show {views} view{'' if views == 1 else 's'} of a board: fewer than {LEAST_VIEWS} do not tell F, D and "
            "the boards' distances apart",
            field=field,
            fix="take 10 to 20 frames, near and far, or --hold F",
        )


def _for_lens_types(settings: AdjustSettings, camera: PlenopticCamera) -> AdjustSettings:
    """The settings, without blur and aperture for an array of pinholes."""
    return settings if camera.type_count else replace(settings, aperture=False, use_rho=False)


def _white_notes(whites: Sequence[ListedImage], chosen: Path | None, f_number: float) -> list[str]:
    if not whites:
        return ["no white image: the grid comes from a board image, and images are devignetted by themselves"]
    if chosen is None:
        return [f"no white image at f/{f_number:g}: board images are devignetted by the model or by themselves"]
    return []


def _split(features: Features, every: int | None) -> tuple[Features, Features | None]:
    """Features to adjust to, and those of every so-many-th frame to test with."""
    if every is None:
        return features, None
    if every < 2:
        raise InputError(f"is {every}, needs 2 or more", field="hold_out")
    out = np.isin(features.frame, features.frames[every - 1 :: every])
    return features.where(~out), features.where(out)


def _residuals_of(features: Features, board: Board, step: AdjustStep, settings: AdjustSettings) -> HoldOut:
    """Residuals of frames that took no part, after finding their poses alone."""
    poses_only = replace(settings, hold=intrinsic_names(step.camera), priors={})
    tested = adjust(features, None, board, step.adjustment.camera, poses_only)
    return HoldOut(len(tested.estimate.poses), tested.rmse_uv, tested.rmse_rho)
