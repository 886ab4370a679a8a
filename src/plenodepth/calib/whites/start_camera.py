"""The camera that a calibration starts from: nominal optics, the grid of micro-images, radii in white images.

In a white image the lit disc of a micro-lens is the main lens' aperture seen through it. Its radius at f-number N is
R_i = m/N + q_i with m = F d/(2 D) and q_i = (B/2) |1 + d/D − d/f_i|, both positive here; the files of libpleno give
both a minus sign for Galilean cameras, and so does `WhiteRadius`. So m tells d/D, and q_i tells f_i; where the array
stands follows from the focus distance, taken to lie at virtual depth 2 as the authors do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.calib.whites.lattice_fit import LatticeFit
from plenodepth.camera.micro_lenses import lens_index, shrinking_from_pupil
from plenodepth.camera.model import (
    START_OF_CALIBRATION,
    Array,
    Configuration,
    MainLens,
    MicroImageArray,
    MicroLensArray,
    PlenopticCamera,
    Provenance,
    Sensor,
    WhiteRadius,
    default_type_pattern,
    require_positive,
)
from plenodepth.errors import InputError
from plenodepth.geometry import PlanarPose, Pose

FOCUS_VIRTUAL_DEPTH = 2.0  # where the main lens' image of the focus distance lies
NOMINAL_FOCUS = 2.5  # virtual depth at which the micro-lenses are sharp, where nothing is known: R12 have 2.4 … 2.8
ROUNDS = 8


@dataclass(frozen=True)
class Optics:
    """What is printed on the camera: F and h in mm (h from the sensor, inf allowed), N, pixel size in mm."""

    focal_length: float
    f_number: float
    focus_distance: float
    pixel_size: float
    width: int
    height: int
    configuration: Configuration = Configuration.GALILEAN
    bayer: str | None = None
    black_level: float = 0.0

    def __post_init__(self) -> None:
        require_positive(self.focal_length, "focal_length")
        require_positive(self.f_number, "f_number", "F/diameter")
        require_positive(self.pixel_size, "pixel_size")
        if not self.focus_distance >= 4 * self.focal_length:
            raise InputError(
                f"is {self.focus_distance:g} mm, no lens of {self.focal_length:g} mm focuses nearer than 4 F",
                field="focus_distance",
                fix="give the distance from the sensor to the object in focus",
            )
        object.__setattr__(self, "configuration", Configuration(self.configuration))


def initial_camera(
    optics: Optics,
    grid: MicroImageArray | LatticeFit,
    white_radius: WhiteRadius | None = None,
    *,
    type_count: int | None = None,
    name: str = "initial",
    notes: tuple[str, ...] = (),
) -> PlenopticCamera:
    """A camera without tilt, distortion and depth scale, whose predicted centres are those of the grid.

    `white_radius` may have the sign of either convention. Without it the micro-images are taken to touch at the
    optics' f-number, and `type_count` lens types (default: those of the grid, or none) to be alike. What was assumed
    is added to `notes` in the camera's provenance. The principal point is the middle of the image.
    """
    micro_images = _with_types(grid, type_count, white_radius)
    pitch = micro_images.lattice.diameter * optics.pixel_size
    white = white_radius
    if white is None:
        white = nominal_white_radius(optics, pitch, np.full(micro_images.type_count, pitch / 2))
        notes += (
            f"no radii in white images: micro-images are taken to touch at f/{optics.f_number:g}, "
            f"lenses to be sharp at virtual depth {NOMINAL_FOCUS:g}",
        )
    main, sensor = _distances(optics, abs(white.slope))
    camera = _placed(optics, micro_images, main, sensor, _focal_lengths(optics, white, pitch, main, sensor))
    unfocused = optics.configuration is Configuration.UNFOCUSED
    focus = "the array" if unfocused else f"virtual depth {FOCUS_VIRTUAL_DEPTH:g}"
    notes += (f"the main lens' image of the focus distance is taken to lie at {focus}",)
    sign = _sign(optics.configuration)
    signed = WhiteRadius(sign * abs(white.slope), sign * np.abs(white.intercepts)) if camera.type_count else None
    return replace(
        camera,
        name=name,
        white_radius=signed,
        provenance=Provenance(f"{START_OF_CALIBRATION}: nominal optics, grid and white images", notes),
    )


def nominal_white_radius(optics: Optics, pitch: float, radii: Array, f_number: float | None = None) -> WhiteRadius:
    """Slope and intercepts that go with radii (I,) mm at one f-number (default: that of the optics).

    One aperture does not tell m from q, so lenses are taken to be sharp at virtual depth `NOMINAL_FOCUS` in the mean
    over the types. `pitch`: of the micro-images, mm. The sign is that of libpleno.
    """
    number = optics.f_number if f_number is None else f_number
    radius = float(np.mean(radii)) if len(radii) else pitch / 2
    power = {Configuration.GALILEAN: 1.0, Configuration.KEPLERIAN: -1.0, Configuration.UNFOCUSED: 0.0}
    focus = power[optics.configuration] / NOMINAL_FOCUS  # 1 − d/f
    ratio = 0.0  # d/D; it changes the intercept by a hundredth, so that a few rounds settle it
    for _ in range(ROUNDS):
        intercept = pitch / 2 * abs(focus + ratio) / (1 + ratio)
        ratio = 2 * number / optics.focal_length * (radius - intercept)
        if not ratio > 0:
            raise InputError(
                f"of {radius / optics.pixel_size:.2f} px at f/{number:g} are too small for lenses that are sharp at "
                f"virtual depth {NOMINAL_FOCUS:g}",
                field="radii",
                fix="give white images at two f-numbers or more",
            )
    slope = ratio * optics.focal_length / 2
    sign = _sign(optics.configuration)
    return WhiteRadius(sign * slope, sign * (np.asarray(radii, dtype=np.float64) - slope / number))


def _with_types(
    grid: MicroImageArray | LatticeFit, type_count: int | None, white: WhiteRadius | None
) -> MicroImageArray:
    """The grid with as many lens types as it has already, are asked for, or have radii."""
    count = type_count if white is None else len(white.intercepts)
    if isinstance(grid, MicroImageArray) and count in (None, grid.type_count):
        return grid
    pattern = default_type_pattern(grid.lattice.arrangement, count or 0)
    return MicroImageArray(grid.lattice, grid.image_from_lattice, pattern)


def _sign(configuration: Configuration) -> float:
    """The sign of slope and intercepts in `WhiteRadius`."""
    return 1.0 if configuration is Configuration.KEPLERIAN else -1.0


def _distances(optics: Optics, slope: float) -> tuple[float, float]:
    """D and d, mm, from d/D = 2 m/F and the place of the main lens' image."""
    ratio = 2 * slope / optics.focal_length
    image = optics.focal_length
    if np.isfinite(optics.focus_distance):
        image = optics.focus_distance / 2 * (1 - np.sqrt(1 - 4 * optics.focal_length / optics.focus_distance))
    behind = {
        Configuration.GALILEAN: FOCUS_VIRTUAL_DEPTH,
        Configuration.KEPLERIAN: -FOCUS_VIRTUAL_DEPTH,
        Configuration.UNFOCUSED: 0.0,
    }
    factor = 1 + behind[optics.configuration] * ratio
    if not (ratio > 0 and factor > 0):
        raise InputError(
            f"is {slope:g} mm, which puts the sensor at {ratio:g} of the array's distance from the main lens",
            field="white_radius.slope",
        )
    main = image / factor
    return main, ratio * main


