"""Cameras in libpleno's files: import, and export that gives back every field of an imported file.

What such a file holds beyond our model (keys nobody reads, values that its writer computed) is kept in the camera's
provenance under `foreign`, together with the names of the fields that it did *not* hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from plenodepth.camera.depth import infinity_virtual_depth, metric_from_virtual, scaled_depth
from plenodepth.camera.files import extra_fields as foreign
from plenodepth.camera.files.consistency import disagreement, require_lenses_before_sensor
from plenodepth.camera.micro_lenses import configuration, lens_distances, pitch_ratio
from plenodepth.camera.model import (
    Configuration,
    Distortion,
    ExitPupil,
    MainLens,
    MicroImageArray,
    MicroLensArray,
    PlenopticCamera,
    Provenance,
    Sensor,
    WhiteRadius,
    default_type_pattern,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose, Pose
from plenodepth.geometry.pose import ORTHONORMAL_TOLERANCE
from plenodepth.io import (
    InternalParameters,
    PropertyTree,
    as_column,
    as_columns,
    parameters_content,
    parameters_from_tree,
    read_pose,
)

GEOMETRIES = (Arrangement.ORTHOGONAL, Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS)
MODES = (Configuration.UNFOCUSED, Configuration.KEPLERIAN, Configuration.GALILEAN)
INFINITE_FOCUS = 1e8  # how the format writes a focus at infinity, mm
CAMERA, PARAMETERS = "libpleno_camera", "libpleno_parameters"  # keys in the provenance's `foreign`
# What the model calls a field, and what the file does.
THEIR_NAMES = {
    "main_lens.focal_length": "main_lens.f",
    "main_lens.f_number": "main_lens.aperture",
    "sensor.pixel_size": "sensor.scale",
    "sensor.position": "sensor.pose.translation",
    "micro_lenses.focal_lengths": "mla.focal_lengths",
    "micro_lenses.pitch": "mla.mesh.pitch",
    "micro_lenses.translation": "mla.mesh.pose.translation",
    "micro_images.columns, micro_images.rows": "mia.mesh.width, mia.mesh.height",
    "focus_distance": "dist_focus",
    "pose": "mla.mesh.pose",
    "columns": "width",
    "rows": "height",
}


def camera_from_libpleno(
    tree: PropertyTree, parameters: PropertyTree | None = None, name: str = "libpleno"
) -> PlenopticCamera:
    """The camera of a libpleno camera file, with κ and the white-image radii of a parameter file when given."""
    try:
        camera = _imported(tree, name)
        camera = _with_foreign(camera, CAMERA, tree)
    except InputError as error:
        raise error.in_file(tree.file) from None
    return camera if parameters is None else with_parameters(camera, parameters)


def _imported(tree: PropertyTree, name: str) -> PlenopticCamera:
    if not tree.has("mla.mesh.pose"):
        raise tree.error(
            "mla.mesh.pose",
            "is missing: this is a starting camera without micro-lens array, which cannot project anything yet",
            "calibrate it first",
        )
    for field in ("sensor.pose.rotation", "main_lens.pose.rotation"):
        if tree.has(field) and np.abs(tree.matrix(field, 3, 3) - np.eye(3)).max() > 1e-9:
            raise tree.error(field, "is not the identity, which this model has no place for")
    for distortion in ("distortions", "distortions_inverse"):
        if tree.integer(f"{distortion}.model", 0) != 0:
            raise tree.error(f"{distortion}.model", "is a depth distortion, which this model has no place for", "use 0")
    grid, lenses = _lattice(tree, "mia.mesh"), _lattice(tree, "mla.mesh")
    if (grid.arrangement, grid.columns, grid.rows) != (lenses.arrangement, lenses.columns, lenses.rows):
        raise tree.error("mla.mesh", "differs from mia.mesh in geometry, width or height")
    focal_lengths = tree.numbers("mla.focal_lengths") if tree.has("mla.focal_lengths") else np.zeros(0)
    focus = tree.number("dist_focus", INFINITE_FOCUS)
    try:
        camera = PlenopticCamera(
            name=name,
            sensor=Sensor(
                tree.integer("sensor.width"),
                tree.integer("sensor.height"),
                tree.number("sensor.scale"),
                tree.vector("sensor.pose.translation", 3),
            ),
            main_lens=MainLens(tree.number("main_lens.f"), tree.number("main_lens.aperture")),
            micro_images=MicroImageArray(
                grid,
                PlanarPose(_planar_angle(tree), tree.vector("mia.mesh.pose.translation", 2)),
                default_type_pattern(grid.arrangement, len(focal_lengths)),
            ),
            micro_lenses=MicroLensArray(
                lenses.pitch,
                Pose(*read_pose(tree, "mla.mesh.pose", required=False)),
                focal_lengths,
            ),
            distortion=_distortion(tree, "distortions") or Distortion(),
            inverse_distortion=_distortion(tree, "distortions_inverse"),
            depth_scale=(np.array([tree.number(f"scaling.{key}") for key in "cba"]) if tree.has("scaling") else None),
            focus_distance=np.inf if focus >= INFINITE_FOCUS else focus,
            provenance=Provenance(f"imported from the libpleno file {name}", aperture_aware=False),
        )
        require_lenses_before_sensor(camera)
    except InputError as error:
        raise _in_their_words(error, tree) from None
    distance = disagreement(camera)
    if not distance <= camera.micro_images.radius / 2:
        raise tree.error(
            "mla.mesh", f"puts micro-image centres {distance:.1f} px away from those of mia.mesh", "they must agree"
        )
    return camera


def _in_their_words(error: InputError, tree: PropertyTree, path: str = "") -> InputError:
    """The error of the model as one of the file's object at `path`; errors of the file pass."""
    if error.file is not None:
        return error
    field = error.field or ""
    ours = next((name for name in THEIR_NAMES if field == name or field.startswith(f"{name}.")), field)
    return tree.error(path + THEIR_NAMES.get(ours, ours) + field.removeprefix(ours), error.message, error.fix)


