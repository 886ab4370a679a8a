"""Cameras by name: the paper's calibrated Raytrix R12 (supplement, table of intrinsics) and a Lytro-like camera.

The table holds neither the sensor's position nor the grid of micro-images. The position follows from the principal
point and D + d; the grid is the lattice nearest to the projected lens centres. Each camera's provenance says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import (
    Distortion,
    MainLens,
    MicroImageArray,
    MicroLensArray,
    PlenopticCamera,
    Provenance,
    Sensor,
    default_type_pattern,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose, Pose

R12_WIDTH, R12_HEIGHT, R12_PIXEL = 4080, 3068, 0.0055
R12_COLUMNS, R12_ROWS = 176, 152
R12_F_NUMBER = 4.0


@dataclass(frozen=True)
class TableColumn:
    """One column of the paper's table of intrinsics, in its units and signs (θ is printed negated)."""

    focus_distance: float  # h, mm
    focal_length: float  # F, mm
    radial: tuple[float, float, float]  # Q1 1e-5, Q2 1e-6, Q3 1e-8
    tangential: tuple[float, float]  # P1, P2 1e-5
    inverse_radial: tuple[float, float, float]
    inverse_tangential: tuple[float, float]
    to_main_lens: float  # D, mm, of the lens array's corner node (0, 0)
    translation: tuple[float, float]  # t_x, t_y, mm
    theta: tuple[float, float, float]  # µrad
    lens_pitch: float  # µm
    focal_lengths: tuple[float, ...]  # µm
    principal_point: tuple[float, float]  # px
    to_sensor: float  # d, µm, of node (0, 0)
    kappa: float | None = None
    depth_scale: tuple[float, float, float] | None = None  # γ2 1e-5, γ1, γ0


R12_A = TableColumn(
    450.0,
    49.885285868753407,
    (24.629793152694231, -3.0321615240649705, 1.0948876088478752),
    (-11.07331475272971, -3.5990205496035423),
    (-24.286960399023933, 2.9714668383971255, -1.0662185708637543),
    (10.892509120336487, 3.5396632437188866),
    56.859967077387466,
    (-10.932145543311453, -7.9959730514471792),
    (-388.85519998996276, 271.35879355952275, 29.499664458583925),
    127.4552010932988,
    (582.66966865506242, 524.0249316658897, 560.57361553341034),
    (2078.3, 1591.0),
    337.12571805114777,
    0.81335757753444282,
    (79.708898900074192, 0.62515220840000596, 31.51235516605901),
)
R12_B = TableColumn(
    1000.0,
    50.010862604694566,
    (4.6612327268965204, -0.51566701947401107, 0.15605904047468115),
    (12.844578250992004, -24.326834368558259),
    (-4.6849029112134603, 0.52820683947001753, -0.15989121564334231),
    (-12.85634701922286, 24.467309667820016),
    52.140048198216938,
    (-12.15142307076129, -6.1649549581760921),
    (-488.44314869479245, 286.50476007926567, 30.887328743121759),
    127.47454872647138,
    (566.38899095057971, 507.08733610974643, 542.4685020176635),
    (1855.8, 1926.2),
    326.71721233574402,
    0.77632365684589211,
    (23.017216184680102, 0.79609141585669219, 10.912844125074178),
)
R12_C = TableColumn(
    np.inf,
    50.099040536044029,
    (13.839048931748937, -2.72274849082607668, 1.2598166788356634),
    (2.510763355364109, 3.0723044374484207),
    (-13.781154446130677, 2.7047099188535478, -1.2461064824067977),
    (-2.4973288978608905, -3.0672570039528202),
    49.356326976170294,
    (-12.527568800208069, -8.2366123244885525),
    (-409.8388205523041, 306.06459703077935, 33.928205745600323),
    127.45766281333226,
    (580.79528804213276, 515.57377489795142, 552.83513789959582),
    (1786.6, 1547.1),
    330.31849375628042,
    0.74044876747258848,
    (2.7355268379573649, 0.88338184462070446, 10.90983152629782),
)
R12_E = TableColumn(
    2133.0,
    50.119473840049658,
    (-6.823267739500167, 0.4075030150045897, -0.046632026538200404),
    (20.749099670679748, -11.12802972890747),
    (6.8530747139805667, -0.39435446259422714, 0.037080422116950014),
    (-21.030857515953071, 11.324969500025701),
    50.585393236494191,
    (-12.875897977038225, -6.6156396317421127),
    (-441.6006983826283, 289.22001690936499, 37.55805135840533),
    127.44587661565038,
    (601.58440220844223, 562.18757048775958, 583.53736817049551),
    (1722.5, 1843.6),
    340.86576314657435,
    1.0201626906564538,
    (4.6169969732325145, 0.91160914393108972, -2.004049745583496),
)
R12_ES_DEPTH_SCALE = (14.430517978719409, 0.66663820764239778, 35.910141602595473)
R12_A_PINHOLE = TableColumn(
    450.0,
    54.760830414143285,
    (6.1935769523508333, -0.80014173005714248, 0.25176483785161299),
    (-18.05905135265203, -5.1862878894614523),
    (-6.195328231521894, 0.81439516356456029, -0.2577869990064612),
    (18.000956166309254, 5.2178518402784784),
    62.341404683815092,
    (-9.4798767949753611, -8.0874072752828283),
    (-460.27738209856669, 363.43239198422531, 25.619255847084234),
    127.39671795575674,
    (),
    (2343.4, 1573.7),
    391.89881708265517,
)
R12_B_PINHOLE = TableColumn(
    1000.0,
    51.177333513596956,
    (1.650095415107347, -0.2643386153887022, 0.077672857411457887),
    (11.266562984847101, -23.155561474048181),
    (-1.6968916342023989, 0.27916224508984374, -0.081791324078273949),
    (-11.315738281396624, 23.3783090874790988),
    53.2129351984062,
    (-12.384668427457305, -5.9650898062240589),
    (-555.44031791339454, 330.12322433414901, 33.917291554850006),
    127.40709817170356,
    (),
    (1811.9, 1962.2),
    361.00537718834858,
)
R12_C_PINHOLE = TableColumn(
    np.inf,
    51.644147026874265,
    (1.2915406728231928, -0.57639613295088305, 0.18549080711917969),
    (12.127867696914956, 0.027303984846418686),
    (-1.316444625218327, 0.58914811295282422, -0.18603523368734878),
    (-12.171260719234855, -0.052752934478784024),
    50.728182582087413,
    (-13.242084890921969, -7.4002652348034408),
    (-442.16617735663347, 333.4245533371649, 39.916581369143224),
    127.411673369412349,
    (),
    (1654.9, 1699.7),
    357.81726862224161,
)

