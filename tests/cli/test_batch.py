"""plenodepth batch: what is made, what is kept, what is said."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tifffile
from commands import Refused, Run
from shots import CAMERA, everything, results, write_clip, write_shots

from plenodepth.batch import read_manifest
from plenodepth.batch.out_folder import only_run
from plenodepth.io import read_float_map, read_image, write_image
from plenodepth.io.image_formats import read_images

TABLES = {"manifest.jsonl", "frames.csv"}


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    write_shots(tmp_path / "shots", 3)
    return tmp_path / "shots"


def events(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_every_frame_has_the_results_of_depth_in_a_folder_of_its_own(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    printed = succeeds("batch", shots, *CAMERA, "--out", out).out
    assert printed.startswith("3 frames: 3 made, 0 there already, 0 failed, 0 doubtful; ")
    alone = shots.parent / "alone"
    for path in sorted(shots.iterdir()):
        succeeds("depth", path, *CAMERA, "--out", alone / path.stem)
    assert results(out) == results(alone)
    assert everything(out) == {*everything(alone), "manifest.jsonl", "frames.csv"}
    with (out / "frames.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["frame"] for row in rows] == ["shot 0é", "shot 1é", "shot 2é"]
    record = json.loads((out / "shot 1é" / "shot 1é.json").read_text(encoding="utf-8"))
    assert float(rows[1]["median_z_mm"]) == pytest.approx(record["median_z_mm"], rel=1e-5)
    entries = read_manifest(out)
    assert list(entries) == ["shot 0é", "shot 1é", "shot 2é"]
    assert all(entry.stages["search"]["cpu_seconds"] > 0 for entry in entries.values())


def test_only_what_is_missing_changed_or_damaged_is_made_again(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    command = ("batch", shots, *CAMERA, "--out", out, "--json")
    succeeds(*command)
    as_made = results(out)
    changed = shots / "shot 0é.png"
    write_image(read_image(changed) // 2, changed)
    damaged = out / "shot 1é" / "shot 1é.ply"
    state = damaged.stat()
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    os.utime(damaged, ns=(state.st_atime_ns, state.st_mtime_ns))  # nothing but the content tells
    write_shots(shots, 4)
    write_image(read_image(changed) // 2, changed)
    made = [event["frame"] for event in events(succeeds(*command).out) if event["event"] == "frame"]
    assert made == ["shot 0é", "shot 1é", "shot 3é"]
    assert {path: data for path, data in results(out).items() if "2é" in path or "1é" in path} == {
        path: data for path, data in as_made.items() if "0é" not in path
    }
    assert "frame" not in {event["event"] for event in events(succeeds(*command).out)}


def test_other_settings_make_other_results(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    succeeds("batch", shots, *CAMERA, "--out", out)
    before = results(out)
    printed = succeeds("batch", shots, *CAMERA, "--out", out, "--min-z", "900", "--outputs", "depth").out
    assert "3 made, 0 there already" in printed
    assert set(results(out)) == {path for path in before if path.endswith(".depth.tiff")}


def test_files_that_are_touched_or_copied_are_kept_and_times_alone_may_tell(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    succeeds("batch", shots, *CAMERA, "--out", out)
    for path in (*shots.iterdir(), *out.rglob("*.tiff")):
        os.utime(path, ns=(1, 1))
    for check in ("times", "outputs", "all"):
        assert "0 made, 3 there" in succeeds("batch", shots, *CAMERA, "--out", out, "--check", check).out


def test_a_frame_that_fails_is_recorded_and_the_others_finish(run: Run, succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    bad = shots / "shot 1é.png"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:5000])
    outcome = run("batch", shots, *CAMERA, "--out", out)
    assert outcome.code == 2
    assert "2 made, 0 there already, 1 failed" in outcome.out
    assert outcome.err.count("\n") == 1
    assert f"{bad}: " in outcome.err
    entry = read_manifest(out)["shot 1é"]
    assert (entry.attempts, entry.error) == (2, outcome.err.removeprefix("plenodepth: ").strip())
    assert not (out / "shot 1é").exists()
    bad.write_bytes(whole)
    assert "1 made, 2 there already, 0 failed" in succeeds("batch", shots, *CAMERA, "--out", out).out


def test_a_frame_that_fails_has_no_older_results(run: Run, succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    succeeds("batch", shots, *CAMERA, "--out", out)
    (shots / "shot 1é.png").write_bytes(b"\x89PNG")
    assert run("batch", shots, *CAMERA, "--out", out, "--retries", "0").code == 2
    assert {path.name for path in out.iterdir()} == {"shot 0é", "shot 2é", *TABLES}


def test_maps_that_are_not_to_be_trusted_have_exit_code_3_also_later(run: Run, shots: Path) -> None:
    for path in shots.iterdir():
        write_image(read_image(path) // 400, path)  # next to no light
    for made in ("3 made", "0 made"):
        outcome = run("batch", shots, *CAMERA, "--out", shots.parent / "out", "--no-check-camera")
        assert outcome.code == 3
        assert made in outcome.out
        assert outcome.err.count("do not trust this map") == 3


def test_a_second_run_into_the_folder_says_so_and_stops(refused: Refused, succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    with only_run(out):
        line = refused("batch", shots, *CAMERA, "--out", out)
    assert line.startswith(f"{out}: another run is at work in it (process {os.getpid()} on ")
    succeeds("batch", shots, *CAMERA, "--out", out)


def test_what_a_killed_run_left_is_swept(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    succeeds("batch", shots, *CAMERA, "--out", out)
    there = everything(out)
    (out / ".batch-unfinished-0/abc").mkdir(parents=True)
    (out / ".batch-unfinished-0/abc/x.tiff").write_bytes(b"half")
    (out / ".tmp-0-manifest.jsonl").write_bytes(b"half")
    (out / ".batch-lock").write_text("process 1 on elsewhere\n")
    with (out / "manifest.jsonl").open("ab") as file:
        file.write(b'{"frame": "shot 9')
    assert "3 there already" in succeeds("batch", shots, *CAMERA, "--out", out).out
    assert everything(out) == there


def test_what_is_not_ours_is_not_replaced(refused: Refused, shots: Path) -> None:
    own = shots.parent / "out" / "shot 1é"
    own.mkdir(parents=True)
    (own / "thesis.txt").write_text("mine")
    assert refused("batch", shots, *CAMERA, "--out", own.parent).startswith(f"{own}: is in the way")
    assert everything(own.parent) == {"shot 1é", "shot 1é/thesis.txt"}


def test_patterns_find_images_and_a_tree_keeps_its_folders(succeeds: Run, refused: Refused, shots: Path) -> None:
    tree, out = shots.parent / "year", shots.parent / "out"
    for day in ("day 1", "day 2"):
        shutil.copytree(shots, tree / day)
    pattern = f"{tree}/**/shot [01]*.png"
    assert "its results would replace those of" in refused("batch", pattern, *CAMERA, "--out", out)
    succeeds("batch", pattern, *CAMERA, "--out", out, "--tree", tree)
    assert {path.relative_to(out).as_posix() for path in out.glob("*/*")} == {
        f"day {day}/shot {shot}é" for day in (1, 2) for shot in (0, 1)
    }


def test_the_frames_of_a_sequence_are_frames(succeeds: Run, shots: Path) -> None:
    clip, out, alone = shots.parent / "clip.tiff", shots.parent / "out", shots.parent / "alone"
    tifffile.imwrite(clip, np.stack([read_image(path) for path in sorted(shots.iterdir())]), photometric="rgb")
    succeeds("batch", clip, *CAMERA, "--out", out, "--frames", "1:3")
    succeeds("depth", clip, *CAMERA, "--out", alone, "--frames", "1:3")
    assert {path.name for path in out.iterdir()} == {"clip-00001", "clip-00002", *TABLES}
    assert {path.rsplit("/", 1)[-1]: data for path, data in results(out).items()} == results(alone)


def test_a_video_is_decoded_once_and_gives_what_depth_gives(succeeds: Run, shots: Path) -> None:
    clip, out, alone = shots.parent / "clip.mkv", shots.parent / "out", shots.parent / "alone"
    write_clip(clip, sorted(shots.iterdir()))
    succeeds("batch", clip, *CAMERA, "--out", out)
    succeeds("depth", clip, *CAMERA, "--out", alone)
    assert {path.rsplit("/", 1)[-1]: data for path, data in results(out).items()} == results(alone)
    assert [entry.number for entry in read_manifest(out).values()] == [0, 1, 2]
    assert "0 made, 3 there" in succeeds("batch", clip, *CAMERA, "--out", out, "--check", "all").out


def test_a_film_shows_the_dense_view_beside_its_depth_in_one_range_of_colours(
    run: Run, refused: Refused, shots: Path
) -> None:
    out, film = shots.parent / "out", shots.parent / "film.mkv"
    command = ("batch", shots, *CAMERA, "--out", out, "--video", film)
    assert "give --dense" in refused(*command)
    assert "--video: ends in '.gif'" in refused(*command[:-1], shots.parent / "film.gif", "--dense")
    assert run(*command, "--dense", "--rate", "5").code == 0  # while it compiles, it says how far it is
    pictures = [image.pixels / 65535 for image in read_images(film)]
    depth = read_float_map(out / "shot 1é" / "shot 1é.dense.tiff")
    view = read_image(out / "shot 1é" / "shot 1é.view.png") / 255
    assert len(pictures) == 3
    height, width = (2 * (side // 2) for side in depth.shape)
    assert pictures[1].shape == (height, 2 * width, 3)
    shown = view[:height, :width].mean(axis=2)
    assert np.abs(pictures[1][:, :width].mean(axis=2) - shown).mean() < 0.03
    known = np.isfinite(depth[:height, :width])
    brightness = pictures[1][:, width:].mean(axis=2)[known]
    assert np.corrcoef(brightness, -depth[:height, :width][known])[0, 1] > 0.5


def test_a_page_for_each_frame(succeeds: Run, shots: Path) -> None:
    out = shots.parent / "out"
    succeeds("batch", shots / "shot 1é.png", *CAMERA, "--out", out, "--report")
    assert "shot 1é" in (out / "shot 1é" / "shot 1é.html").read_text(encoding="utf-8")


def test_bad_input_is_one_line(refused: Refused, tmp_path: Path) -> None:
    assert refused("batch", tmp_path / "none.png", *CAMERA, "--out", tmp_path / "out").endswith("(check the path)")
    assert "matches no file" in refused("batch", tmp_path / "*.png", *CAMERA, "--out", tmp_path / "out")
    assert "holds no image" in refused("batch", tmp_path, *CAMERA, "--out", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
