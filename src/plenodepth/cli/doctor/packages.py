"""The packages that plenodepth needs, and those that add something, as its metadata list them."""

from __future__ import annotations

from importlib import metadata

from packaging.requirements import Requirement

from plenodepth.cli.doctor.findings import Finding

PROJECT = "plenodepth"
FOR_DEVELOPERS = "dev"
GIVES = {
    "clouds": "clouds as .las, .laz and .e57",
    "cluster": "many machines",
    "cuda12": "search on a GPU, CUDA 12",
    "cuda13": "search on a GPU, CUDA 13",
    "raw": "raw files of cameras",
    "video": "video",
    "rerun": "recordings for rerun",
    "view": "the viewer",
}


def package_findings() -> list[Finding]:
    """Whether all that is needed is there in a version that serves, and which extras are."""
    try:
        listed = [Requirement(line) for line in metadata.requires(PROJECT) or ()]
        extras = metadata.metadata(PROJECT).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return [Finding("packages", "note", "plenodepth runs from its sources and is not installed", "pip install .")]
    needed = [one for one in listed if one.marker is None or one.marker.evaluate({"extra": ""})]
    missing = [one for one in needed if not _serves(one)]
    found = [
        Finding(
            "packages", "failed", f"{one.name} {_version(one.name) or 'is missing'}", f"pip install '{_plain(one)}'"
        )
        for one in missing
    ]
    if not missing:
        versions = ", ".join(f"{one.name} {_version(one.name)}" for one in needed)
        found.append(Finding("packages", "ok", versions))
    return found + [_extra(name, listed) for name in sorted(extras) if name != FOR_DEVELOPERS]


def _extra(name: str, listed: list[Requirement]) -> Finding:
    """Whether the packages of an extra are there."""
    wanted = [one for one in listed if one.marker is not None and _only_for(one, name)]
    what = GIVES.get(name, "")
    if all(_serves(one) for one in wanted):
        versions = ", ".join(f"{one.name} {_version(one.name)}" for one in wanted)
        return Finding(f"extra {name}", "ok", f"{what}: {versions}")
    return Finding(f"extra {name}", "note", f"{what}: not installed", f"pip install 'plenodepth[{name}]'")


def _only_for(requirement: Requirement, extra: str) -> bool:
    assert requirement.marker is not None
    return requirement.marker.evaluate({"extra": extra}) and not requirement.marker.evaluate({"extra": ""})


def _serves(requirement: Requirement) -> bool:
    """Whether the package is there in a version that is allowed."""
    version = _version(requirement.name)
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _plain(requirement: Requirement) -> str:
    """The requirement without its marker, as pip takes it."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"
