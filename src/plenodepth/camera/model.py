"""The parts of a plenoptic camera, as the paper names them. Plain values; the optics are in the modules beside.

Frame: origin at the main-lens centre, z towards the scene, x right and y down as seen in the image. The micro-lens
array and the sensor lie at negative z. Units: mm, pixels, rad.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.raw_format import bayer_pattern, require_black_level
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose, Pose

Array = NDArray[np.float64]
ApertureModel = Literal["off", "slope", "per_pixel"]  # how the aperture's effect on depth is undone, see depth.layers
# By which κ was found: a Gaussian (libpleno's, and so the paper's), or that of depth estimation (`calibrate kappa`).
BlurOperator = Literal["gaussian", "depth"]
Indices = NDArray[np.int64]

LARGEST_CLEAR_APERTURE = 1.2  # of the pitch: square lenses reach into the corners of their cells, round ones touch at 1


class Configuration(StrEnum):
    """Where the main lens' image lies: behind the micro-lenses, in front of them, or (focal length = d) unfocused."""

    GALILEAN = "galilean"
    KEPLERIAN = "keplerian"
    UNFOCUSED = "unfocused"


def require_positive(value: float | None, name: str, unit: str = "mm") -> None:
    """Refuse a number that is not finite and > 0."""
    if value is None or not np.isfinite(value) or value <= 0:
        raise InputError(f"is {value}, needs a number > 0", field=name, fix=f"give it in {unit}")


def frozen_vector(values: ArrayLike, size: int | None, name: str) -> Array:
    """A read-only copy of finite numbers, (size,)."""
    vector = np.array(values, dtype=np.float64)
    if vector.ndim != 1 or (size is not None and vector.shape != (size,)):
        raise InputError(f"has shape {vector.shape}, needs {size or 'a list of'} numbers", field=name)
    if not np.isfinite(vector).all():
        raise InputError("holds a number that is not finite", field=name)
    vector.flags.writeable = False
    return vector


@dataclass(frozen=True, eq=False)
class Sensor:
    """width × height pixels of `pixel_size` mm; `position` (3,) mm: its corner in the camera frame (t_s).

    `bayer` names the colour filters of its raw images, None where they are gray or already in colour. `black_level`
    is the number that a raw image holds without light, as a part of its full scale.
    """

    width: int
    height: int
    pixel_size: float
    position: Array
    bayer: str | None = None
    black_level: float = 0.0

    def __post_init__(self) -> None:
        require_image_size(self.width, self.height, "sensor")
        require_positive(self.pixel_size, "sensor.pixel_size")
        object.__setattr__(self, "position", frozen_vector(self.position, 3, "sensor.position"))
        if self.position[2] >= 0:
            raise InputError(
                f"has z = {self.position[2]:g}, the sensor lies behind the main lens",
                field="sensor.position",
                fix="give z < 0",
            )
        if self.bayer is not None:
            object.__setattr__(self, "bayer", bayer_pattern(self.bayer, "sensor.bayer"))
        object.__setattr__(self, "black_level", require_black_level(self.black_level, "sensor.black_level"))

    @property
    def principal_point(self) -> Array:
        """(u0, v0), px: where the optical axis meets the image."""
        return np.array([self.width - 1, self.height - 1]) + self.position[:2] / self.pixel_size

    def image_from_metric(self, xy: ArrayLike) -> Array:
        """Camera-frame x, y (..., 2) in mm on the sensor → (u, v) px. The image is the sensor turned by 180°."""
        corner = np.array([self.width - 1, self.height - 1], dtype=np.float64)
        return corner - (np.asarray(xy, dtype=np.float64) - self.position[:2]) / self.pixel_size

    def metric_from_image(self, uv: ArrayLike) -> Array:
        """(u, v) px (..., 2) → camera-frame x, y in mm on the sensor."""
        corner = np.array([self.width - 1, self.height - 1], dtype=np.float64)
        return (corner - np.asarray(uv, dtype=np.float64)) * self.pixel_size + self.position[:2]

    def contains(self, uv: ArrayLike) -> NDArray[np.bool_]:
        """Whether (u, v) (..., 2) falls on a pixel (pixel centres are integers)."""
        p = np.asarray(uv, dtype=np.float64)
        inside = (p >= -0.5) & (p < np.array([self.width, self.height]) - 0.5)
        return inside[..., 0] & inside[..., 1]


