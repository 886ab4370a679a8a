"""Would estimating the patch itself remove the bias at edges? An experiment: `docs/depth.md` says what came out.

    pytest benchmarks/bench_latent.py -s -o python_files="bench_*.py"

Walls of checkers, stripes and noise stand before a small R12-ES at f/4. `estimate_virtual_depth` finds v, default
settings. Then, for some micro-images, v is found anew: the patch T of the scene that a lens sees is a bilinear picture
on a grid, H_k(v) maps it to the pixels of view k, shifted by the disparity and blurred by the open part of the lens at
each pixel (rays through evenly spread points of it, over the pixel's area), and
    min over T of Σ_k w ‖I_k − H_k(v) T‖² + λ ‖∇T‖²
is minimised over v by parabolas. The pixels are the same for all v. It takes about a quarter of an hour on two cores.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from plenodepth.camera import PlenopticCamera, lens_distances, preset, virtual_from_metric
from plenodepth.camera.aperture.clipping import aperture_table
from plenodepth.camera.aperture.quadrature import open_nodes
from plenodepth.camera.depth import metric_from_virtual
from plenodepth.camera.micro_lenses import pitch_ratio
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Pose
from plenodepth.raw import RawImage, clean_image
from plenodepth.sim.optics.camera import camera_with_optics
from plenodepth.sim.optics.file import load_optics
from plenodepth.sim.optics.options import RealOptics
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Checkerboard, ImageTexture, Material, Rectangle, Scene
from plenodepth.sim.scenes.twins import view_center, view_size, wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

Array = NDArray[np.float64]
DEPTHS = (4.0, 6.0, 10.0, 14.0)  # v
COLUMNS, ROWS = 36, 30
RAYS, SQUARE = 256, 7.0  # rays per pixel; px of a micro-image
SAMPLE = 20  # micro-images
LARGEST_SIGMA = 0.005  # relative: patches that tell less, without texture, are left out
KINDS = ("checkers", "stripes", "noise")
LARGEST_BIAS, LARGEST_BIAS_OF_REAL_OPTICS = 0.3, 0.7  # % of v


# --- images -----------------------------------------------------------------------------------------------------


@cache
def small() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), COLUMNS, ROWS), depth_scale=None)


def scene(kind: str, v: float) -> Scene:
    z = float(metric_from_virtual(v, small()))
    width, _ = view_size(z, small())
    square = SQUARE * v * width / small().sensor.width  # a pixel of a micro-image is v pixels of the view wide
    turn = Pose.from_rotation_vector([0.0, 0.0, 0.35]).rotation
    if kind == "checkers":
        count = 2 * int(np.ceil(width / square)) + 3
        middle = np.array([(count - 1) / 2 * square, (count - 1) / 2 * square, 0.0])
        pose = Pose(turn, view_center(z, small()) - turn @ middle)
        return Scene((Checkerboard(count, count, square, pose, dark=0.1, light=0.9),))
    if kind == "stripes":
        generator = np.random.default_rng(int(v))
        widths = generator.uniform(0.6, 1.4, 400) * square
        place = np.linspace(0, 3 * width, 16000)
        index = np.searchsorted(np.cumsum(widths), place)
        values = generator.uniform(0.05, 0.95, 401)
        values[1::2] = (values[:-1:2] + 0.5) % 0.9 + 0.05
        pixels = np.repeat(values[index][None, :, None], 2, axis=0).repeat(3, axis=2).astype(np.float32)
        material = Material(texture=ImageTexture(pixels), emits=True)
        return Scene((Rectangle(3 * width, 3 * width, Pose(turn, view_center(z, small())), material),))
    return wall_scene(z, int(v), small())


def real(optics: str) -> RealOptics | None:
    """Real lenses by name, or some of their options: "r12-es-real: half_angle crosstalk"."""
    name, _, options = optics.partition(":")
    if not name:
        return None
    return load_optics(name).only(*options.split()) if options else load_optics(name)


@cache
def light(kind: str, v: float, optics: str) -> NDArray[np.float32]:
    settings = RenderSettings(rays=RAYS, seed=int(v), optics=real(optics), threads=2)
    return render(white_scene(small()) if kind == "white" else scene(kind, v), small(), settings).light


@cache
def image(kind: str, v: float, optics: str, noise: float) -> RawImage:
    """`noise`: standard deviation over full scale at half light, as a share of it."""
    well = 0.45 / noise**2
    sensor = SensorSettings(color=False, full_well=well, read_noise=0.2 * np.sqrt(well / 2), exposure=0.9, seed=int(v))
    white = expose(light("white", 0, optics), replace(sensor, full_well=200_000.0, read_noise=10.0, seed=99))
    return clean_image(expose(light(kind, v, optics), sensor), known(optics), white=white, name=kind)


@cache
def known(optics: str, f_number: float = 4.0) -> PlenopticCamera:
    """What the estimator is told: the pupil and the clear aperture, and nothing else of real optics."""
    camera = camera_with_optics(small(), real(optics))
    return replace(camera, main_lens=replace(camera.main_lens, f_number=f_number))


# --- the latent patch -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    reach: float = 3.0  # pitches to the farthest view
    window: float = 6.0  # px: pixels are compared whose chief ray is so near the middle of the patch
    spacing: float = 1.0  # px between nodes of the patch
    weight: float = 0.003  # λ
    step: float = 0.006  # relative, in 1/v
    spots: str = "own"  # each pixel's own; shape of the middle: moved by each pixel's centroid; points: the centroids
    marginal: bool = False  # adds the log-determinant: T is integrated out instead of chosen
    tries: int = 12


VARIANTS = {
    "3 pitches": Variant(),
    "1.8 pitches": Variant(reach=1.8),
    "window 8 px": Variant(reach=1.8, window=8.0),
    "nodes 2 px": Variant(reach=1.8, spacing=2.0),
    "T integrated out": Variant(reach=1.8, marginal=True),
    "λ 0.03": Variant(reach=1.8, weight=0.03),
    "nodes 2 px, λ 0.0003": Variant(reach=1.8, spacing=2.0, weight=0.0003),
    "nodes 2 px, λ 0.01": Variant(reach=1.8, spacing=2.0, weight=0.01),
    "nodes 2 px, one shape": Variant(reach=1.8, spacing=2.0, spots="shape of the middle"),
    "nodes 2 px, points": Variant(reach=1.8, spacing=2.0, spots="points"),
}


class Rows(NamedTuple):
    """What does not depend on v, of the pixels of all views."""

    offset: Array  # (n, 2) px from the own micro-image's centre
    baseline: Array  # (n, 2) px, reference minus own centre
    gray: Array
    weight: Array
    kind: NDArray[np.int64]


class Optics:
    """Rays through the open lens over the distance from the micro-image's centre, for each lens type."""

    SLICES, CELLS, STEP = 5, 4, 0.25

    def __init__(self, camera: PlenopticCamera) -> None:
        pixel = camera.sensor.pixel_size
        self.camera, self.table = camera, aperture_table(camera)
        radius = np.arange(0, camera.micro_images.radius + 2, self.STEP)
        types = range(camera.type_count)
        self.nodes = np.stack([open_nodes(radius * pixel, i, camera, self.SLICES, self.CELLS) / pixel for i in types])
        centroid = self.nodes.mean(axis=2, keepdims=True)
        self.nodes_of = {
            "own": self.nodes,
            "shape of the middle": self.nodes[:, :1] + centroid,
            "points": np.ascontiguousarray(centroid),
        }
        self.area = np.stack([np.interp(radius, self.table.radius, self.table.area[i]) for i in types])
        k, l = camera.micro_images.lattice.indices()
        self.k, self.l, self.center = k.ravel(), l.ravel(), camera.micro_images.center(k, l).reshape(-1, 2)
        self.kind = camera.micro_images.lens_type(k, l).ravel()
        self.ratio = pitch_ratio(camera, lens_distances(camera, k, l)).ravel()

    def rows(self, gray: NDArray[np.float32], lens: int, v: float, variant: Variant, noise: float) -> Rows:
        pitch, ratio = self.camera.micro_images.lattice.diameter, self.ratio[lens]
        near = np.flatnonzero(np.linalg.norm(self.center - self.center[lens], axis=1) < variant.reach * pitch * 1.01)
        parts = []
        limit = self.camera.micro_images.radius - 1.5
        for j in near:
            baseline = self.center[lens] - self.center[j]
            first = np.ceil(self.center[j] - limit).astype(int)
            y, x = np.mgrid[first[1] : first[1] + 2 * limit + 1, first[0] : first[0] + 2 * limit + 1].astype(int)
            offset = np.stack([x, y], -1).reshape(-1, 2) - self.center[j]
            values = gray[y, x].ravel().astype(np.float64)
            distance = np.linalg.norm(offset, axis=1)
            kind = self.kind[j]
            area = np.interp(distance, self.table.radius, self.table.area[kind]) / self.table.area[kind, 0]
            shift = 1 / v - self.table.focus[kind]
            chief = 1 + shift * np.interp(distance, self.table.radius, self.table.centroid[kind]) / np.maximum(
                distance, 1e-6
            )
            seen = chief[:, None] * offset - baseline * (1 - ratio + ratio / v)
            use = (distance <= limit) & (area > 0.2) & np.isfinite(values)
            use &= np.linalg.norm(seen, axis=1) < variant.window
            count = int(use.sum())
            if count >= 8:
                parts.append((
                    offset[use], np.repeat(baseline[None], count, 0), values[use],
                    area[use] / noise**2, np.full(count, kind),
                ))  # fmt: skip
        return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@nb.njit(cache=True, fastmath=True)
