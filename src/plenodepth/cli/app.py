"""The tree of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from plenodepth.cli import cost, depth, reproduce, warm_up
from plenodepth.cli.calibrate import adjust as calibrate_adjust
from plenodepth.cli.calibrate import all as calibrate_all
from plenodepth.cli.calibrate import features as calibrate_features
from plenodepth.cli.calibrate import kappa as calibrate_kappa
from plenodepth.cli.calibrate import lidar as calibrate_lidar
from plenodepth.cli.calibrate import poses as calibrate_poses
from plenodepth.cli.calibrate import scale as calibrate_scale
from plenodepth.cli.calibrate import white as calibrate_white
from plenodepth.cli.camera import check as camera_check
from plenodepth.cli.camera import convert as camera_convert
from plenodepth.cli.camera import from_image as camera_from_image
from plenodepth.cli.camera import predict_scale as camera_predict_scale
from plenodepth.cli.camera import show as camera_show
from plenodepth.cli.evaluate import cloud as evaluate_cloud
from plenodepth.cli.evaluate import compare as evaluate_compare
from plenodepth.cli.evaluate import dataset as evaluate_dataset
from plenodepth.cli.evaluate import depth as evaluate_depth
from plenodepth.cli.evaluate import relative as evaluate_relative
from plenodepth.cli.simulate import dataset as simulate_dataset
from plenodepth.cli.simulate import scene as simulate_scene
from plenodepth.cli.simulate import white as simulate_white
from plenodepth.version import __version__

HELP_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    help="Metric depth from one raw image of a multi-focus plenoptic camera.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # bad input is one line (see main); anything else deserves its full traceback
    context_settings=HELP_SETTINGS,
)
camera = typer.Typer(
    help="Describe, find, convert and check cameras.", no_args_is_help=True, context_settings=HELP_SETTINGS
)
app.add_typer(camera, name="camera")
app.command("depth")(depth.depth)
app.command("cost")(cost.cost)
app.command("warm-up")(warm_up.warm_up)
camera.command("show")(camera_show.show)
camera.command("convert")(camera_convert.convert)
camera.command("check")(camera_check.check)
camera.command("from-image")(camera_from_image.from_image)
camera.command("predict-scale")(camera_predict_scale.predict_scale_of)
simulation = typer.Typer(
    help="Make raw images with ground truth.", no_args_is_help=True, context_settings=HELP_SETTINGS
)
app.add_typer(simulation, name="simulate")
simulation.command("scene")(simulate_scene.scene)
simulation.command("white")(simulate_white.white)
simulation.command("dataset")(simulate_dataset.dataset)
calibration = typer.Typer(
    cls=calibrate_all.AllByDefault,
    help="Calibrate a camera from white images and boards. Without a COMMAND all steps are done, with the options "
    "below; with one, that step alone.\n\nExample: [bold]plenodepth "
    "calibrate --whites whites --boards boards --board 9x5:10mm --sensor 5.5um --focal 50 --aperture 4 --focus 450 "
    "--out camera.yaml[/bold]",
    no_args_is_help=True,
    context_settings=HELP_SETTINGS,
)
app.add_typer(calibration, name="calibrate")
calibration.command("all")(calibrate_all.all_steps)
calibration.command("white")(calibrate_white.white)
calibration.command("features")(calibrate_features.features)
calibration.command("adjust")(calibrate_adjust.adjust)
calibration.command("kappa")(calibrate_kappa.kappa)
calibration.command("scale")(calibrate_scale.scale)
calibration.command("poses")(calibrate_poses.poses)
calibration.command("lidar")(calibrate_lidar.lidar)
evaluation = typer.Typer(
    help="Compare results with the truth, and with each other.", no_args_is_help=True, context_settings=HELP_SETTINGS
)
app.add_typer(evaluation, name="evaluate")
evaluation.command("depth")(evaluate_depth.depth)
evaluation.command("cloud")(evaluate_cloud.cloud)
evaluation.command("relative")(evaluate_relative.relative)
evaluation.command("compare")(evaluate_compare.compare)
evaluation.command("dataset")(evaluate_dataset.dataset)
app.command("reproduce")(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"plenodepth {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""