def require_image_size(width: int, height: int, name: str) -> None:
    """Refuse an empty image."""
    if width < 1 or height < 1:
        raise InputError(f"is {width} × {height} px, needs at least one pixel", field=f"{name}.width, {name}.height")


@dataclass(frozen=True)
class ExitPupil:
    """The stop that clips the light of the main lens, as the sensor sees it.

    `distance` e mm from the thin main lens towards the sensor (negative: on the scene's side). `diameter` mm at the
    lens' f-number, at another one in proportion; None: (F − e)/N, the width there of the light that a lens of that
    f-number sends to its focus. `offset` mm of its middle from the optical axis, along x and y of the camera frame.
    """

    distance: float = 0.0
    diameter: float | None = None
    offset: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not np.isfinite(self.distance):
            raise InputError(f"is {self.distance}, needs a finite number", field="main_lens.exit_pupil.distance")
        if self.diameter is not None:
            require_positive(self.diameter, "main_lens.exit_pupil.diameter")
        x, y = frozen_vector(self.offset, 2, "main_lens.exit_pupil.offset").tolist()
        object.__setattr__(self, "offset", (x, y))


@dataclass(frozen=True)
class MainLens:
    """Thin lens of `focal_length` F mm at `f_number` N (None when unknown).

    Without an `exit_pupil` its own rim, F/N wide, clips the light.
    """

    focal_length: float
    f_number: float | None = None
    exit_pupil: ExitPupil | None = None

    def __post_init__(self) -> None:
        require_positive(self.focal_length, "main_lens.focal_length")
        if self.f_number is not None:
            require_positive(self.f_number, "main_lens.f_number", "F/diameter")
        elif self.exit_pupil is not None and self.exit_pupil.diameter is not None:
            raise InputError(
                "is given for an unknown f-number",
                field="main_lens.exit_pupil.diameter",
                fix="add main_lens.f_number",
            )

    @property
    def pupil_distance(self) -> float:
        """e, mm from the thin lens to its exit pupil, towards the sensor."""
        return 0.0 if self.exit_pupil is None else self.exit_pupil.distance

    @property
    def pupil_center(self) -> Array:
        """The middle of the exit pupil, (3,) mm in the camera frame."""
        return (
            np.zeros(3) if self.exit_pupil is None else np.array([*self.exit_pupil.offset, -self.exit_pupil.distance])
        )

    @property
    def aperture_diameter(self) -> float | None:
        """A, mm, of the exit pupil: its own, or (F − e)/N, which is F/N in the thin lens; None without an f-number."""
        if self.f_number is None:
            return None
        own = None if self.exit_pupil is None else self.exit_pupil.diameter
        return (self.focal_length - self.pupil_distance) / self.f_number if own is None else own


