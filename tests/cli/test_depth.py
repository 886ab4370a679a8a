"""plenodepth depth: files, JSON, and bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run
from simulated import scene_shot, white_shot
from vendor_grid import grid_xml

from plenodepth.camera import preset
from plenodepth.depth.kernels.cuda.device import gpu_problem
from plenodepth.io import read_float_map, read_image, read_ply, write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings

SCRIPT = Path(sysconfig.get_path("scripts")) / "plenodepth"
SETTINGS = FrameSettings(RenderSettings(rays=48, f_number=2.0), SensorSettings())


@pytest.fixture
def wall() -> Path:
    """The raw image of a wall at 1000 mm through r12-mini at f/2."""
    camera = preset("r12-mini")
    return scene_shot(wall_scene(1000.0, 3, camera), camera, SETTINGS) / "raw.png"


@pytest.fixture
def white() -> Path:
    """A white image of that camera at that aperture."""
    return white_shot(2.0, preset("r12-mini"), SETTINGS) / "raw.png"


@pytest.mark.parametrize("refined", [False, True])
def test_a_wall_is_found_where_it_stands(succeeds: Run, wall: Path, white: Path, tmp_path: Path, refined: bool) -> None:
    options = ["--refined"] if refined else []
    result = succeeds(
        "depth", wall, "--camera", "r12-mini", "--white", white,
        "--out", tmp_path / "out", "--json", *options,
    ).json  # fmt: skip
    (frame,) = result["frames"]
    assert result["failed"] == 0
    assert frame["devignetting"] == "white image"
    assert frame["valid_fraction"] > 0.6
    # The preset says f/4, and its depth scale belongs to that: only the virtual depth is to be compared.
    assert (frame["aperture_model"], frame["depth_scale_applied"]) == ("off", True)
    assert "as of a wider aperture" in frame["note"]
    truth = np.nanmedian(read_float_map(wall.with_name("virtual_depth.tiff")))
    assert frame["median_virtual_depth"] == pytest.approx(float(truth), rel=0.03)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        f"raw.{end}" for end in ("sigma.tiff", "depth.tiff", "csad.tiff", "confidence.tiff", "ply", "png", "json")
    }
    assert read_float_map(tmp_path / "out" / "raw.depth.tiff").shape == ((404, 560) if refined else (20, 24))
    assert len(read_ply(tmp_path / "out" / "raw.ply")["points"]) > 1000
    assert read_image(tmp_path / "out" / "raw.png").ndim == 3


def test_a_report_is_a_page_beside_the_maps(succeeds: Run, wall: Path, white: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    printed = succeeds("depth", wall, "--camera", "r12-mini", "--white", white, "--out", out, "--report").out
    assert f"see {out}/raw.html" in " ".join(printed.split())
    page = (out / "raw.html").read_text(encoding="utf-8")
    assert "<title>Depth of raw</title>" in page
    assert "As of a wider aperture" in page or "as of a wider aperture" in page  # the note of the summary


def test_at_the_camera_s_own_f_number_depth_is_right_without_its_depth_scale(
    succeeds: Run, wall: Path, tmp_path: Path
) -> None:
    camera = preset("r12-mini")
    image = scene_shot(wall_scene(1000.0, 3, camera), camera, FrameSettings(RenderSettings(rays=48))) / "raw.png"
    command = ("depth", image, "--camera", "r12-mini", "--out", tmp_path / "out")
    (frame,) = succeeds(*command, "--json").json["frames"]
    assert (frame["aperture_model"], frame["depth_scale_applied"]) == ("per_pixel", False)
    assert frame["settings"]["depth"]["aperture_model"] == "auto"
    assert "Γ" not in frame["note"]  # that it is not needed is no fault
    assert "too few micro-images" in frame["note"]
    assert not frame["doubtful"]
    assert frame["median_z_mm"] == pytest.approx(1000, rel=0.02)
    printed = succeeds(*command).words
    assert "aperture model per_pixel" in printed
    assert f"median {frame['median_z_mm']:.0f} mm, median confidence {frame['median_confidence']:.2f}; see" in printed
    (off,) = succeeds(*command, "--json", "--aperture-model", "off").json["frames"]
    assert (off["aperture_model"], off["depth_scale_applied"]) == ("off", True)
    assert "Γ" not in off["note"]
    (told,) = succeeds(
        "depth", wall, "--camera", "r12-mini", "--out", tmp_path / "told", "--json",
        "--aperture-model", "per_pixel",
    ).json["frames"]  # fmt: skip
    assert told["aperture_model"] == "per_pixel"
    assert "wider aperture" in told["note"]


def test_outputs_choose_the_files_and_unknown_ones_are_named(
    succeeds: Run, refused: Refused, wall: Path, tmp_path: Path
) -> None:
    command = ("depth", wall, "--camera", "r12-mini", "--out", tmp_path / "out")
    words = succeeds(*command, "--outputs", "virtual, central").words
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"raw.virtual.tiff", "raw.csad.tiff", "raw.json"}
    stages = json.loads((tmp_path / "out" / "raw.json").read_text())["stages"]
    assert list(stages) == ["read", "clean", "search", "filter", "metric", "summary", "central view", "write"]
    assert "CPU-seconds: " in words
    assert "start-up included" in words
    assert "outputs: names 'mesh' (choose among depth" in refused(*command, "--outputs", "depth,mesh")


def test_depths_outside_the_range_are_left_out(succeeds: Run, wall: Path, tmp_path: Path) -> None:
    result = succeeds("depth", wall, "--camera", "r12-mini", "--out", tmp_path, "--min-z", 1500, "--json").json
    assert result["frames"][0]["valid_fraction"] < 0.05
    assert result["frames"][0]["devignetting"] == "nothing"  # taken at f/2: there is no vignetting


def test_a_vendors_grid_gives_virtual_depth_and_says_what_is_missing(succeeds: Run, wall: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.xml"
    grid.write_text(grid_xml())
    result = succeeds(
        "depth",
        wall,
        "--camera",
        grid,
        "--no-check-camera",  # it is no grid of this image
        "--out",
        tmp_path / "out",
        "--json",
    ).json
    assert "calibrated camera" in result["frames"][0]["note"]
    assert not (tmp_path / "out" / "raw.depth.tiff").exists()


def test_one_bad_frame_does_not_stop_the_others(run: Run, wall: Path, tmp_path: Path) -> None:
    write_image(np.zeros((10, 10), np.uint8), tmp_path / "small.png")
    (tmp_path / "text.png").write_text("no image")
    outcome = run(
        "depth", tmp_path / "text.png", tmp_path / "small.png", tmp_path / "gone.png", wall,
        "--camera", "r12-mini", "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert outcome.code == 2
    assert outcome.json["failed"] == 3
    assert len(outcome.json["frames"]) == 1
    assert len(outcome.err.splitlines()) == 3
    assert "text.png" in outcome.err
    assert "small.png" in outcome.err
    assert "gone.png" in outcome.err
    assert not list((tmp_path / "out").glob("small*"))


def test_a_missing_camera_or_an_unwritable_folder_is_named(refused: Refused, wall: Path, tmp_path: Path) -> None:
    assert "r99" in refused("depth", wall, "--camera", "r99", "--out", tmp_path / "out")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("depth", wall, "--camera", "r12-mini", "--out", tmp_path / "file" / "x")
    assert "--min-z: cannot be -5" in refused(
        "depth", wall, "--camera", "r12-mini", "--out", tmp_path / "out", "--min-z", -5
    )


def test_a_device_or_threads_that_are_not_there_are_named(refused: Refused, wall: Path, tmp_path: Path) -> None:
    options = (wall, "--camera", "r12-mini", "--out", tmp_path / "out")
    if gpu_problem() is not None:
        message = refused("depth", *options, "--device", "cuda")
        assert message.startswith("device: ")
        assert message.endswith("use device cpu)")
    assert "threads" in refused("depth", *options, "--threads", 0)
    assert not (tmp_path / "out").exists()


def test_the_black_level_of_the_sensor_is_taken_off(
    succeeds: Run, refused: Refused, wall: Path, white: Path, tmp_path: Path
) -> None:
    level = 256  # of 4095
    for name, path in (("wall", wall), ("white", white)):
        lifted = np.minimum(read_image(path) * (1 - level / 4095) + level, 4095)
        write_image(np.rint(lifted).astype(np.uint16), tmp_path / f"{name}.png")
    options = ("--camera", "r12-mini", "--json", "--out")
    plain = succeeds("depth", wall, "--white", white, *options, tmp_path / "plain").json["frames"][0]
    images = (tmp_path / "wall.png", "--white", tmp_path / "white.png", "--black-level")
    frame = succeeds("depth", *images, level / 4095, *options, tmp_path / "out").json["frames"][0]
    assert frame["median_virtual_depth"] == pytest.approx(plain["median_virtual_depth"], rel=1e-3)
    assert frame["valid_fraction"] == pytest.approx(plain["valid_fraction"], abs=0.02)
    message = refused("depth", *images, level, "--camera", "r12-mini", "--out", tmp_path / "out")
    assert "black_level: is 256" in message


# --- settings -----------------------------------------------------------------------------------------------------

SETTINGS_FILE = """
depth:
  blur: false
  virtual_range: [2.5, 18]
