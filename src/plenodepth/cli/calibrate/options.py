"""Options that the commands of a calibration share, and what is read and checked by them before the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plenodepth.cache import WorkFolder
from plenodepth.camera import load_plenoptic_camera
from plenodepth.camera.files.any_format import NATIVE_SUFFIXES
from plenodepth.cli.shared.quantities import parameter_name, parse_counts, parse_priors
from plenodepth.errors import InputError
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plenodepth.calib.bundle.settings import AdjustSettings
    from plenodepth.calib.features import Features
    from plenodepth.calib.whites.start_camera import Optics
    from plenodepth.calib.whites.step import GridOptions
    from plenodepth.camera import PlenopticCamera


@dataclass(frozen=True)
class OpticsOptions:
    """What is printed on the camera and its lens."""

    sensor: Annotated[str, typer.Option("--sensor", help="Pixel size, as in 5.5um.")]
    focal: Annotated[str, typer.Option("--focal", help="Focal length of the main lens, as in 50 (mm).")]
    aperture: Annotated[float, typer.Option("--aperture", help="f-number of the board images.")]
    focus: Annotated[str, typer.Option("--focus", help="Focus distance from the sensor, as in 450 (mm), or inf.")]
    types: Annotated[int, typer.Option("--types", help="Lens types; 0: pinholes (no blur).")] = 3
    configuration: Annotated[
        Literal["galilean", "keplerian", "unfocused"], typer.Option("--configuration", help="Of the micro-lenses.")
    ] = "galilean"
    lenses: Annotated[
        str | None, typer.Option("--lenses", metavar="KxL", help="Columns x rows of the array; default: found.")
    ] = None
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    black_level: Annotated[
        float, typer.Option("--black-level", help="What the sensor counts without light, as a part of full scale.")
    ] = 0.0

    def optics(self, example: NDArray[Any]) -> Optics:
        """The nominal optics of a camera that makes images like `example`, (h, w) or (h, w, 3)."""
        from plenodepth.calib.features import parse_length
        from plenodepth.calib.whites.start_camera import Optics
        from plenodepth.camera.model import Configuration

        height, width = example.shape[:2]
        return Optics(
            focal_length=parse_length(self.focal, "--focal"),
            f_number=self.aperture,
            focus_distance=parse_length(self.focus, "--focus"),
            pixel_size=parse_length(self.sensor, "--sensor", unit="um"),
            width=width,
            height=height,
            configuration=Configuration(self.configuration),
            bayer=self.bayer,
            black_level=self.black_level,
        )

    def grid(self) -> GridOptions:
        """What is known of the array."""
        from plenodepth.calib.whites.step import GridOptions

        columns, rows = parse_counts(self.lenses, "--lenses")
        return GridOptions(columns, rows, type_count=self.types)


@dataclass(frozen=True)
class AdjustOptions:
    """What is adjusted."""

    aperture_aware: Annotated[
        bool | None,
        typer.Option(
            "--aperture-aware/--no-aperture-aware",
            help="Corners are where they appear through the aperture. Default: yes, but not for libpleno's features.",
        ),
    ] = None
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", help="Hold a parameter: F, f, pitch, tilt, distortion, …"),
    ] = None
    free: Annotated[
        list[str] | None,
        typer.Option("--free", help="Free what is held otherwise: e, pupil (e, diameter and offset), clear_aperture."),
    ] = None
    thin_lens: Annotated[
        bool,
        typer.Option(
            "--thin-lens", help="Hold the exit pupil in the main lens, even where white centres ask for another one."
        ),
    ] = False
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", help="NAME=VALUE±SIGMA (or +-), of F, D, d, …: F=50±0.2."),
    ] = None
    rho: Annotated[bool, typer.Option("--rho/--no-rho", help="Use the blur radii of the features.")] = True

    def settings(self, *, foreign: bool) -> AdjustSettings:
        """The settings for features of libpleno (`foreign`) or ours."""
        from plenodepth.calib.bundle.settings import AdjustSettings

        aware = self.aperture_aware if self.aperture_aware is not None else not foreign
        return AdjustSettings(
            aperture=aware,
            hold=tuple(parameter_name(name) for name in self.hold or ()),
            free=tuple(parameter_name(name) for name in self.free or ()),
            find_pupil=not self.thin_lens,
            priors=parse_priors(self.prior or []),
            use_rho=self.rho,
        )


BoardOption = Annotated[
    str, typer.Option("--board", help="Inner corners and side of a square: 9x5:10mm.", show_default=False)
]
WorkOption = Annotated[
    Path | None, typer.Option("--work", help="Folder for results of steps; default: beside --out, OUT-calibration.")
]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Default: all cores.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Do everything anew; use no result of an earlier run.")]
CalibratedOption = Annotated[
    str, typer.Option("--camera", help="Calibrated camera: a camera file (.yaml, .json, .js) or a preset.")
]
FeaturesOption = Annotated[
    Path, typer.Option("--features", help="Features: ours (.csv) or libpleno's (.csv, .bin.gz).")
]
BoardsOption = Annotated[Path, typer.Option("--boards", help="Folder of the images that the features were found in.")]
WhiteOption = Annotated[
    Path | None, typer.Option("--white", help="White image at the aperture of the board images.", show_default=False)
]
CameraOutOption = Annotated[Path, typer.Option("--out", help="Camera file to write (.yaml, .json).")]
StepFolderOption = Annotated[
    Path | None,
    typer.Option("--work", help="Folder for record and figure; default: beside --out, OUT-calibration."),
]

ApertureAwareOption = Annotated[
    bool | None,
    typer.Option(
        "--aperture-aware/--no-aperture-aware",
        help="Corners are where they appear through the aperture. Default: yes, but not for libpleno's features.",
    ),
]


def aperture_aware_for(wanted: bool | None, features_file: Path | None, camera: PlenopticCamera) -> bool:
    """Whether features lie where they appear through the camera's aperture; an error where it is not known.

    Without a file they are ours.
    """
    from plenodepth.calib.feature_files import is_foreign

    if not camera.type_count:
        return False
    known = camera.main_lens.f_number is not None
    if wanted and not known:
        raise InputError(
            f"camera '{camera.name}' has no f-number", field="--aperture-aware", fix="add main_lens.f_number"
        )
    if wanted is not None:
        return wanted
    return known and (features_file is None or not is_foreign(features_file))


def camera_and_features(camera_file: str, params: Path | None, features_file: Path) -> tuple[PlenopticCamera, Features]:
    """A calibrated camera, and features that its micro-images hold."""
    from plenodepth.calib.feature_files import read_features
    from plenodepth.calib.features import require_features_of

    camera = load_plenoptic_camera(camera_file, parameters=params)
    features = read_features(features_file)
    try:
        require_features_of(features, camera)
    except InputError as error:
        raise error.in_file(features_file) from None
    return camera, features


def require_camera_out(out: Path) -> None:
    """Refuse, before the work, a file that a camera with κ and Γ cannot be written to."""
    if out.suffix.lower() not in NATIVE_SUFFIXES:
        raise InputError("is no camera file of ours", field="--out", fix=f"end it with {' or '.join(NATIVE_SUFFIXES)}")
    require_file_out(out)


def require_file_out(out: Path) -> None:
    """Refuse, before the work, a file that cannot be written."""
    folder = out.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError("is in no folder that can be written", file=out, fix="make the folder first")
    if out.is_dir():
        raise InputError("is a folder", file=out, fix="give a file")


@contextmanager
def work_folder(work: Path | None, out: Path) -> Iterator[Path]:
    """The folder for what a step writes besides its result; after an error none is left that is new and empty.

    Another run that writes into it, or the same result, is an error.
    """
    folder = work or default_work(out)
    with made_folder(folder), claimed(folder), claimed(out):
        yield folder


def default_work(out: Path) -> Path:
    """The folder beside a result for what a step writes besides it."""
    return out.with_name(f"{out.stem}-calibration")


def opened(folder: Path, *, fresh: bool) -> WorkFolder:
    """The folder with the results of earlier runs, or, with `--fresh`, as if it had none."""
    return WorkFolder.fresh(folder) if fresh else WorkFolder(folder)