def _lattice(tree: PropertyTree, path: str) -> Lattice:
    code = tree.integer(f"{path}.geometry")
    if code not in range(len(GEOMETRIES)):
        raise tree.error(f"{path}.geometry", f"is {code}", "0 orthogonal, 1 hexagonal rows, 2 hexagonal columns")
    columns, rows = tree.integer(f"{path}.width"), tree.integer(f"{path}.height")
    try:
        return Lattice(GEOMETRIES[code], columns, rows, tree.vector(f"{path}.pitch", 2))
    except InputError as error:
        raise _in_their_words(error, tree, f"{path}.") from None


def _planar_angle(tree: PropertyTree) -> float:
    path = "mia.mesh.pose.rotation"
    rotation = tree.matrix(path, 2, 2) if tree.has(path) else np.eye(2)
    orthonormal = np.abs(rotation @ rotation.T - np.eye(2)).max() <= ORTHONORMAL_TOLERANCE  # a NaN is not
    if not (orthonormal and np.linalg.det(rotation) > 0):
        raise tree.error(path, "is singular or not a rotation")
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def _distortion(tree: PropertyTree, path: str) -> Distortion | None:
    """None when absent, and for the zeros that stand for an inverse nobody has calibrated."""
    if not tree.has(path):
        return None
    distortion = Distortion(tree.vector(f"{path}.radial", 3), tree.vector(f"{path}.tangential", 2))
    return distortion if distortion.coefficients.any() else None


def with_parameters(camera: PlenopticCamera, tree: PropertyTree) -> PlenopticCamera:
    """The camera with κ and the white-image radii of libpleno's parameter file."""
    parameters = parameters_from_tree(tree)
    count = len(parameters.white_intercepts)
    if camera.type_count and count != camera.type_count:
        raise tree.error("q", f"has {count} numbers, the camera has {camera.type_count} lens types")
    white = WhiteRadius(parameters.white_slope, parameters.white_intercepts) if camera.type_count else None
    camera = replace(camera, blur_coefficient=parameters.kappa, blur_operator="gaussian", white_radius=white)
    return _with_foreign(camera, PARAMETERS, tree)