@dataclass(frozen=True, eq=False)
class MicroImageArray:
    """The micro-images as a lattice in the image (the paper's MIA), and which lens type stands behind each.

    `lattice` has its pitch in px; `image_from_lattice` places it; `type_pattern` (P, Q) is the period of lens
    types over rows and columns: micro-image (k, l) has type `type_pattern[l % P, k % Q]`. Types count from 0; an
    array of pinholes has none (an empty pattern, type −1).
    """

    lattice: Lattice
    image_from_lattice: PlanarPose
    type_pattern: Indices

    def __post_init__(self) -> None:
        pattern = np.array(self.type_pattern, dtype=np.int64)
        if pattern.size == 0:
            pattern = np.zeros((0, 0), dtype=np.int64)
        elif pattern.ndim != 2 or not np.array_equal(np.unique(pattern), np.arange(len(np.unique(pattern)))):
            raise InputError("needs a table of types 0, 1, … with none left out", field="micro_images.type_pattern")
        pattern.flags.writeable = False
        object.__setattr__(self, "type_pattern", pattern)

    @property
    def type_count(self) -> int:
        """I, the number of lens types (0 for pinholes)."""
        return int(self.type_pattern.max()) + 1 if self.type_pattern.size else 0

    @property
    def radius(self) -> float:
        """Radius of a micro-image, px: half the pitch."""
        return self.lattice.diameter / 2

    def center(self, k: ArrayLike, l: ArrayLike) -> Array:
        """Centre c_kl (..., 2) in px of micro-image (k, l)."""
        return self.image_from_lattice(self.lattice.node(k, l))

    def lens_type(self, k: ArrayLike, l: ArrayLike) -> Indices:
        """Type 0 … I−1 of the lens behind micro-image (k, l); −1 for pinholes."""
        k, l = np.broadcast_arrays(np.asarray(k), np.asarray(l))
        if not self.type_pattern.size:
            return np.full(k.shape, -1, dtype=np.int64)
        rows, columns = self.type_pattern.shape
        types: Indices = self.type_pattern[l % rows, k % columns]
        return types

    def owner(self, uv: ArrayLike) -> tuple[Indices, Indices]:
        """Indices k, l of the micro-image whose centre is nearest to each pixel (..., 2); −1, −1 beyond the array."""
        k, l = self.lattice.nearest(self.image_from_lattice.inverse()(uv))
        outside = ~self.lattice.contains(k, l)
        return np.where(outside, -1, k), np.where(outside, -1, l)


def default_type_pattern(arrangement: Arrangement, type_count: int) -> Indices:
    """The layout of Raytrix arrays: ((l mod (I−1)) + k) mod I over rows l, with k and l exchanged off row-aligned."""
    if type_count < 2:
        return np.zeros((type_count, type_count), dtype=np.int64)
    pattern = np.add.outer(np.arange(type_count - 1), np.arange(type_count)) % type_count
    return pattern if arrangement is Arrangement.HEXAGONAL_ROWS else pattern.T


@dataclass(frozen=True, eq=False)
class MicroLensArray:
    """Pitch (2,) mm, pose and focal lengths (I,) mm of the micro-lenses (the paper's MLA).

    The lattice is that of the micro-images, turned by 180°: see `lens_index`. `clear_aperture` is the diameter of what
    lets light through of a lens, as a part of the pitch; None: nobody has measured it, and lenses are taken to touch.
    """

    pitch: Array
    cam_from_mla: Pose
    focal_lengths: Array
    clear_aperture: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", frozen_vector(self.pitch, 2, "micro_lenses.pitch"))
        object.__setattr__(self, "focal_lengths", frozen_vector(self.focal_lengths, None, "micro_lenses.focal_lengths"))
        for index, value in enumerate(self.pitch):
            require_positive(value, f"micro_lenses.pitch.{index}")
        for index, value in enumerate(self.focal_lengths):
            require_positive(value, f"micro_lenses.focal_lengths.{index}")
        if self.clear_aperture is not None and not 0 < self.clear_aperture <= LARGEST_CLEAR_APERTURE:
            raise InputError(
                f"is {self.clear_aperture}, needs a number in (0, {LARGEST_CLEAR_APERTURE:g}]",
                field="micro_lenses.clear_aperture",
                fix="give it as a part of the pitch",
            )

    @property
    def lens_diameter(self) -> float:
        """B, mm, of what lets light through of a lens: the mean pitch, or as much of it as the clear aperture says."""
        pitch = float(self.pitch.mean())
        return pitch if self.clear_aperture is None else self.clear_aperture * pitch


@dataclass(frozen=True, eq=False)
class Distortion:
    """Lateral distortion of the image-side point: radial Q (3,), in mm⁻², mm⁻⁴, mm⁻⁶, tangential P (2,) in mm⁻¹."""

    radial: Array = field(default_factory=lambda: np.zeros(3))
    tangential: Array = field(default_factory=lambda: np.zeros(2))

    def __post_init__(self) -> None:
        object.__setattr__(self, "radial", frozen_vector(self.radial, 3, "distortion.radial"))
        object.__setattr__(self, "tangential", frozen_vector(self.tangential, 2, "distortion.tangential"))

    @property
    def coefficients(self) -> Array:
        """(Q1, Q2, Q3, P1, P2)."""
        return np.concatenate([self.radial, self.tangential])

    @classmethod
    def from_coefficients(cls, coefficients: ArrayLike) -> Distortion:
        """A distortion with the coefficients (Q1, Q2, Q3, P1, P2)."""
        c = frozen_vector(coefficients, 5, "distortion")
        return cls(c[:3], c[3:])