SOURCE = "Labussière, Teulière, Ait-Aider: Blur aware metric depth estimation with multi-focus plenoptic cameras"
DERIVED = (
    "not in the table: sensor position, from the principal point (given to 0.1 px) and D + d",
    "not in the table: grid of micro-images, the lattice nearest to the projected lens centres",
    "not in the table: lens pitch along y, taken equal to that along x",
)


def _r12(name: str, column: TableColumn, column_name: str) -> PlenopticCamera:
    pitch = column.lens_pitch * 1e-3
    # The table's rotation signs are those of the inverse rotation; D and d are those of the corner node, whose x in
    # the lens array's frame is half a pitch (row 0 is a shifted row).
    mla = Pose.from_euler_xyz(-1e-6 * np.array(column.theta))
    corner_depth = mla.rotation[2, 0] * pitch / 2
    position = (np.array(column.principal_point) - [R12_WIDTH - 1, R12_HEIGHT - 1]) * R12_PIXEL
    lattice = Lattice(Arrangement.HEXAGONAL_ROWS, R12_COLUMNS, R12_ROWS, np.full(2, pitch / R12_PIXEL))
    scale = column.depth_scale
    camera = PlenopticCamera(
        name=name,
        sensor=Sensor(
            R12_WIDTH,
            R12_HEIGHT,
            R12_PIXEL,
            np.array([*position, -(column.to_main_lens + column.to_sensor * 1e-3)]),
        ),
        main_lens=MainLens(column.focal_length, R12_F_NUMBER),
        micro_images=MicroImageArray(
            lattice,
            PlanarPose(0.0, np.zeros(2)),  # placed by fitted_to_lenses below
            default_type_pattern(lattice.arrangement, len(column.focal_lengths)),
        ),
        micro_lenses=MicroLensArray(
            np.full(2, pitch),
            Pose(mla.rotation, np.array([*column.translation, -column.to_main_lens - corner_depth])),
            1e-3 * np.array(column.focal_lengths),
        ),
        distortion=_distortion(column.radial, column.tangential),
        inverse_distortion=_distortion(column.inverse_radial, column.inverse_tangential),
        depth_scale=None if scale is None else np.array([scale[2], scale[1], scale[0] * 1e-5]),
        blur_coefficient=column.kappa,
        focus_distance=column.focus_distance,
        provenance=Provenance(f"{SOURCE}; supplement, table of intrinsics, {column_name}", DERIVED),
    )
    return fitted_to_lenses(camera)


def _distortion(radial: tuple[float, float, float], tangential: tuple[float, float]) -> Distortion:
    return Distortion(np.array(radial) * [1e-5, 1e-6, 1e-8], np.array(tangential) * 1e-5)


