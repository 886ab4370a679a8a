"""Files of real lenses: what is read is what was written, and what is wrong is named."""

from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.sim.optics import OPTICS_PRESETS, RealOptics, Stop, load_optics, optics_preset, save_optics

EXAMPLES = Path(__file__).parents[3] / "examples" / "optics"
ALL = RealOptics(
    exit_pupil=Stop(-12.0, 15.0, (0.5, -0.25)),
    rim=Stop(-40.0, 30.0),
    field_radius=-900.0,
    main_lens_color=(0.001, 0.0, -0.001),
    micro_lens_color=(0.01, 0.0, -0.01),
    clear_aperture=0.9,
    corner_reach=1.1,
    spherical_aberration=0.05,
    wavelength=550.0,
    mask=True,
    crosstalk=0.02,
    half_angle=25.0,
)


@pytest.mark.parametrize("name", ["optics.yaml", "optics.json"])
@pytest.mark.parametrize("optics", [RealOptics(), ALL, *OPTICS_PRESETS.values()])
def test_what_is_written_is_read_again(tmp_path: Path, name: str, optics: RealOptics) -> None:
    save_optics(optics, tmp_path / name)
    assert load_optics(tmp_path / name) == optics


def test_the_example_of_an_r12_is_the_one_that_has_a_name() -> None:
    for name in ("r12-a-real", "r12-es-real"):
        assert load_optics(EXAMPLES / "r12-real.yaml") == load_optics(name) == optics_preset(name)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_switches_something_on(path: Path) -> None:
    assert load_optics(path).used


def test_everything_is_off_by_default() -> None:
    assert RealOptics().used == ()
    assert set(ALL.used) == set(RealOptics.__dataclass_fields__)
    assert ALL.only("mask", "rim").used == ("rim", "mask")


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("clear_apperture: 0.9", "clear_apperture", "did you mean clear_aperture?"),
        ("colour: 1", "colour", "there are: exit_pupil"),
        ("exit_pupil: {distnace: 3}", "exit_pupil.distnace", "did you mean distance?"),
        ("exit_pupil: {diameter: -3}", "exit_pupil.diameter", "> 0"),
        ("rim: {distance: -30}", "rim.diameter", "is missing"),
        ("clear_aperture: 1.2", "clear_aperture", "from 0.05 to 1"),
        ("clear_aperture: yes", "clear_aperture", "boolean"),
        ("mask: 1", "mask", "boolean"),
        ("field_radius: 0", "field_radius", "other than 0"),
        ("main_lens_color: [0.1, 0.0]", "main_lens_color.2", "is missing"),
        ("micro_lens_color: [0.1, 0.0, 3]", "micro_lens_color", "-0.2 to 0.2"),
        ("half_angle: 95", "half_angle", "1 to 89"),
        ("wavelength: 0.55", "wavelength", "100 to 20000"),
        ("crosstalk: .nan", "crosstalk", "finite"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, field: str, words: str) -> None:
    path = tmp_path / "real.yaml"
    path.write_text(f"plenodepth_optics: 1\n{text}\n")
    with pytest.raises(InputError) as error:
        load_optics(path)
    assert error.value.field == field
    assert error.value.file == str(path)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["mask: true", "plenodepth_optics: 2", "- 1", "plenodepth_optics: true"])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "real.yaml").write_text(text)
    with pytest.raises(InputError, match="plenodepth_optics"):
        load_optics(tmp_path / "real.yaml")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="r12-a-real"):
        optics_preset("r99-real")
    with pytest.raises(InputError, match="r99-real"):
        load_optics("r99-real")