def parameters_of_camera(camera: PlenopticCamera) -> dict[str, Any]:
    """The content of the libpleno parameter file of a camera; fields of an imported one are given back."""
    now = parameters_content(_parameters(camera))
    original, kept = _original(camera), camera.provenance.foreign.get(PARAMETERS)
    if original is None or kept is None:
        return now
    content: dict[str, Any] = foreign.merged(kept, parameters_content(_parameters(original)), now)
    return content


def _parameters(camera: PlenopticCamera) -> InternalParameters:
    for field, value in (("white_radius", camera.white_radius), ("main_lens.f_number", camera.main_lens.f_number)):
        if value is None:
            raise InputError(f"libpleno's parameter file needs it, camera '{camera.name}' has none", field=field)
    assert camera.white_radius is not None
    assert camera.main_lens.f_number is not None
    pitch = camera.sensor.pixel_size * camera.micro_images.lattice.diameter
    ratio = float(pitch_ratio(camera))
    return InternalParameters(
        white_slope=camera.white_radius.slope,
        white_intercepts=camera.white_radius.intercepts,
        corrected_intercepts=camera.white_radius.intercepts + pitch / 2,
        micro_image_pitch=pitch,
        lens_pitch=ratio * pitch,
        f_number=camera.main_lens.f_number,
        kappa=1.0 if camera.blur_coefficient is None else camera.blur_coefficient,
        lambda_ratio=ratio,
        pixel_size=camera.sensor.pixel_size,
    )


def libpleno_from_camera(camera: PlenopticCamera) -> dict[str, Any]:
    """The content of the libpleno camera file of a camera; fields of an imported one are given back."""
    now, original = _exported(camera), _original(camera)
    if original is None:
        return now
    content: dict[str, Any] = foreign.merged(camera.provenance.foreign[CAMERA], _exported(original), now)
    return content


def lost_in_libpleno(camera: PlenopticCamera) -> tuple[str, ...]:
    """What libpleno's files cannot hold of a camera, in words; empty where they hold all that differs from theirs."""
    pupil, clear, lost = camera.main_lens.exit_pupil, camera.micro_lenses.clear_aperture, list[str]()
    thin = ExitPupil(0.0, replace(camera.main_lens, exit_pupil=None).aperture_diameter)
    if pupil is not None and pupil not in (ExitPupil(), thin):
        lost.append("the exit pupil: the main lens is a thin one there, and white centres spread from its middle")
    if clear not in (None, 1.0):
        lost.append("the clear aperture of the micro-lenses: they are as wide as their pitch there")
    if camera.depth_scale is not None and camera.depth_scale_model != "off":
        lost.append(f"that the depth scale Γ is for aperture model {camera.depth_scale_model}: it is for off there")
    return tuple(lost)


def _original(camera: PlenopticCamera) -> PlenopticCamera | None:
    """The camera as it was imported, or None when it came from elsewhere."""
    kept = camera.provenance.foreign
    if CAMERA not in kept:
        return None
    trees = {key: PropertyTree("", kept[key], f"provenance.foreign.{key}") for key in kept}
    return camera_from_libpleno(trees[CAMERA], trees.get(PARAMETERS))


