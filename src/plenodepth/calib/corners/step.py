"""The step of a calibration that finds the board's corners in the micro-images of all frames.

The work folder gets `features.csv` and the record `features.json`. The step is skipped if it is up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.corners.board_features import find_features
from plenodepth.calib.feature_files import read_features, write_features
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ListedImage, ReadImage, clean_board_image, image_name
from plenodepth.calib.records import keep_record, kept_record
from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress

FEATURES, RECORD = "features.csv", "features.json"


@dataclass(frozen=True)
class FeaturesRecord:
    """What the step found, besides the features."""

    notes: tuple[str, ...]
    images: dict[str, str]  # path: SHA-256
    features: dict[str, int]  # frame: number of features


@dataclass(frozen=True, eq=False)
class FeaturesStep:
    """The features of all frames."""

    features: Features
    record: FeaturesRecord
    fresh: bool  # made now, not by an earlier run


def features_step(
    boards: Sequence[ListedImage],
    board: Board,
    camera: PlenopticCamera,
    work: WorkFolder,
    *,
    white: Path | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
    read: ReadImage = read_image,
) -> FeaturesStep:
    """Corners of the board in all frames. `white`: a white image at the aperture of the board images."""
    files = [image.path for image in boards] + ([white] if white else [])
    key = cache_key({"board": board, "frames": [image.frame for image in boards], "camera": camera}, files)
    record = kept_record(FeaturesRecord, work, RECORD, key)
    fresh = record is None
    if record is None:
        record = _find(boards, board, camera, work, white, threads, progress, read)
        keep_record(record, work, RECORD, key, [FEATURES])
    return FeaturesStep(read_features(work / FEATURES), record, fresh)


def _find(
    boards: Sequence[ListedImage],
    board: Board,
    camera: PlenopticCamera,
    work: WorkFolder,
    white: Path | None,
    threads: int,
    progress: Progress,
    read: ReadImage,
) -> FeaturesRecord:
    white_image = None if white is None else read(white)
    done = 0

    def find_in(image: ListedImage) -> tuple[Features, tuple[str, ...]]:
        nonlocal done
        clean = clean_board_image(image, camera, white_image, white, read)
        try:
            found = find_features(clean.gray, camera.micro_images, board, camera=camera, frame=image.frame)
        except InputError as error:
            raise error.in_file(image.path) from None
        done += 1
        progress(done, len(boards), image_name(image.path))
        return found.features, found.notes

    progress(0, len(boards), "features")
    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(find_in, boards))
    features = Features.joined([found for found, _ in results])
    if not len(features):
        raise InputError(
            "show no board", field="boards", fix="check the board's size, and that the boards are in focus"
        )
    write_features(features, work / FEATURES)
    return FeaturesRecord(
        notes=tuple(note for _, notes in results for note in notes),
        images={str(image.path): file_hash(image.path) for image in boards}
        | ({str(white): file_hash(white)} if white else {}),
        features={str(image.frame): len(found) for image, (found, _) in zip(boards, results, strict=True)},
    )