def _r12_es() -> PlenopticCamera:
    quadratic, linear, constant = R12_ES_DEPTH_SCALE
    camera = _r12("r12-es", R12_E, "R12-E; depth scale of the simulated R12-ES")
    return replace(camera, depth_scale=np.array([constant, linear, quadratic * 1e-5]))


def _r12_mini() -> PlenopticCamera:
    return replace(shrunk(PRESETS["r12-e"]()), name="r12-mini")


MINI_COLUMNS, MINI_ROWS = 24, 20


def shrunk(camera: PlenopticCamera, columns: int = MINI_COLUMNS, rows: int = MINI_ROWS) -> PlenopticCamera:
    """The optics of a camera on a sensor of columns × rows lenses about the optical axis: small enough for quick tests.

    At the middle of the array D and d are those of the camera's corner node, which tables give.
    """
    whole, pose = camera.micro_images.lattice, camera.micro_lenses.cam_from_mla
    main, _ = lens_distances(camera, whole.columns - 1, whole.rows - 1)
    small = Lattice(whole.arrangement, columns, rows, camera.micro_lenses.pitch)
    nodes = small.node(*small.indices()).reshape(-1, 2)
    middle = (nodes.min(axis=0) + nodes.max(axis=0)) / 2
    pixel = camera.sensor.pixel_size
    extent = (whole.unit_node(columns, 2 * rows) - whole.unit_node(0, 0)) * [1, 0.5] * whole.pitch  # even: no shift
    size = 2 * np.rint(extent / 2).astype(int)
    width, height = (int(length) for length in size)
    position = np.array([-(width - 1) / 2 * pixel, -(height - 1) / 2 * pixel, camera.sensor.position[2]])
    depth = (pose.rotation @ [*middle, 0.0])[2]
    made = replace(
        camera,
        name=f"{camera.name}-mini",
        sensor=replace(camera.sensor, width=width, height=height, position=position),
        micro_images=replace(
            camera.micro_images,
            lattice=replace(whole, columns=columns, rows=rows),
            image_from_lattice=PlanarPose(0.0, np.zeros(2)),
        ),
        micro_lenses=replace(
            camera.micro_lenses, cam_from_mla=Pose(pose.rotation, np.array([*-middle, -main - depth]))
        ),
        provenance=Provenance(
            f"{camera.provenance.source}; on a sensor of {width} × {height} px",
            ("made for tests: the optical axis meets the middle of the sensor, where D and d are those of the table",),
        ),
    )
    return fitted_to_lenses(made)


def _upc_s() -> PlenopticCamera:
    lattice = Lattice(Arrangement.HEXAGONAL_ROWS, 541, 434, np.full(2, 14.343866357))
    camera = PlenopticCamera(
        name="upc-s",
        sensor=Sensor(7728, 5368, 0.0014, np.array([-5.43928, -3.7079, -9.888003801])),
        main_lens=MainLens(9.98445, 2.0),
        micro_images=MicroImageArray(
            lattice, PlanarPose(0.0, np.zeros(2)), default_type_pattern(lattice.arrangement, 1)
        ),
        micro_lenses=MicroLensArray(
            np.full(2, 0.02),
            Pose(np.eye(3), np.array([-5.45928, -3.7179, -9.847916429])),
            np.array([0.040087372]),
        ),
        focus_distance=np.inf,
        provenance=Provenance(
            "the camera of libpleno's simulator example: single lens type, Lytro-like, unfocused",
            ("grid of micro-images: the lattice nearest to the projected lens centres",),
        ),
    )
    return fitted_to_lenses(camera)


PRESETS: dict[str, Callable[[], PlenopticCamera]] = {
    "r12-a": lambda: _r12("r12-a", R12_A, "R12-A BAP"),
    "r12-b": lambda: _r12("r12-b", R12_B, "R12-B BAP"),
    "r12-c": lambda: _r12("r12-c", R12_C, "R12-C BAP"),
    "r12-e": lambda: _r12("r12-e", R12_E, "R12-E BAP"),
    "r12-es": _r12_es,
    "r12-a-pinhole": lambda: _r12("r12-a-pinhole", R12_A_PINHOLE, "R12-A NOUR"),
    "r12-b-pinhole": lambda: _r12("r12-b-pinhole", R12_B_PINHOLE, "R12-B NOUR"),
    "r12-c-pinhole": lambda: _r12("r12-c-pinhole", R12_C_PINHOLE, "R12-C NOUR"),
    "r12-mini": _r12_mini,
    "upc-s": _upc_s,
}


def preset(name: str) -> PlenopticCamera:
    """The camera called `name`, one of `PRESETS`.

    >>> plenodepth.preset("r12-a").type_count
    3
    """
    if name not in PRESETS:
        raise InputError(f"no preset of that name (there are: {', '.join(PRESETS)})", file=name)
    return PRESETS[name]()
