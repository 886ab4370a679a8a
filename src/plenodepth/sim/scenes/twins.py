"""Twins of the paper's datasets: the frames of each, with known poses. Nothing is rendered here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from plenodepth.camera import PlenopticCamera, metric_from_virtual, preset
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.optics.options import RealOptics
from plenodepth.sim.optics.presets import optics_preset
from plenodepth.sim.scenes.figurines import figurine
from plenodepth.sim.scenes.scene import Checkerboard, Light, Material, Mesh, Rectangle, Scene, SceneObject
from plenodepth.sim.scenes.textures import noise_image, solid_noise

WHITE_F_NUMBERS = (4.0, 5.66, 8.0, 11.31, 16.0)
FREE_HAND_BOARDS, QUICK_FREE_HAND_BOARDS = 16, 12
# Boards of small sensors are smaller in proportion, but for these factors: R12-C looks far, and squares of 4 px in a
# micro-image show no corner.
QUICK_BOARDS = {"r12-c": 2.5}
FIGURINE_HEIGHT = 0.5  # of the view
ELP20_SCENES = ("calib", "plane-1", "plane-2", "figurines-1", "figurines-2")
FIRST_GROUP = ("cat", "vase", "queen", "boulder", "column")
SECOND_GROUP = ("elephant", "tower", "knot", "queen", "cat")
LAMPS = (
    Light(direction=np.array([-0.4, -1.0, -0.8]), intensity=0.7),
    Light(direction=np.array([0.9, -0.3, -1.0]), intensity=0.3),
)
AMBIENT = 0.35


@dataclass(frozen=True, eq=False)
class PlannedFrame:
    """A frame to make: a white image, or a scene that is built only when it is needed.

    The scene is a function of this package with its arguments. They give a key of the frame in milliseconds; to build
    the scenes of a full-size dataset, with their noise and figurines, takes many seconds.
    """

    folder: str
    scene: partial[Scene] | None = None  # None: a white image
    f_number: float | None = None
    frame: int = 0
    lidar: bool = False
    distance: float | None = None  # mm, of a target across the axis


@dataclass(frozen=True, eq=False)
class Twin:
    """A dataset to make: its camera, its frames, and what real lenses do to them (None: thin lenses)."""

    name: str
    camera: PlenopticCamera
    frames: tuple[PlannedFrame, ...]
    optics: RealOptics | None = None


@dataclass(frozen=True)
class BoardKind:
    """Inner corners and square of a board, mm."""

    columns: int
    rows: int
    square: float

    def scaled(self, factor: float) -> BoardKind:
        """The same board in another size."""
        return BoardKind(self.columns, self.rows, self.square * factor)


def twin(name: str, *, quick: bool = False, seed: int = 0) -> Twin:
    """The plan of a dataset; `quick` takes a small sensor, and boards and objects that fit it."""
    if name not in TWIN_NAMES:
        raise InputError(f"is no dataset (there are: {', '.join(TWIN_NAMES)})", field="dataset", file=name)
    plan = TWINS[REAL_TWINS.get(name, name)](name, quick, seed)
    return replace(plan, optics=optics_preset(name)) if name in REAL_TWINS else plan


def _camera(name: str, quick: bool) -> tuple[PlenopticCamera, float]:
    """A preset, or with `quick` the same on a small sensor, and its width relative to that of the full sensor."""
    whole = preset(name)
    if not quick:
        return whole, 1.0
    small = shrunk(whole)
    return small, small.sensor.width / whole.sensor.width


def quick_board(name: str, quick: bool) -> float:
    """By what factor the boards of a small sensor are larger than in proportion to the sensor; 1 for most datasets."""
    return QUICK_BOARDS.get(name, 1.0) if quick else 1.0


def view_center(depth: float, camera: PlenopticCamera) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The point (3,) mm at a depth that the middle of the sensor looks at."""
    sensor = camera.sensor
    middle = sensor.metric_from_image([(sensor.width - 1) / 2, (sensor.height - 1) / 2])
    return np.array([*(middle * depth / sensor.position[2]), depth])