@dataclass(frozen=True, eq=False)
class WhiteRadius:
    """Radius of the micro-images in a white image at f-number N: R_i = slope/N + intercepts[i], mm (m and q_i)."""

    slope: float
    intercepts: Array  # (I,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercepts", frozen_vector(self.intercepts, None, "white_radius.intercepts"))
        if not np.isfinite(self.slope):
            raise InputError("is not finite", field="white_radius.slope")


START_OF_CALIBRATION = "start of a calibration"  # how the source of a camera with nominal optics begins


@dataclass(frozen=True, eq=False)
class Provenance:
    """Where a camera came from: free text, residuals, covariance of its parameters, fields of a foreign file.

    `aperture_aware`: whether its calibration regarded the main lens' aperture; if not, F, D and d hold part of the
    aperture's effect. None: it was not calibrated from images, and its numbers are taken for the optics themselves.
    """

    source: str = ""
    notes: tuple[str, ...] = ()
    residuals: Mapping[str, float] = field(default_factory=dict)
    covariance_parameters: tuple[str, ...] = ()
    covariance: Array | None = None
    foreign: Mapping[str, Any] = field(default_factory=dict)
    aperture_aware: bool | None = None

    @property
    def is_start(self) -> bool:
        """Whether the optics are nominal: what a calibration starts from."""
        return self.source.startswith(START_OF_CALIBRATION)

    def __post_init__(self) -> None:
        if self.covariance is None:
            return
        covariance = np.array(self.covariance, dtype=np.float64)
        n = len(self.covariance_parameters)
        if covariance.shape != (n, n) or not np.isfinite(covariance).all():
            raise InputError(
                f"has shape {covariance.shape}, needs {n} × {n} finite numbers", field="provenance.covariance"
            )
        if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0):
            raise InputError("is not symmetric", field="provenance.covariance")
        covariance.flags.writeable = False
        object.__setattr__(self, "covariance", covariance)


@dataclass(frozen=True, eq=False)
class GridCamera:
    """What a grid file knows: the micro-images, no optics. Enough for virtual depth, not for millimetres.

    `configuration` gives the sign of virtual depth: where it is Keplerian, v < 0, and content moves along with the
    micro-images; where it is Galilean, v > 0, and content moves against them. None: unknown, taken as Galilean.
    """

    name: str
    width: int
    height: int
    micro_images: MicroImageArray
    virtual_depth_ranges: Array  # (I, 2): the range in which each lens type is said to be sharp; (0, 2): unknown
    provenance: Provenance = field(default_factory=Provenance)
    configuration: Configuration | None = None

    def __post_init__(self) -> None:
        require_image_size(self.width, self.height, "image")
        require_matching_lens_count(self.micro_images, self.width, self.height)
        ranges = np.array(self.virtual_depth_ranges, dtype=np.float64).reshape(-1, 2)
        types = self.micro_images.type_count
        if ranges.shape[0] not in (0, types) or not (ranges[:, 0] < ranges[:, 1]).all():
            raise InputError(f"needs {types} pairs (min, max) with min < max, or none", field="virtual_depth_ranges")
        object.__setattr__(self, "virtual_depth_ranges", ranges)
        if self.configuration is not None:
            object.__setattr__(self, "configuration", Configuration(self.configuration))


