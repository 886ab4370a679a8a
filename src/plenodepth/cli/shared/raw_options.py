"""The options of commands that read raw images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plenodepth.camera import GridCamera, PlenopticCamera, cropped_camera, load_camera, needs_image_size
from plenodepth.cli.shared.common import (
    FramesOption,
    ImageSizeOption,
    ParametersOption,
    complete_camera,
    parse_frames,
    parse_image_size,
)
from plenodepth.errors import InputError
from plenodepth.io.image_formats import frame_count, image_size_of, is_sequence, read_images

if TYPE_CHECKING:
    from plenodepth.raw import RawImage


@dataclass(frozen=True)
class RawOptions:
    """The camera that took the images, and what makes them clean."""

    camera: Annotated[
        str | None,
        typer.Option(
            "--camera",
            autocompletion=complete_camera,
            help="A preset, a camera file, or a grid file (.xml, .cfg). Without it the grid is found in the image: "
            "virtual depth only.",
            show_default=False,
        ),
    ] = None
    white: Annotated[
        list[Path] | None, typer.Option("--white", help="White image at the same aperture; several are averaged.")
    ] = None
    dark: Annotated[Path | None, typer.Option("--dark", help="Dark frame, taken with the cap on the lens.")] = None
    devignetting: Annotated[
        Literal["auto", "white", "model", "self", "none"],
        typer.Option(
            "--devignetting",
            help="By a white image, the camera model, the image itself, or not at all. auto looks whether the image "
            "has vignetting, and takes the first of these that there is.",
        ),
    ] = "auto"
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    black_level: Annotated[
        float | None,
        typer.Option("--black-level", help="What the sensor counts without light, as a part of full scale."),
    ] = None
    align: Annotated[
        bool, typer.Option("--align", help="Move the camera's grid onto the micro-images of the first image.")
    ] = False
    crop: Annotated[
        str | None,
        typer.Option(
            "--crop",
            metavar="X,Y",
            help="The image is a part of the camera's frame, of which this pixel is its first (from 0).",
        ),
    ] = None
    check_camera: Annotated[
        bool,
        typer.Option(
            "--check-camera/--no-check-camera", help="Refuse an image whose micro-images are not the camera's."
        ),
    ] = True
    params: ParametersOption = None
    image_size: ImageSizeOption = None
    frames: FramesOption = None
    bits: Annotated[
        int | None, typer.Option("--bits", help="Bits of a number in a YUV file whose name does not tell them.")
    ] = None

    def load_camera(self, first: Path) -> tuple[PlenopticCamera | GridCamera, str]:
        """The camera of the options for images like the first one, and what is to be said about it."""
        camera, note = self._camera(first)
        if not self.align:
            return camera, note
        from plenodepth.depth.lens_types import with_lens_types
        from plenodepth.raw.align import aligned_camera

        try:
            camera, moved = aligned_camera(self._first_pixels(first), camera, whole_pixels=self.crop is not None)
        except InputError as error:
            raise error.in_file(first) from None
        counted = ""
        if isinstance(camera, PlenopticCamera):
            camera, counted = with_lens_types(next(self.load_images(first, camera)), camera)
        return camera, "; ".join(one for one in (note, moved, counted) if one)

    def _camera(self, first: Path) -> tuple[PlenopticCamera | GridCamera, str]:
        size = parse_image_size(self.image_size)
        if self.camera is None:
            from plenodepth.calib.whites.from_images import grid_from_images

            try:
                found = grid_from_images([self._first_pixels(first)], name=first.stem)
            except InputError as error:
                raise error.in_file(first) from None
            return (
                found,
                f"no camera was given: its grid, {found.micro_images.lattice.diameter:.2f} px, is that of the image",
            )
        corner = self._corner()
        if size is None and needs_image_size(self.camera):
            if corner is not None:
                raise InputError("needs the size of the whole frame", field="--crop", fix="give --image-size, too")
            size = image_size_of(first)
        camera = load_camera(self.camera, parameters=self.params, image_size=size)
        if corner is None:
            return camera, ""
        rows, columns = self._first_pixels(first).shape[:2]
        try:
            part = cropped_camera(camera, corner, (columns, rows))
        except InputError as error:
            raise InputError(error.message, field="--crop", fix=error.fix) from None
        return part, f"the image is the part of the camera's frame from pixel ({corner[0]}, {corner[1]}) on"

    def _first_pixels(self, path: Path) -> Any:
        return next(self._stored(path)).pixels

    def _stored(self, path: Path) -> Iterator[Any]:
        return read_images(path, frames=self._frames(), size=parse_image_size(self.image_size), bits=self.bits)

    def count_frames(self, path: Path) -> int | None:
        """How many images a file holds of those that were asked for; None: nobody knows before the end."""
        if not self.is_sequence(path):
            return 1
        count = frame_count(path, size=parse_image_size(self.image_size), bits=self.bits)
        return None if count is None else len(range(count)[self._frames() or slice(None)])

    def is_sequence(self, path: Path) -> bool:
        """Whether a file may hold several frames; one that cannot be read does not: who reads it says why."""
        try:
            return is_sequence(path, size=parse_image_size(self.image_size), bits=self.bits)
        except InputError:
            return False

    def load_images(
        self, path: Path, camera: PlenopticCamera | GridCamera, *, last: bool = False
    ) -> Iterator[RawImage]:
        """Clean images of a file: one, or the frames of a sequence. After the last file no white image is kept."""
        from plenodepth.raw.load import load_frames, load_raw
        from plenodepth.raw.reading import forget_white

        if self.is_sequence(path):
            size = parse_image_size(self.image_size)
            yield from load_frames(path, camera, frames=self._frames(), size=size, bits=self.bits, **self.cleaning())
            return
        image = load_raw(path, camera, **self.cleaning())
        if last:
            forget_white()
        yield image

    def load_image(self, path: Path, camera: PlenopticCamera | GridCamera) -> RawImage:
        """The clean image of a file, or its first frame."""
        return next(self.load_images(path, camera, last=True))

    def cleaning(self) -> dict[str, Any]:
        """What `load_raw` and `load_frames` are told about the images, besides the camera."""
        return {
            "white": self.white or None,
            "dark": self.dark,
            "bayer": self.bayer,
            "black_level": self.black_level,
            "devignetting": self.devignetting,
            "check_camera": self.check_camera,
            "crop": self._corner(),
        }

    def _corner(self) -> tuple[int, int] | None:
        if self.crop is None:
            return None
        match = re.fullmatch(r"\s*(\d+)\s*,\s*(\d+)\s*", self.crop, re.ASCII)
        if match is None:
            raise InputError(f"is '{self.crop}'", field="--crop", fix="give column and row of a pixel, as 1024,768")
        return int(match[1]), int(match[2])

    def _frames(self) -> slice | None:
        return parse_frames(self.frames)