def view_size(depth: float, camera: PlenopticCamera) -> tuple[float, float]:
    """Width and height, mm, of what the camera sees at a depth."""
    scale = depth / abs(camera.sensor.position[2]) * camera.sensor.pixel_size
    return camera.sensor.width * scale, camera.sensor.height * scale


def view_corners(depth: float, camera: PlenopticCamera) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The corners (4, 3) mm of what the camera sees at a depth."""
    width, height = view_size(depth, camera)
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return np.asarray(view_center(depth, camera) + np.column_stack([signs * [width / 2, height / 2], np.zeros(4)]))


def _board(kind: BoardKind, depth: float, turn: Any, camera: PlenopticCamera, shift: Any = (0, 0)) -> Checkerboard:
    """A board whose middle stands at `depth`, shifted by parts of the view's size and turned about its middle."""
    rotation = Pose.from_rotation_vector(turn).rotation
    width, height = view_size(depth, camera)
    middle = view_center(depth, camera) + np.array([shift[0] * width, shift[1] * height, 0.0])
    half = np.array([(kind.columns - 1) * kind.square / 2, (kind.rows - 1) * kind.square / 2, 0.0])
    return Checkerboard(
        kind.columns, kind.rows, kind.square, Pose(rotation, middle - rotation @ half), margin=kind.square / 2
    )


def _relative(
    name: str, quick: bool, seed: int, camera_name: str, kind: BoardKind, distances: tuple[float, ...]
) -> Twin:
    """White images, free-hand boards for calibration, and a board moved along the axis in known steps."""
    camera, factor = _camera(camera_name, quick)
    board = kind.scaled(factor * quick_board(name, quick))
    frames = [PlannedFrame(f"white/f{n:05.2f}", f_number=n) for n in WHITE_F_NUMBERS]
    frames += _free_hand(camera, board, quick, seed, "boards")
    for index, depth in enumerate(distances):
        thing = _board(board, depth, np.zeros(3), camera)
        frames.append(PlannedFrame(f"steps/{index:02d}", partial(object_scene, thing), frame=index, distance=depth))
    return Twin(name, camera, tuple(frames))


def _free_hand(camera: PlenopticCamera, board: BoardKind, quick: bool, seed: int, folder: str) -> list[PlannedFrame]:
    """Boards to calibrate with: over all depths that the camera sees well, turned and shifted by hand."""
    generator = np.random.default_rng(seed)
    near, far = metric_from_virtual([14.0, 2.6], replace(camera, depth_scale=None))
    frames = []
    for index in range(QUICK_FREE_HAND_BOARDS if quick else FREE_HAND_BOARDS):
        depth = 1 / generator.uniform(1 / far, 1 / near)
        turn = generator.uniform([-0.35, -0.35, -0.25], [0.35, 0.35, 0.25])
        shift = generator.uniform(-0.15, 0.15, 2)
        thing = _board(board, depth, turn, camera, shift)
        frames.append(PlannedFrame(f"{folder}/{index:02d}", partial(object_scene, thing), frame=index))
    return frames


def object_scene(thing: SceneObject) -> Scene:
    """One object and nothing else, in full light."""
    return Scene((thing,), ambient=1.0)


