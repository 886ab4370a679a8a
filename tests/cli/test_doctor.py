"""plenodepth doctor: what it checks, and that it notices what is wrong."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from commands import Run
from packaging.requirements import Requirement

from plenodepth.cli.doctor import machine, packages
from plenodepth.cli.doctor.findings import Finding
from plenodepth.compiling import cache_folder
from plenodepth.studies import self_test as study
from plenodepth.studies.self_test import MOST_ERROR, SelfTest, self_test
from plenodepth.version import __version__


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_a_sound_installation_passes(succeeds: Run) -> None:
    found = succeeds("doctor", "--no-self-test", "--json").json
    assert found["ok"] is True
    checks = {check["name"]: check for check in found["checks"]}
    assert {"program", "threads", "GPU", "cache", "temporary files", "packages"} <= set(checks)
    assert f"plenodepth {__version__}" in checks["program"]["text"]
    assert f"numpy {np.__version__}" in checks["packages"]["text"]
    assert str(cache_folder()) in checks["cache"]["text"]
    assert not [check for check in checks.values() if check["state"] == "failed"]


def test_in_words_each_check_is_a_line_with_what_to_do_below(succeeds: Run) -> None:
    lines = succeeds("doctor", "--no-self-test").out.splitlines()
    assert lines[-1] == "all is well"
    assert all(line.startswith(("ok  ", "note  ", " ")) for line in lines[:-1])
    assert any(line.split()[:2] == ["ok", "threads"] for line in lines)


def test_every_extra_is_said_with_how_to_install_it() -> None:
    extras = set(metadata.metadata("plenodepth").get_all("Provides-Extra") or ()) - {"dev"}
    found = by_name(packages.package_findings())
    assert {name.removeprefix("extra ") for name in found if name.startswith("extra ")} == extras == set(packages.GIVES)
    for name in extras:
        finding = found[f"extra {name}"]
        assert finding.state == "ok" or finding.fix == f"pip install 'plenodepth[{name}]'"


def test_a_missing_or_old_package_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ["numpy>=99", "no-such-package>=1", "scipy>=1", "alien; platform_system == 'Plan9'"]
    monkeypatch.setattr(metadata, "requires", lambda name: listed)
    failed = [finding for finding in packages.package_findings() if finding.state == "failed"]
    assert [finding.text for finding in failed] == [f"numpy {np.__version__}", "no-such-package is missing"]
    assert [finding.fix for finding in failed] == ["pip install 'numpy>=99'", "pip install 'no-such-package>=1'"]
    assert packages._plain(Requirement("laspy[lazrs]>=2.5; extra == 'clouds'")) == "laspy[lazrs]>=2.5"


def test_sources_that_are_not_installed_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    (finding,) = packages.package_findings()
    assert (finding.state, finding.fix) == ("note", "pip install .")


def test_the_cache_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    assert machine._caches()[0].state == "note"  # nothing is compiled yet
    kept = tmp_path / "cache" / "kernels-0123456789ab" / "deep"
    kept.mkdir(parents=True)
    (kept / "kernel.nbc").write_bytes(bytes(3_000_000))
    (finding,) = machine._caches()
    assert finding.state == "ok"
    assert f"{tmp_path / 'cache'}: 3 MB, 3 MB of them by earlier versions, writable" in finding.text


def test_a_cache_that_takes_no_files_fails(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "file")
    outcome = run("doctor", "--no-self-test")
    assert outcome.code == 1
    assert "FAILED  cache" in outcome.out
    assert "NUMBA_CACHE_DIR" in outcome.out
    assert outcome.out.splitlines()[-1] == "1 check failed"


def test_without_room_for_temporary_files_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine.tempfile, "gettempdir", lambda: str(tmp_path / "file" / "below"))
    (tmp_path / "file").write_text("")
    assert machine._temporary().state == "failed"


def test_the_self_test_finds_the_wall() -> None:
    found = self_test()
    assert found.passed
    assert 0 < found.median_error < MOST_ERROR
    assert 0 < found.dense_error < MOST_ERROR
    assert found.coverage > 0.6


def test_the_self_test_notices_wrong_depth(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = study.wall_scene
    # The wall stands elsewhere than the truth of the dense view says.
    monkeypatch.setattr(study, "wall_scene", lambda distance, seed, camera: scene(1.05 * distance, seed, camera))
    outcome = run("doctor", "--json")
    assert outcome.code == 1
    (check,) = [check for check in outcome.json["checks"] if check["name"] == "self-test cpu"]
    assert check["state"] == "failed"
    assert "in the dense view 4." in check["text"] or "in the dense view 5." in check["text"]
    assert check["fix"]


def test_an_error_in_the_self_test_is_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> SelfTest:
        raise RuntimeError("no such symbol")

    monkeypatch.setattr(study, "self_test", broken)
    outcome = run("doctor")
    assert outcome.code == 1
    assert "RuntimeError: no such symbol" in outcome.out