def normal_equations(  # type: ignore[no-untyped-def]
    offset, baseline, kind, gray, weight, nodes, area, step, inverse, slope, focus, ratio, half, spacing, normal, right
):  # fmt: skip
    """Adds Hᵀ W H (lower triangle) and Hᵀ W I.

    A pixel shows the mean over rays of a bilinear picture; it has 2 × 2 Gauss points, which count by their light.
    1/v is `inverse` in the middle of the patch and changes by `slope` (2,) per px of it.
    """
    side = int(np.sqrt(len(right)) + 0.5)
    row, touched = np.zeros(len(right)), np.empty(len(right), np.int64)
    for n in range(len(offset)):
        i, total, count = kind[n], 0.0, 0
        for sub in range(4):
            x = offset[n, 0] + (0.288675 if sub % 2 else -0.288675)
            y = offset[n, 1] + (0.288675 if sub // 2 else -0.288675)
            radius = np.sqrt(x * x + y * y)
            cx, cy = x / max(radius, 1e-9), y / max(radius, 1e-9)
            entry = min(radius / step, nodes.shape[1] - 1.001)
            low = int(entry)
            part = entry - low
            light = area[i, low] + part * (area[i, low + 1] - area[i, low])
            total += light * nodes.shape[2]
            factor = 1 - ratio + ratio * inverse
            shown = (x - factor * baseline[n, 0]) * slope[0] + (y - factor * baseline[n, 1]) * slope[1] + inverse
            factor, gap = 1 - ratio + ratio * shown, shown - focus[i]
            for m in range(nodes.shape[2]):
                along = nodes[i, low, m, 0] + part * (nodes[i, low + 1, m, 0] - nodes[i, low, m, 0])
                across = nodes[i, low, m, 1] + part * (nodes[i, low + 1, m, 1] - nodes[i, low, m, 1])
                px = x + gap * (along * cx - across * cy) - factor * baseline[n, 0]
                py = y + gap * (along * cy + across * cx) - factor * baseline[n, 1]
                gx = min(max((px + half) / spacing, 0.0), side - 1.001)
                gy = min(max((py + half) / spacing, 0.0), side - 1.001)
                ix, iy = int(gx), int(gy)
                wx, wy = gx - ix, gy - iy
                for corner in range(4):
                    at = (iy + corner // 2) * side + ix + corner % 2
                    if row[at] == 0.0:
                        touched[count] = at
                        count += 1
                    row[at] += light * (wx if corner % 2 else 1 - wx) * (wy if corner // 2 else 1 - wy) + 1e-300
        for a in range(count):
            at = touched[a]
            share = weight[n] * row[at] / total**2
            right[at] += share * total * gray[n]
            for b in range(count):
                if touched[b] <= at:
                    normal[at, touched[b]] += share * row[touched[b]]
        for a in range(count):
            row[touched[a]] = 0.0


@cache
def smoothness(side: int) -> Array:
    """∇ᵀ∇ of a picture, and a trace of its values, so that it has an inverse."""
    one = np.diff(np.eye(side), axis=0)
    both = np.kron(np.eye(side), one.T @ one) + np.kron(one.T @ one, np.eye(side))
    return np.asarray(both + 1e-6 * np.eye(side**2))


class Found(NamedTuple):
    v: float
    misfit: float  # weighted mean square of the residuals


def refined(
    optics: Optics,
    gray: NDArray[np.float32],
    lens: int,
    v: float,
    noise: float,
    variant: Variant,
    slope: tuple[float, float] = (0.0, 0.0),
) -> Found:
    rows = optics.rows(gray, lens, v, variant, noise)
    widest = np.abs(1 / v - optics.table.focus).max() * optics.camera.micro_images.radius
    half = variant.window + min(widest, 5.0) + 1.0
    side = int(np.ceil(2 * half / variant.spacing)) + 1
    half = (side - 1) * variant.spacing / 2
    mean = float(np.average(rows.gray, weights=rows.weight))
    gray_rows, weight = rows.gray - mean, rows.weight
    prior = variant.weight * smoothness(side) / noise**2
    ratio, known_costs = optics.ratio[lens], dict[int, float]()
    target = float(weight @ gray_rows**2)

    def cost(number: int) -> float:
        if number not in known_costs:
            inverse = (1 + number * variant.step) / v
            normal, right = prior.copy(), np.zeros(side**2)
            normal_equations(
                rows.offset, rows.baseline, rows.kind, gray_rows, weight, optics.nodes_of[variant.spots], optics.area,
                optics.STEP, inverse, np.asarray(slope), optics.table.focus, ratio, half, variant.spacing,
                normal, right,
            )  # fmt: skip
            factor = cholesky(normal, lower=True, overwrite_a=True, check_finite=False)
            half_solved = solve_triangular(factor, right, lower=True, check_finite=False)
            known_costs[number] = target - float(half_solved @ half_solved)
            if variant.marginal:
                known_costs[number] += 2 * float(np.log(np.diag(factor)).sum())
        return known_costs[number]

    middle = 0
    for _ in range(variant.tries):
        beside = min((middle - 1, middle, middle + 1), key=cost)
        if beside == middle:
            break
        middle = beside
    else:
        return Found(np.nan, np.nan)
    low, best, high = (cost(middle + step) for step in (-1, 0, 1))
    bend, misfit = low - 2 * best + high, best / len(gray_rows)
    if bend <= 0 or variant.step * np.sqrt(2 * max(misfit, 1) / bend) > LARGEST_SIGMA:
        return Found(np.nan, misfit)
    place = middle + 0.5 * (low - high) / bend
    return Found(v / (1 + place * variant.step), misfit)


# --- tables -----------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    kind: str
    v: float
    noise: float = 0.005
    optics: str = ""
    f_number: float = 4.0  # what the estimator is told


class Errors(NamedTuple):
    """In % of v."""

    bias: float
    scatter: float
    found: float

    @classmethod
    def of(cls, errors: Array) -> Errors:
        there = errors[np.isfinite(errors)]
        return cls(float(there.mean()), float(there.std()), 100 * len(there) / max(len(errors), 1))

    def __str__(self) -> str:
        return f"{self.bias:+.2f} ({self.scatter:.2f})" + (f" {self.found:.0f} %" if self.found < 100 else "")


@cache
def default(case: Case) -> tuple[Array, Array, NDArray[np.int64], float]:
    """v and its truth for all lenses, and those that are judged."""
    camera = known(case.optics, case.f_number)
    picture = image(case.kind, case.v, case.optics, case.noise)
    found = estimate_virtual_depth(picture, camera, DepthSettings(aperture_model="per_pixel"), threads=2)
    k, l = camera.micro_images.lattice.indices()
    truth = virtual_from_metric(float(metric_from_virtual(case.v, small())), small(), k, l)
    inside = (k >= 5) & (k < COLUMNS - 5) & (l >= 5) & (l < ROWS - 5) & np.isfinite(found.virtual_depth)
    lenses = np.flatnonzero(inside)
    chosen = np.random.default_rng(1).choice(lenses, min(SAMPLE, len(lenses)), replace=False)
    return found.virtual_depth.astype(np.float64).ravel(), truth.ravel(), chosen, picture.noise


@cache
def tables(optics: str, f_number: float) -> Optics:
    return Optics(known(optics, f_number))


def compare(case: Case, variants: dict[str, Variant]) -> dict[str, Errors]:
    v, truth, lenses, _ = default(case)
    gray = image(case.kind, case.v, case.optics, case.noise).gray
    optics, found = tables(case.optics, case.f_number), {"default": v[lenses]}
    for name, variant in variants.items():
        found[name] = np.array([refined(optics, gray, int(lens), v[lens], case.noise, variant).v for lens in lenses])
    judged = np.isfinite(found[next(iter(variants))])  # the default on the same ones
    found["default"] = np.where(judged, found["default"], np.nan)
    return {name: Errors.of(100 * (values / truth[lenses] - 1)) for name, values in found.items()}


def print_table(cases: list[Case], variants: dict[str, Variant]) -> list[dict[str, Errors]]:
    names = ["default", *variants]
    rows = []
    print("\n| scene | v | noise | optics | told f/ | " + " | ".join(names) + " |", flush=True)
    print("|---" * (5 + len(names)) + "|")
    for case in cases:
        errors = compare(case, variants)
        rows.append(errors)
        head = f"| {case.kind} | {case.v:g} | {100 * case.noise:g} % | {case.optics or 'thin'} | {case.f_number:g} | "
        print(head + " | ".join(str(errors[name]) for name in names) + " |", flush=True)
    return rows


def test_edges_and_texture() -> None:
    cases = [Case(kind, v) for v in DEPTHS for kind in KINDS]
    for errors in print_table(cases, {"latent": Variant()}):
        assert abs(errors["latent"].bias) < LARGEST_BIAS


def test_much_noise() -> None:
    print_table([Case(kind, v, 0.02) for v in (6.0, 14.0) for kind in KINDS], {"latent": Variant()})


def test_real_optics() -> None:
    """The camera file has the pupil and the clear aperture; aberrations and the pixels' answer to angles it has not."""
    cases = [Case(kind, v, optics="r12-es-real") for v in DEPTHS for kind in KINDS]
    for errors in print_table(cases, {"latent": Variant()}):
        assert abs(errors["latent"].bias) < LARGEST_BIAS_OF_REAL_OPTICS


def test_which_part_of_real_optics_matters() -> None:
    parts = (
        "exit_pupil clear_aperture",
        "spherical_aberration",
        "half_angle",
        "wavelength crosstalk",
        "micro_lens_color main_lens_color",
    )
    print_table([Case("checkers", 6.0, optics=f"r12-es-real: {part}") for part in parts], {"latent": Variant()})


def test_wrong_f_number() -> None:
    cases = [Case(kind, v, f_number=number) for number in (3.6, 4.4) for v in (6.0, 14.0) for kind in KINDS]
    print_table(cases, {"latent": Variant()})


def test_variants() -> None:
    print_table([Case(kind, v) for v in (6.0, 14.0) for kind in KINDS], VARIANTS)


def test_cost() -> None:
    """CPU-seconds for a micro-image."""
    case = Case("checkers", 6.0)
    v, _, lenses, _ = default(case)
    gray, optics = image(case.kind, case.v, case.optics, case.noise).gray, tables(case.optics, case.f_number)
    for name in ("3 pitches", "1.8 pitches", "nodes 2 px"):
        start = time.process_time()
        for lens in lenses[:10]:
            refined(optics, gray, int(lens), v[lens], case.noise, VARIANTS[name])
        print(f"{name}: {(time.process_time() - start) / 10:.3f} CPU-seconds per micro-image")