def _wall(depth: float, seed: int, camera: PlenopticCamera, emits: bool = True) -> Rectangle:
    """A wall of noise that more than fills the view, its finest detail about two pixels wide."""
    width, height = (1.3 * size for size in view_size(depth, camera))
    columns = min(4000, 2 * camera.sensor.width // 3)
    rows = max(2, round(columns * height / width))
    texture = noise_image(columns, rows, octaves=6, cell=max(columns / 32, 32.0), seed=seed)
    pose = Pose(np.eye(3), view_center(depth, camera))
    return Rectangle(width, height, pose, Material(texture=texture, emits=emits), name=f"wall at {depth:g} mm")


def _es(name: str, quick: bool, seed: int) -> Twin:
    camera, factor = _camera("r12-es", quick)
    frames = [PlannedFrame(f"white/f{n:05.2f}", f_number=n) for n in WHITE_F_NUMBERS]
    for index, depth in enumerate(range(500, 2000, 100)):
        wall = partial(wall_scene, depth, seed + index, camera)
        board = partial(object_scene, _board(BoardKind(8, 5, 30.0).scaled(factor), depth, np.zeros(3), camera))
        frames.append(PlannedFrame(f"targets/{index:02d}", wall, frame=index, distance=float(depth)))
        frames.append(PlannedFrame(f"boards/{index:02d}", board, frame=index, distance=float(depth)))
    # R12-ELP20 has the same camera, so these serve both.
    frames += _free_hand(camera, BoardKind(6, 4, 30.0).scaled(factor), quick, seed, "calibration")
    return Twin(name, camera, tuple(frames))


def wall_scene(depth: float, seed: int, camera: PlenopticCamera) -> Scene:
    """A glowing wall of noise that fills the view at `depth` mm."""
    return Scene((_wall(depth, seed, camera),), ambient=1.0)


def _elp20(name: str, quick: bool, seed: int) -> Twin:
    camera, factor = _camera("r12-e", quick)
    frames = [PlannedFrame(f"white/f{n:05.2f}", f_number=n) for n in WHITE_F_NUMBERS]
    for index, label in enumerate(ELP20_SCENES):
        scene = partial(elp20_scene, label, camera, factor, quick, seed)
        frames.append(PlannedFrame(f"scenes/{label}", scene, frame=index, lidar=True))
    return Twin(name, camera, tuple(frames))


def elp20_scene(label: str, camera: PlenopticCamera, factor: float, quick: bool, seed: int) -> Scene:
    """A scene of R12-ELP20 before a wall; `factor` is the size of the view relative to that of the whole sensor."""
    if label == "calib":
        things = _calibration_targets(camera, factor)
    elif label.startswith("plane"):
        things = _planes(camera, seed + ELP20_SCENES.index(label))
    else:
        group = FIRST_GROUP if label == "figurines-1" else SECOND_GROUP
        things = _figurines(camera, factor, quick, group, seed + ELP20_SCENES.index(label))
    return Scene((*things, _wall(1500, seed, camera, emits=False)), LAMPS, AMBIENT)


def _calibration_targets(camera: PlenopticCamera, factor: float) -> tuple[SceneObject, ...]:
    """Five targets of four squares, each with one corner, over the image and the range of depths."""
    places = ((-0.32, -0.3, 650), (0.32, -0.3, 900), (0.0, 0.0, 1100), (-0.32, 0.3, 800), (0.32, 0.28, 560))
    targets = []
    for index, (x, y, depth) in enumerate(places):
        kind = BoardKind(1, 1, 0.07 * depth * factor)
        board = _board(kind, depth, np.array([0.1, -0.12, 0.05]) * (index - 2), camera, (x, y))
        targets.append(replace(board, margin=kind.square / 4, emits=False, name=f"target {index}"))
    return tuple(targets)


def _planes(camera: PlenopticCamera, seed: int) -> tuple[SceneObject, ...]:
    """Six textured boards between 400 and 1400 mm, turned this way and that, none in front of all others."""
    generator = np.random.default_rng(seed)
    planes = []
    places = ((-0.3, -0.25), (0.05, -0.3), (0.33, -0.2), (-0.33, 0.25), (0.0, 0.25), (0.32, 0.27))
    depths = generator.permutation(np.linspace(450, 1300, len(places)))
    for index, ((x, y), depth) in enumerate(zip(places, depths, strict=True)):
        width, height = view_size(depth, camera)
        pixels = max(64, camera.sensor.width // 4)
        texture = noise_image(pixels, pixels, octaves=6, cell=pixels / 8, seed=seed * 100 + index)
        turn = generator.uniform([-0.6, -0.6, -0.4], [0.6, 0.6, 0.4])
        pose = Pose(Pose.from_rotation_vector(turn).rotation, view_center(depth, camera) + [x * width, y * height, 0.0])
        side = 0.36 * height
        planes.append(Rectangle(side * 1.2, side, pose, Material(texture=texture), name=f"plane {index}"))
    return tuple(planes)


def _figurines(
    camera: PlenopticCamera, factor: float, quick: bool, shapes: tuple[str, ...], seed: int
) -> tuple[SceneObject, ...]:
    """Figurines on a table, nearer ones lower in the image and in front of farther ones."""
    generator = np.random.default_rng(seed)
    things: list[SceneObject] = []
    places = ((-0.33, 620), (0.3, 700), (-0.02, 860), (-0.3, 1150), (0.33, 1250))
    floor = 0.42 * view_size(620, camera)[1] + view_center(620, camera)[1]  # y of the table, mm
    for shape, (x, depth) in zip(shapes, places, strict=True):
        vertices, faces = figurine(shape, 4_000 if quick else 100_000)
        size = FIGURINE_HEIGHT * view_size(depth, camera)[1] / np.ptp(vertices[:, 1])
        turn = Pose.from_rotation_vector([0, generator.uniform(0, 2 * np.pi), 0]).rotation
        middle = view_center(depth, camera)
        position = np.array([middle[0] + x * view_size(depth, camera)[0], floor, depth])
        color = generator.uniform(0.55, 1.0, 3)
        texture = solid_noise(
            period=40 * factor, seed=int(generator.integers(1 << 30)), dark=tuple(0.1 * color), light=tuple(color)
        )
        things.append(Mesh(vertices * size, faces, Pose(turn, position), Material(texture=texture), name=shape))
    depth = 1500 - 450
    pixels = max(64, camera.sensor.width // 2)
    cloth = noise_image(pixels, pixels, octaves=7, cell=pixels / 12, seed=seed + 50)
    lying = Pose(
        Pose.from_rotation_vector([np.pi / 2, 0, 0]).rotation,
        np.array([view_center(975, camera)[0], floor, 975.0]),
    )
    width = 1.4 * view_size(1500, camera)[0]
    things.append(Rectangle(width, depth, lying, Material(texture=cloth), name="table"))
    return tuple(things)


def _upc(name: str, quick: bool, seed: int) -> Twin:
    camera, factor = _camera("upc-s", quick)
    number = camera.main_lens.f_number
    frames = [PlannedFrame(f"white/f{n:05.2f}", f_number=n) for n in (number, 4.0, 8.0) if n is not None]
    for index, depth in enumerate((150.0, 200.0, 300.0, 500.0, 800.0)):
        wall = partial(wall_scene, depth, seed + index, camera)
        frames.append(PlannedFrame(f"targets/{index:02d}", wall, frame=index, distance=depth))
    generator = np.random.default_rng(seed)
    board = BoardKind(9, 6, 14.0).scaled(factor)  # at any of these depths a micro-image sees one corner or none
    for index in range(12):
        depth = 1 / generator.uniform(1 / 500, 1 / 160)
        thing = _board(board, depth, generator.uniform(-0.3, 0.3, 3), camera, generator.uniform(-0.1, 0.1, 2))
        frames.append(PlannedFrame(f"boards/{index:02d}", partial(object_scene, thing), frame=index))
    return Twin(name, camera, tuple(frames))


def _steps(first: float, last: float, step: float) -> tuple[float, ...]:
    return tuple(float(depth) for depth in np.arange(last, first - step / 2, -step))


TWINS: dict[str, Callable[[str, bool, int], Twin]] = {
    "r12-a": lambda n, q, s: _relative(n, q, s, "r12-a", BoardKind(9, 5, 10.0), _steps(250, 360, 10)),
    "r12-b": lambda n, q, s: _relative(n, q, s, "r12-b", BoardKind(8, 5, 20.0), _steps(450, 900, 50)),
    "r12-c": lambda n, q, s: _relative(n, q, s, "r12-c", BoardKind(6, 4, 30.0), _steps(450, 1250, 50)),
    "r12-es": _es,
    "r12-elp20": _elp20,
    "upc-s": _upc,
}
REAL_TWINS = {"r12-a-real": "r12-a", "r12-es-real": "r12-es"}  # with real lenses, otherwise the same
TWIN_NAMES = (*TWINS, *REAL_TWINS)
