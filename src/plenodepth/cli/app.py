"""The tree of commands, of which a run loads only the one that it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from plenodepth.cli.shared.speech import with_speech
from plenodepth.version import __version__

EXIT_CODES = (
    "[bold]Exit codes[/bold]  0 done; 1 a check failed (doctor), or nobody read the output; 2 bad input, or a file "
    "that cannot be written; 3 a map was written that is not to be trusted; 70 an error of the program itself; "
    "130 Ctrl-C."
)
HELP_SETTINGS = {"help_option_names": ["-h", "--help"]}

# Words of the command line: module in plenodepth.cli, and function in it. Help lists them in this order.
COMMANDS = {
    ("depth",): ("depth", "depth"),
    ("batch",): ("batch", "batch"),
    ("demo",): ("demo", "demo"),
    ("cost",): ("cost", "cost"),
    ("view",): ("view", "view"),
    ("warm-up",): ("warm_up", "warm_up"),
    ("doctor",): ("doctor.command", "doctor"),
    ("camera", "show"): ("camera.show", "show"),
    ("camera", "convert"): ("camera.convert", "convert"),
    ("camera", "check"): ("camera.check", "check"),
    ("camera", "from-image"): ("camera.from_image", "from_image"),
    ("camera", "predict-scale"): ("camera.predict_scale", "predict_scale_of"),
    ("simulate", "scene"): ("simulate.scene", "scene"),
    ("simulate", "white"): ("simulate.white", "white"),
    ("simulate", "views"): ("simulate.views", "views"),
    ("simulate", "dataset"): ("simulate.dataset", "dataset"),
    ("calibrate", "all"): ("calibrate.all", "all_steps"),
    ("calibrate", "white"): ("calibrate.white", "white"),
    ("calibrate", "features"): ("calibrate.features", "features"),
    ("calibrate", "adjust"): ("calibrate.adjust", "adjust"),
    ("calibrate", "kappa"): ("calibrate.kappa", "kappa"),
    ("calibrate", "scale"): ("calibrate.scale", "scale"),
    ("calibrate", "poses"): ("calibrate.poses", "poses"),
    ("calibrate", "lidar"): ("calibrate.lidar", "lidar"),
    ("render", "allfocus"): ("render.allfocus", "allfocus"),
    ("render", "views"): ("render.views", "views"),
    ("render", "refocus"): ("render.refocus", "refocus"),
    ("render", "sweep"): ("render.sweep", "sweep"),
    ("render", "export"): ("render.export", "export"),
    ("evaluate", "depth"): ("evaluate.depth", "depth"),
    ("evaluate", "cloud"): ("evaluate.cloud", "cloud"),
    ("evaluate", "views"): ("evaluate.views", "views"),
    ("evaluate", "relative"): ("evaluate.relative", "relative"),
    ("evaluate", "compare"): ("evaluate.compare", "compare"),
    ("evaluate", "dataset"): ("evaluate.dataset", "dataset"),
    ("reproduce",): ("reproduce", "reproduce"),
}
GROUPS = {
    "camera": "Describe, find, convert and check cameras.",
    "simulate": "Make raw images with ground truth.",
    "calibrate": "Calibrate a camera from white images and boards. Without a COMMAND all steps are done, with the "
    "options below; with one, that step alone.\n\nExample: [bold]plenodepth calibrate --whites whites --boards boards "
    "--board 9x5:10mm --sensor 5.5um --focal 50 --aperture 4 --focus 450 --out camera.yaml[/bold]",
    "render": "Make pictures of a raw image, and what other software takes over.",
    "evaluate": "Compare results with the truth, and with each other.",
}


def command_tree(arguments: Sequence[str] = ()) -> typer.Typer:
    """All commands; or the one or the group that the arguments of a run begin with: the others need not be loaded."""
    exact = [words for words in COMMANDS if tuple(arguments[: len(words)]) == words]
    named = exact or [words for words in COMMANDS if list(words[:1]) == list(arguments[:1])]
    app = typer.Typer(
        help="Metric depth from one raw image of a multi-focus plenoptic camera.",
        no_args_is_help=True,
        epilog=EXIT_CODES,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,  # an error is one line (see main); --debug prints the traceback
        context_settings=HELP_SETTINGS,
    )
    app.callback()(_options)
    groups = dict[str, typer.Typer]()
    for words in named or COMMANDS:
        module, function = COMMANDS[words]
        place = app
        if len(words) > 1:
            if words[0] not in groups:
                groups[words[0]] = _group(words[0])
                app.add_typer(groups[words[0]], name=words[0])
            place = groups[words[0]]
        place.command(words[-1])(with_speech(getattr(import_module(f"plenodepth.cli.{module}"), function)))
    return app


def _group(name: str) -> typer.Typer:
    special: dict[str, Any] = {}
    if name == "calibrate":
        from plenodepth.cli.calibrate.all import AllByDefault

        special["cls"] = AllByDefault
    return typer.Typer(help=GROUPS[name], no_args_is_help=True, context_settings=HELP_SETTINGS, **special)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"plenodepth {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the traceback of an error (anywhere in the line).")
    ] = False,
) -> None:
    """Options before the command."""
