"""The internal parameters of a camera, found from white images ("params" files)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.property_tree import PropertyTree, read_tree, write_tree

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InternalParameters:
    """What white images at several f-numbers tell: the radius of a micro-image of type i is R = m / N + q_i.

    These m and q_i (mm) are the coefficients of the white images, not those of the line rho = m / v + q_i that
    gives the blur radius of a virtual depth.
    """

    white_slope: float  # m [mm]
    white_intercepts: FloatArray  # q_i [mm], (I,)
    corrected_intercepts: FloatArray  # q'_i = q_i + dc / 2 [mm], (I,)
    micro_image_pitch: float  # dc [mm]
    lens_pitch: float  # dC [mm]
    f_number: float  # N, of the main lens when shooting
    lambda_ratio: float  # D / (D + d); libpleno files do not always hold dC = lambda dc
    pixel_size: float  # "scale" [mm/px]
    kappa: float = 1.0  # blur: sigma = kappa rho

    def __post_init__(self) -> None:
        q, q_prime = np.shape(self.white_intercepts), np.shape(self.corrected_intercepts)
        if len(q) != 1 or q != q_prime:
            raise InputError(
                f"has {q_prime} values and q has {q}", field="q_prime", fix="give one of each per micro-lens type"
            )


def read_parameters(path: Path | str) -> InternalParameters:
    """Reads a "params" file."""
    return parameters_from_tree(read_tree(path))


def parameters_from_tree(tree: PropertyTree) -> InternalParameters:
    """The parameters in a "params" file.

    The number of types is the length of "q"; the key "I", which may disagree, is not read.
    """
    try:
        return InternalParameters(
            white_slope=tree.number("m"),
            white_intercepts=tree.numbers("q"),
            corrected_intercepts=tree.numbers("q_prime"),
            micro_image_pitch=_positive(tree, "dc"),
            lens_pitch=_positive(tree, "dC"),
            f_number=_positive(tree, "N"),
            lambda_ratio=_positive(tree, "lambda"),
            pixel_size=_positive(tree, "scale"),
            kappa=_positive(tree, "kappa", default=1.0),
        )
    except InputError as error:
        raise error.in_file(tree.file) from None


def write_parameters(parameters: InternalParameters, path: Path | str) -> None:
    """Writes a "params" file."""
    write_tree(parameters_content(parameters), path)


def parameters_content(parameters: InternalParameters) -> dict[str, Any]:
    """The content of a "params" file, as `write_tree` takes it."""
    return {
        "m": parameters.white_slope,
        "scale": parameters.pixel_size,
        "q": parameters.white_intercepts.tolist(),
        "q_prime": parameters.corrected_intercepts.tolist(),
        "dc": parameters.micro_image_pitch,
        "dC": parameters.lens_pitch,
        "N": parameters.f_number,
        "I": len(parameters.white_intercepts),
        "kappa": parameters.kappa,
        "lambda": parameters.lambda_ratio,
    }


def _positive(tree: PropertyTree, path: str, default: float | None = None) -> float:
    value = tree.number(path, default)
    if value <= 0:
        raise tree.error(path, f"is not positive: {value:g}", "give a number > 0")
    return value
