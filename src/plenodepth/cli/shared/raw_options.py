"""The options of commands that read raw images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.camera import GridCamera, PlenopticCamera, load_camera
from plenodepth.cli.shared.common import ImageSizeOption, ParametersOption, parse_image_size

if TYPE_CHECKING:
    from plenodepth.raw import RawImage


@dataclass(frozen=True)
class RawOptions:
    """The camera that took the images, and what makes them clean."""

    camera: Annotated[str, typer.Option("--camera", help="A preset, a camera file, or a vendor's grid (.xml).")]
    white: Annotated[Path | None, typer.Option("--white", help="White image at the same aperture.")] = None
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    black_level: Annotated[
        float | None,
        typer.Option("--black-level", help="What the sensor counts without light, as a part of full scale."),
    ] = None
    params: ParametersOption = None
    image_size: ImageSizeOption = None

    def load_camera(self) -> PlenopticCamera | GridCamera:
        """The camera of the options."""
        return load_camera(self.camera, parameters=self.params, image_size=parse_image_size(self.image_size))

    def load_image(self, path: Path, camera: PlenopticCamera | GridCamera, *, last: bool = False) -> RawImage:
        """A clean image of that camera; after the last one the white image is not kept any longer."""
        from plenodepth.raw.load import forget_white, load_raw

        image = load_raw(path, camera, white=self.white, bayer=self.bayer, black_level=self.black_level)
        if last:
            forget_white()
        return image