def _exported(camera: PlenopticCamera) -> dict[str, Any]:
    lattice = camera.micro_images.lattice
    default_parity = Lattice(lattice.arrangement, lattice.columns, lattice.rows, lattice.pitch).shifted_parity
    default_pattern = default_type_pattern(lattice.arrangement, camera.type_count)
    if lattice.shifted_parity != default_parity or lattice.half_turned().shifted_parity != default_parity:
        raise InputError(
            "libpleno's format has even rows (odd columns) shifted in the image and in the lens array",
            field="micro_images.shifted_parity",
        )
    if not np.array_equal(camera.micro_images.type_pattern, default_pattern):
        raise InputError("libpleno's format knows one layout of lens types only", field="micro_images.type_pattern")
    if camera.main_lens.f_number is None:
        raise InputError("libpleno's format needs the f-number", field="main_lens.f_number")
    mesh = {"geometry": GEOMETRIES.index(lattice.arrangement), "height": lattice.rows, "width": lattice.columns}
    mla, mia = camera.micro_lenses.cam_from_mla, camera.micro_images.image_from_lattice
    focus = camera.focus_distance
    content: dict[str, Any] = {
        "I": camera.type_count,
        "dist_focus": INFINITE_FOCUS if focus is None or np.isinf(focus) else focus,
        "distortions": _distortion_content(camera.distortion),
        "main_lens": {
            "aperture": camera.main_lens.f_number,
            "diameter": camera.main_lens.focal_length / camera.main_lens.f_number,
            "f": camera.main_lens.focal_length,
            "pose": {"rotation": as_columns(np.eye(3)), "translation": as_column(np.zeros(3))},
        },
        "mia": {
            "mesh": {
                **mesh,
                "pitch": as_column(lattice.pitch),
                "pose": {"rotation": as_columns(mia.rotation), "translation": as_column(mia.translation)},
            }
        },
        "mla": {
            "focal_lengths": camera.micro_lenses.focal_lengths.tolist(),
            "mesh": {
                **mesh,
                "pitch": as_column(camera.micro_lenses.pitch),
                "pose": {"rotation": as_columns(mla.rotation), "translation": as_column(mla.translation)},
            },
        },
        **_mode(camera),
        "sensor": {
            "height": camera.sensor.height,
            "pose": {"rotation": as_columns(np.eye(3)), "translation": as_column(camera.sensor.position)},
            "scale": camera.sensor.pixel_size,
            "width": camera.sensor.width,
        },
        **_computed(camera),
    }
    if camera.inverse_distortion is not None:
        content["distortions_inverse"] = _distortion_content(camera.inverse_distortion)
    if camera.depth_scale is not None:
        content["scaling"] = dict(zip("cba", camera.depth_scale.tolist(), strict=True))
    return content


def _mode(camera: PlenopticCamera) -> dict[str, Any]:
    try:
        return {"mode": MODES.index(configuration(camera))}
    except InputError:  # pinholes, whose configuration would follow from a focus distance that no lens can have
        return {}


def _distortion_content(distortion: Distortion) -> dict[str, Any]:
    return {
        "depth": as_column(np.zeros(3)),
        "model": 0,
        "radial": as_column(distortion.radial),
        "tangential": as_column(distortion.tangential),
    }


def _computed(camera: PlenopticCamera) -> dict[str, Any]:
    """What libpleno's programs write for information and never read, of the lens array's corner node (0, 0)."""
    lattice = camera.micro_images.lattice
    k, l = lattice.columns - 1, lattice.rows - 1
    main, sensor = lens_distances(camera, k, l)
    fields: dict[str, Any] = {
        "D": float(main),
        "d": float(sensor),
        "pp": as_column(camera.sensor.principal_point),
        "Rxyz": as_column(camera.micro_lenses.cam_from_mla.euler_xyz()),
    }
    with np.errstate(divide="ignore"):
        focus = 1 / (1 - sensor / camera.micro_lenses.focal_lengths)
    if camera.type_count and (focus > infinity_virtual_depth(camera, k, l)).all() and np.isfinite(focus).all():
        # Scaled twice: once here and once inside; libpleno's programs do so, and nobody reads the field back.
        fields["focal_planes"] = scaled_depth(metric_from_virtual(focus, camera, k, l), camera).tolist()
    return fields


def _with_foreign(camera: PlenopticCamera, key: str, tree: PropertyTree) -> PlenopticCamera:
    fields = {**camera.provenance.foreign, key: foreign.as_text(tree.content)}
    return replace(camera, provenance=replace(camera.provenance, foreign=fields))
