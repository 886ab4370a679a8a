"""Where the images of a dataset come from: a simulated twin, made on first use, or the authors' published dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plenodepth.cache import content_hash, file_hash
from plenodepth.calib.features import Board
from plenodepth.calib.image_list import ListedImage, listed_files, listed_images
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.errors import InputError
from plenodepth.io.frame_tables import read_frame_distances
from plenodepth.io.images import read_image
from plenodepth.io.libpleno.dataset import DatasetFiles, find_dataset
from plenodepth.io.reading import read_text
from plenodepth.io.strict_text import parse_json
from plenodepth.sim.dataset import MANIFEST, simulate_dataset
from plenodepth.sim.scenes.twins import REAL_TWINS, quick_board, twin
from plenodepth.studies.reproduction.published import SCENES
from plenodepth.studies.reproduction.study import Study

FOCAL, F_NUMBER, PIXEL = 50.0, 4.0, 0.0055  # nominal; mm
SAME_F_NUMBER = 0.02


@dataclass(frozen=True)
class DatasetSpec:
    """What is known of a dataset before its images are read."""

    focus: float  # mm, nominal
    board: Board  # of the images to calibrate with, full size
    calibration: str  # a twin's folder of these images
    shots: str | None = None  # a twin's folder of targets at known distances
    scale: str | None = None  # a twin's folder of boards across the axis; None: Γ is fitted to the calibration boards
    scale_board: Board | None = None  # None: as in `board`
    camera_of: str | None = None  # the dataset that has the calibration images of the same camera
    published_as: tuple[str, ...] = ()  # other names of the published dataset
    virtual_range: tuple[float, float] = (2.0, 20.0)  # to search


SMALL, MIDDLE, LARGE = Board(9, 5, 10.0), Board(8, 5, 20.0), Board(6, 4, 30.0)
DATASET_SPECS = {
    "r12-a": DatasetSpec(450.0, SMALL, calibration="boards", shots="steps", scale="steps"),
    "r12-b": DatasetSpec(1000.0, MIDDLE, calibration="boards", shots="steps", scale="steps"),
    "r12-c": DatasetSpec(
        np.inf, LARGE, calibration="boards", shots="steps", scale="steps", virtual_range=(2.0, 25.0)
    ),  # 450 mm: v = 21
    "r12-es": DatasetSpec(
        2133.0,
        LARGE,
        calibration="calibration",
        shots="targets",
        scale="boards",
        scale_board=Board(8, 5, 30.0),
        published_as=("r12-e",),
    ),
    "r12-elp20": DatasetSpec(2133.0, LARGE, calibration="calibration", camera_of="r12-es"),
}
# With real lenses, otherwise the same. Nobody has photographed these.
DATASET_SPECS |= {name: replace(DATASET_SPECS[thin], published_as=()) for name, thin in REAL_TWINS.items()}


@dataclass(frozen=True)
class Shot:
    """An image of a target at a known distance, mm."""

    path: Path
    frame: int
    distance: float


@dataclass(frozen=True)
class BoardImages:
    """Images of a board."""

    board: Board
    images: tuple[ListedImage, ...]


@dataclass(frozen=True)
class SceneFiles:
    """A scene's image, and the scanner's cloud of it."""

    image: Path
    cloud: Path


@dataclass(frozen=True, eq=False)
class Source:
    """The files of a dataset, and the nominal numbers of its camera and its boards."""

    root: Path
    optics: Optics
    whites: tuple[ListedImage, ...]
    boards: BoardImages  # to calibrate with; no images where another dataset has those of the camera
    scale_boards: BoardImages | None  # across the axis, over all distances; None: there are none
    shots: tuple[Shot, ...]  # nearest first
    scenes: Mapping[str, SceneFiles]
    checksum: str  # of the content of its files

    @property
    def white(self) -> Path:
        """The white image at the aperture of the other images."""
        for image in self.whites:
            if image.f_number is not None and abs(image.f_number - F_NUMBER) < SAME_F_NUMBER:
                return image.path
        raise InputError(f"has no white image at f/{F_NUMBER:g}", file=self.root, fix=f"name one with f{F_NUMBER:g}")


def find_source(study: Study, name: str) -> Source:
    """The files of a dataset. A twin is simulated unless it is there already."""
    if name not in DATASET_SPECS:
        raise InputError(f"is no dataset (there are: {', '.join(DATASET_SPECS)})", field="dataset", file=name)
    return _twin(study, name) if study.data is None else _published(study.data, name)


def _twin(study: Study, name: str) -> Source:
    spec, root = DATASET_SPECS[name], study.twin_folder / name
    simulate_dataset(
        name,
        root,
        quick=study.quick,
        rays=study.rays,
        seed=study.seed,
        threads=study.threads,
        fresh=study.since > 0,
        on_frame=study.progress,
    )
    sensor = twin(name, quick=study.quick).camera.sensor
    factor = sensor.width / twin(name).camera.sensor.width * quick_board(name, study.quick)
    own = spec.camera_of is None

    def boards(board: Board, folder: str | None) -> BoardImages:
        images = () if folder is None else tuple(listed_images(root / folder))
        return BoardImages(replace(board, square=board.square * factor), images)

    scenes = {}
    for scene in SCENES:
        folder = root / "scenes" / scene
        if folder.is_dir():
            scenes[scene] = SceneFiles(folder / "raw.png", folder / "lidar.pts")
    return Source(
        root,
        Optics(FOCAL, F_NUMBER, spec.focus, sensor.pixel_size, sensor.width, sensor.height),
        tuple(listed_images(root / "white")),
        boards(spec.board, spec.calibration if own else None),
        boards(spec.scale_board or spec.board, spec.scale) if spec.scale else None,
        _shots(listed_images(root / spec.shots), root / spec.shots / "distances.txt") if spec.shots else (),
        scenes,
        _manifest_checksum(root / MANIFEST),
    )


def _manifest_checksum(path: Path) -> str:
    """A hash of the checksums that the manifest of a twin has of its files: of what they hold, not of when."""
    try:
        frames = parse_json(read_text(path), path)["frames"]
        return content_hash([(frame["folder"], frame["sha256"]) for frame in frames])[:16]
    except (TypeError, KeyError):
        raise InputError("is no manifest of a dataset", file=path, fix="simulate it again") from None


def _published(data: Path, name: str) -> Source:
    """A published dataset, in a folder of its name (R12-A, r12_a, …) below `data`; what it lacks is said."""
    spec, found = DATASET_SPECS[name], find_dataset(_folder_of(data, name))
    own = spec.camera_of is None
    found.require("white images", *(("board images",) if own else ()), *(("scene images",) if not own else ()))
    whites = tuple(listed_files(found.root, found.of("white images")))
    height, width = read_image(whites[0].path).shape[:2]
    shots, steps = tuple[Shot, ...](), None
    if "step images" in found.files:
        found.require("distances")
        images = tuple(listed_files(found.root, found.of("step images")))
        shots = _shots(images, found.of("distances")[0])
        # Those of R12-A, B and C are boards.
        steps = BoardImages(spec.board, images) if spec.scale == spec.shots else None
    everything = [path for paths in found.files.values() for path in paths]
    return Source(
        found.root,
        Optics(FOCAL, F_NUMBER, spec.focus, PIXEL, width, height),
        whites,
        BoardImages(spec.board, tuple(listed_files(found.root, found.of("board images"))) if own else ()),
        steps,
        shots,
        _scenes(found) if "scene images" in found.files else {},
        content_hash([(path.name, file_hash(path)) for path in everything])[:16],
    )


def _folder_of(data: Path, name: str) -> Path:
    if not data.is_dir():
        raise InputError("is no folder", file=data, field="--data", fix="give the folder of the unpacked datasets")
    found = dataset_folder(data, name)
    if found is not None:
        return found
    there = ", ".join(sorted(path.name for path in data.iterdir() if path.is_dir())) or "no folder"
    raise InputError(f"has no folder {name.upper()}, only {there}", file=data, field="--data", fix="name it so")


def dataset_folder(root: Path, name: str) -> Path | None:
    """The folder of a dataset below `root`, whatever way its name is written (R12-A, r12_a)."""
    wanted = {_plain(one) for one in (name, *DATASET_SPECS[name].published_as)}
    return next((path for path in sorted(root.iterdir()) if path.is_dir() and _plain(path.name) in wanted), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _shots(images: Sequence[ListedImage], distances: Path) -> tuple[Shot, ...]:
    places = read_frame_distances(distances)
    missing = sorted(image.frame for image in images if image.frame not in places)
    if missing:
        raise InputError(f"has no distance of frames {missing}", file=distances, fix="add lines: frame distance")
    shots = [Shot(image.path, image.frame, places[image.frame]) for image in images]
    return tuple(sorted(shots, key=lambda shot: shot.distance))


def _scenes(found: DatasetFiles) -> dict[str, SceneFiles]:
    """Scenes by the names in their paths; each needs the cloud whose path names it, too."""
    found.require("lidar clouds")
    scenes = {}
    for scene in SCENES:
        image, cloud = (
            next((path for path in found.of(kind) if _plain(scene) in _plain(str(path.relative_to(found.root)))), None)
            for kind in ("scene images", "lidar clouds")
        )
        if image is None or cloud is None:
            what = "image" if image is None else "cloud"
            raise InputError(f"has no {what} of the scene {scene}", file=found.root, fix=f"have {scene} in its path")
        scenes[scene] = SceneFiles(image, cloud)
    return scenes