@dataclass(frozen=True, eq=False)
class PlenopticCamera:
    """The blur-aware plenoptic camera: main lens, micro-lens array, sensor, distortion, blur and depth scale."""

    name: str
    sensor: Sensor
    main_lens: MainLens
    micro_images: MicroImageArray
    micro_lenses: MicroLensArray
    distortion: Distortion = field(default_factory=Distortion)
    inverse_distortion: Distortion | None = None  # calibrated φ⁻¹; None: invert φ exactly instead
    depth_scale: Array | None = None  # (γ0, γ1, γ2) of Γ(z) = γ0 + γ1 z + γ2 z²; None: not calibrated, Γ(z) = z
    depth_scale_model: ApertureModel = "off"  # what the depths that Γ was fitted to had been corrected for already
    blur_coefficient: float | None = None  # κ, σ = κ ρ
    blur_operator: BlurOperator = "gaussian"  # what κ was found with; depth estimation takes its own alone
    focus_distance: float | None = None  # h, mm, measured from the sensor; inf is allowed
    white_radius: WhiteRadius | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        lens_types, pattern_types = len(self.micro_lenses.focal_lengths), self.micro_images.type_count
        if lens_types != pattern_types:
            raise InputError(
                f"lists {lens_types} focal lengths, the type pattern has {pattern_types} types",
                field="micro_lenses.focal_lengths",
            )
        if self.depth_scale is not None:
            object.__setattr__(self, "depth_scale", frozen_vector(self.depth_scale, 3, "depth_scale"))
        if self.depth_scale_model not in get_args(ApertureModel):
            raise InputError(
                f"is '{self.depth_scale_model}'",
                field="depth_scale_model",
                fix=f"give one of {', '.join(get_args(ApertureModel))}",
            )
        if self.blur_operator not in get_args(BlurOperator):
            raise InputError(
                f"is '{self.blur_operator}'",
                field="blur_operator",
                fix=f"give one of {', '.join(get_args(BlurOperator))}",
            )
        if self.blur_coefficient is not None:
            require_positive(self.blur_coefficient, "blur_coefficient", "σ per ρ")
        if self.focus_distance is not None and not self.focus_distance > 0:
            raise InputError(f"is {self.focus_distance}, needs a number > 0", field="focus_distance")
        if self.white_radius is not None and len(self.white_radius.intercepts) != self.type_count:
            raise InputError(f"needs {self.type_count} numbers, one per lens type", field="white_radius.intercepts")
        require_matching_lens_count(self.micro_images, self.sensor.width, self.sensor.height)
        to_array = -float(self.micro_lenses.cam_from_mla.translation[2])
        if self.main_lens.exit_pupil is not None and 0 < to_array <= self.main_lens.pupil_distance:
            raise InputError(
                f"is {self.main_lens.pupil_distance:g} mm, not before the lens array at {to_array:g} mm",
                field="main_lens.exit_pupil.distance",
            )

    @property
    def type_count(self) -> int:
        """I, the number of lens types; 0 means pinholes (no blur)."""
        return self.micro_images.type_count


def image_size(camera: PlenopticCamera | GridCamera) -> tuple[int, int]:
    """Width and height, px, of a camera's images."""
    place = camera.sensor if isinstance(camera, PlenopticCamera) else camera
    return place.width, place.height


def require_matching_lens_count(micro_images: MicroImageArray, width: int, height: int) -> None:
    """Refuse a lattice that is far larger or smaller than the image: the lens counts or the pitch are wrong."""
    lattice = micro_images.lattice
    corners = micro_images.center([0, lattice.columns - 1, 0, lattice.columns - 1], [0, 0, *[lattice.rows - 1] * 2])
    size = np.array([width, height])
    slack = 3 * lattice.diameter + 0.1 * size  # arrays overhang the sensor by a lens or two, or leave a dark border
    first, last = corners.min(axis=0), corners.max(axis=0)
    fits = (np.abs(first) <= slack).all() and (np.abs(last - size) <= slack).all()
    if not fits or lattice.diameter > size.max():
        raise InputError(
            f"{lattice.columns} × {lattice.rows} lenses cover ({first[0]:.0f}, {first[1]:.0f}) … "
            f"({last[0]:.0f}, {last[1]:.0f}) px, which does not match the sensor of {width} × {height} px",
            field="micro_images.columns, micro_images.rows",
            fix="correct the lens counts, the pitch or the sensor size",
        )