def _focal_lengths(optics: Optics, white: WhiteRadius, pitch: float, main: float, sensor: float) -> Array:
    """f_i = B d/(2 q′_i), mm, with q′_i = Δc/2 ∓ |q_i|."""
    if optics.configuration is Configuration.UNFOCUSED:
        return np.full(len(white.intercepts), sensor)
    corrected = pitch / 2 + _sign(optics.configuration) * np.abs(white.intercepts)
    if not (corrected > 0).all():
        raise InputError(
            f"are {np.abs(white.intercepts)} mm, more than half the pitch of {pitch:g} mm",
            field="white_radius.intercepts",
        )
    return np.asarray(pitch * main / (main + sensor) * sensor / (2 * corrected))


def _placed(
    optics: Optics, micro_images: MicroImageArray, main: float, sensor: float, focal_lengths: Array
) -> PlenopticCamera:
    """The camera whose lens array projects to the grid through the main lens' centre.

    The lens array is the grid turned by half a turn and shrunk by λ towards the main lens, so that its angle is the
    grid's, and one lens fixes its translation.
    """
    lattice, pose = micro_images.lattice, micro_images.image_from_lattice
    pixel = optics.pixel_size
    corner = -np.array([optics.width - 1, optics.height - 1]) / 2 * pixel
    image_sensor = Sensor(
        optics.width, optics.height, pixel, np.array([*corner, -(main + sensor)]), optics.bayer, optics.black_level
    )
    shrink = float(shrinking_from_pupil(main, sensor))
    pitch = shrink * pixel * lattice.pitch
    first = shrink * image_sensor.metric_from_image(pose(lattice.node(0, 0)))
    in_array = lattice.half_turned().unit_node(*lens_index(lattice, 0, 0)) * pitch
    turn = PlanarPose(pose.angle, np.zeros(2))
    translation = np.array([*(first - turn(in_array)), -main])
    return PlenopticCamera(
        name="",
        sensor=image_sensor,
        main_lens=MainLens(optics.focal_length, optics.f_number),
        micro_images=micro_images,
        micro_lenses=MicroLensArray(pitch, Pose.from_rotation_vector([0, 0, pose.angle], translation), focal_lengths),
        focus_distance=optics.focus_distance,
    )