filters:
  near: 400
  consistency: true
  least_confidence: 0.05
"""


def test_options_win_over_the_file_and_the_record_serves_as_one(succeeds: Run, wall: Path, tmp_path: Path) -> None:
    def settings(out: str, *options: object) -> dict[str, dict[str, object]]:
        run = succeeds("depth", wall, "--camera", "r12-mini", "--out", tmp_path / out, "--json", *options).json
        found: dict[str, dict[str, object]] = run["frames"][0]["settings"]
        assert json.loads((tmp_path / out / "raw.json").read_text())["settings"] == found
        return found

    file = tmp_path / "settings.yaml"
    file.write_text(SETTINGS_FILE)
    told = settings("told", "--settings", file)
    assert (told["depth"]["blur"], told["depth"]["virtual_range"]) == (False, [2.5, 18.0])
    assert (told["filters"]["near"], told["filters"]["consistency"]) == (400.0, True)
    typed = settings(
        "typed", "--settings", file, "--blur", "--min-z", 500, "--max-z", "inf", "--no-consistent",
        "--least-confidence", 0.2,
    )  # fmt: skip
    assert (typed["depth"]["blur"], typed["depth"]["virtual_range"]) == (True, [2.5, 18.0])
    changed = {"near": 500.0, "far": "infinity", "consistency": False, "confidence": True, "least_confidence": 0.2}
    assert typed["filters"] == told["filters"] | changed
    assert settings("again", "--settings", tmp_path / "typed" / "raw.json") == typed


def test_a_mistake_in_the_settings_names_file_field_and_repair(refused: Refused, wall: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    options = (wall, "--camera", "r12-mini", "--out", tmp_path / "out", "--settings", file)
    file.write_text("depth: {windw: 7}")
    assert refused("depth", *options) == f"{file}: depth.windw: unknown key (did you mean window?)"
    file.write_text("depth: {window: 6}")
    assert refused("depth", *options) == f"{file}: depth.window: cannot be 6 (the default is 5)"
    file.write_text("filters: {far: 900}")
    message = refused("depth", *options, "--min-z", 1000)
    assert message.startswith("--max-z: the far limit, 900 mm, is not beyond the near one, 1000 mm (raise")
    assert not (tmp_path / "out").exists()


# --- results that have no place -----------------------------------------------------------------------------------


def test_a_file_that_cannot_be_written_costs_its_own_frame_only(run: Run, wall: Path, tmp_path: Path) -> None:
    shutil.copy(wall, tmp_path / "other.png")
    out = tmp_path / "out"
    (out / "raw.ply").mkdir(parents=True)
    outcome = run("depth", wall, tmp_path / "other.png", "--camera", "r12-mini", "--out", out, "--json")
    assert outcome.code == 2
    assert outcome.json["failed"] == 1
    assert outcome.err.splitlines() == [
        f"plenodepth: {out}/raw.ply: is a folder (move it away, or give another folder)"
    ]
    assert {path.name.split(".")[0] for path in out.iterdir()} == {"other", "raw"}
    assert [path.name for path in out.glob("raw*")] == ["raw.ply"]
    assert len(list(out.glob("other*"))) == 7


def test_results_replace_neither_images_nor_each_other(refused: Refused, wall: Path, tmp_path: Path) -> None:
    image, folder = tmp_path / "raw.png", tmp_path / "more"
    folder.mkdir()
    shutil.copy(wall, image)
    shutil.copy(image, folder / "raw.png")
    assert "would be replaced" in refused("depth", image, "--camera", "r12-mini", "--out", tmp_path)
    message = refused("depth", image, folder / "raw.png", "--camera", "r12-mini", "--out", tmp_path / "out")
    assert message.startswith(f"{folder / 'raw.png'}: its results would replace those of {image}")
    assert image.read_bytes() == wall.read_bytes()
    assert not (tmp_path / "out").exists()


UNSHARE = ("unshare", "--map-root-user", "--mount")
# A disk of its own for one command, which ends with it: $1 its options, $2 where, $3 a list of what it held.
ON_A_DISK = """
options=$1 disk=$2 list=$3; shift 3
mount -t tmpfs -o "$options" none "$disk" || exit 99
"$@"; code=$?
ls -A "$disk" > "$list"
exit $code
"""


@dataclass(frozen=True)
class OnDisk:
    code: int
    out: str
    err: list[str]
    listed: list[str]


def on_disk(options: str, disk: Path, *arguments: object) -> OnDisk:
    """Runs a command with a disk mounted at `disk`, and what the disk holds afterwards."""
    disk.mkdir(exist_ok=True)
    listing = disk.with_suffix(".list")
    command = [*UNSHARE, "sh", "-c", ON_A_DISK, "sh", options, disk, listing, SCRIPT, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("compiling kernels")]
    return OnDisk(done.returncode, done.stdout, lines, listing.read_text().splitlines())


def why_no_disk() -> str:
    """What a machine lacks to mount a disk for one command; nothing where it can."""
    if shutil.which("unshare") is None:
        return "the program unshare is not installed"
    probe = subprocess.run(
        [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False
    )
    return "" if probe.returncode == 0 else f"no disk can be mounted: {probe.stderr.strip()}"


@pytest.fixture(scope="session")
def _needs_a_disk() -> None:
    if reason := why_no_disk():
        pytest.skip(reason)


needs_a_disk = pytest.mark.usefixtures("_needs_a_disk")


@needs_a_disk
def test_a_full_disk_keeps_the_frames_that_fit_and_no_part_of_others(succeeds: Run, wall: Path, tmp_path: Path) -> None:
    images = [tmp_path / f"{name}.png" for name in ("first", "second", "third")]
    for image in images:
        shutil.copy(wall, image)
    succeeds("depth", images[0], "--camera", "r12-mini", "--out", tmp_path / "measured")
    pages = sum(-(-path.stat().st_size // 4096) for path in (tmp_path / "measured").iterdir())
    disk, size = tmp_path / "disk", int(1.6 * pages) * 4096
    done = on_disk(f"size={size}", disk, "depth", *images, "--camera", "r12-mini", "--out", disk)
    assert done.code == 2
    assert done.out.startswith("first: ")
    assert [line.split(".")[0] for line in done.err] == [f"plenodepth: {disk}/{name}" for name in ("second", "third")]
    assert all("cannot be written: No space left on device" in line for line in done.err)
    assert {name.split(".")[0] for name in done.listed} == {"first"}
    assert len(done.listed) == 7


@needs_a_disk
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("depth {image} --camera r12-mini --out {disk}", ""),
        ("camera convert r12-mini {disk}/camera.yaml", "/camera.yaml"),
        ("camera show r12-mini --figure {disk}/camera.png", "/camera.png"),
    ],
)
def test_a_disk_that_takes_no_files_is_named(wall: Path, tmp_path: Path, command: str, file: str) -> None:
    disk = tmp_path / "disk"
    words = command.format(image=wall, disk=disk).split()
    done = on_disk("ro", disk, *words)
    reason = "cannot be written: Read-only file system (check the permissions and the free space)"
    assert (done.code, done.out, done.err) == (2, "", [f"plenodepth: {disk}{file}: {reason}"])


def test_help_has_an_example(succeeds: Run) -> None:
    assert "plenodepth depth raw.png" in succeeds("depth", "--help").words


def test_limits_the_wrong_way_round_are_named_with_their_options(refused: Refused, wall: Path, tmp_path: Path) -> None:
    limits = ["--min-z", 500, "--max-z", 400]
    message = refused("depth", wall, "--camera", "r12-mini", "--out", tmp_path / "out", *limits)
    assert message.startswith("--max-z: the far limit, 400 mm, is not beyond the near one, 500 mm")
    assert "--min-z" in message
