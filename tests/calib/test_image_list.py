"""Images of a folder with their f-numbers and frames."""

from __future__ import annotations

from pathlib import Path

import pytest

from plenodepth.calib.image_list import listed_images
from plenodepth.errors import InputError


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("white_f5.6.png", 5.6),
        ("f05.66/raw.png", 5.66),
        ("white-f_8.tiff", 8.0),
        ("W_F11.png", 11.0),
        ("f4_0.png", 4.0),
        ("leaf5.png", None),
        ("white.png", None),
        ("f1000.png", None),
    ],
)
def test_f_numbers_are_read_from_names(tmp_path: Path, name: str, number: float | None) -> None:
    assert [image.f_number for image in listed_images(touched(tmp_path, name))] == [number]


def test_frames_are_the_last_numbers_of_the_names(tmp_path: Path) -> None:
    images = listed_images(touched(tmp_path, "board_10.png", "board_2.png", "notes.txt"))
    assert [(image.path.name, image.frame) for image in images] == [("board_2.png", 2), ("board_10.png", 10)]


def test_frames_without_numbers_are_counted(tmp_path: Path) -> None:
    images = listed_images(touched(tmp_path, "left.png", "right.png"))
    assert [image.frame for image in images] == [0, 1]


def test_raw_images_in_folders_of_their_own_stand_for_them(tmp_path: Path) -> None:
    images = listed_images(touched(tmp_path, "03/raw.png", "03/visible.png", "04/raw.png", "poses.js"))
    assert [(image.path.parent.name, image.frame) for image in images] == [("03", 3), ("04", 4)]


def test_unfinished_folders_do_not_count(tmp_path: Path) -> None:
    images = listed_images(touched(tmp_path, "01/raw.png", ".tmp-3fa9-02/raw.png"))
    assert [image.path.parent.name for image in images] == ["01"]


def test_a_manifest_says_which_images_count(tmp_path: Path) -> None:
    touched(tmp_path, "a.png", "b.png", "c.png")
    (tmp_path / "manifest.yaml").write_text("- {file: b.png, f_number: 8, frame: 7}\n- a.png\n")
    assert [(image.path.name, image.f_number, image.frame) for image in listed_images(tmp_path)] == [
        ("b.png", 8.0, 7),
        ("a.png", None, 1),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- {file: gone.png}", "gone.png is not there"),
        ("- {file: a.png, aperture: 4}", "is no key"),
        ("- {file: a.png, f_number: wide}", "is wide"),
        ("- {file: a.png, frame: 1.5}", "is 1.5"),
        ("- 5", "needs a file"),
        ("- {file: [", "is not valid YAML"),
        ("- {file: a.png, frame: true}", "is true"),
        ("- {file: a.png, frame: 4000000000}", "is 4000000000"),
        ("- {file: a.png, f_number: true}", "is true"),
        ("- {file: a.png, 5: 6}", "a key is a text, not 5"),
        ("- {file: a.png, a: 1, 5: 6}", "a key is a text, not 5"),
        ("- {file: !!int ''}", "is not valid YAML"),
        ("- {file: a.png, frame: 2001-99-99}", "month must be in"),
        (f"- {{file: a.png, frame: {'9' * 5000}}}", "an integer of 5000 digits"),
        ("[" * 3000, "within each other"),
        (f"- {{file: {'a' * 5000}.png}}", "…a+.png is not there"),
        (f"- {{file: a.png, {'k' * 1000}: 1}}", "is no key"),
        ('- {file: "a\\0.png"}', "is not there"),
        ('- {file: "a\\ud800.png"}', "is not there"),
        ("".join(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10) if n else 'lol'}]\n" for n in range(30)), "an alias"),
    ],
)
def test_a_wrong_manifest_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    (touched(tmp_path, "a.png") / "manifest.yaml").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        listed_images(tmp_path)
    assert "manifest.yaml" in str(caught.value)


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no image"):
        listed_images(tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        listed_images(tmp_path / "gone")


def test_a_wrong_manifest_is_refused_soon_and_in_a_short_line(tmp_path: Path) -> None:
    bomb = "".join(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'lol'}]\n" for n in range(10))
    for content in (bomb, "[" * 3000, f"- {'a' * 5000}.png", f"- {{file: a.png, {'k' * 1000}: 1}}"):
        (touched(tmp_path, "a.png") / "manifest.yaml").write_text(content)
        with pytest.raises(InputError) as caught:
            listed_images(tmp_path)
        assert len(str(caught.value)) < 500 + len(str(tmp_path))


def test_numbers_too_large_for_a_frame_are_none(tmp_path: Path) -> None:
    images = listed_images(touched(tmp_path, f"{'9' * 200}.png", "20240131123059.png"))
    assert [image.frame for image in images] == [0, 1]
