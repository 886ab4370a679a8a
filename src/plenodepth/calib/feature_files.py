"""Features and centres on disk: our CSV files with uncertainties, and libpleno's without."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plenodepth.calib.features import UNKNOWN, Centers, Features
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.io.libpleno import Observations, read_observations
from plenodepth.io.libpleno.archive import Table
from plenodepth.io.libpleno.observations_csv import read_csv_table, write_csv_table

FOREIGN_SIGMA = 1.0  # px, of all that a file without uncertainties holds: every residual weighs the same

_COVARIANCE = [("uu", "<f8"), ("uv", "<f8"), ("vv", "<f8")]
_FEATURES: np.dtype[np.void] = np.dtype(
    [
        *[(name, "<i4") for name in ("frame", "k", "l")],
        *[(name, "<f8") for name in ("u", "v")],
        *_COVARIANCE,
        *[(name, "<f8") for name in ("rho", "rho_sigma")],
        *[(name, "<i4") for name in ("cluster", "corner", "board")],
    ]
)
_CENTERS: np.dtype[np.void] = np.dtype([("k", "<i4"), ("l", "<i4"), ("u", "<f8"), ("v", "<f8"), *_COVARIANCE])
_NO_RHO = 0.0  # what a table of finite numbers holds for a ρ that is unknown, with a negative standard deviation


def write_features(features: Features, path: Path | str) -> None:
    """Write a CSV file: frame,k,l,u,v,uu,uv,vv,rho,rho_sigma,cluster,corner,board; rho_sigma −1 where ρ is unknown."""
    table = np.empty(len(features), _FEATURES)
    for name in ("frame", "k", "l", "cluster", "corner", "board"):
        table[name] = getattr(features, name)
    _put_positions(table, features.uv, features.covariance)
    known = np.isfinite(features.rho)
    table["rho"] = np.where(known, features.rho, _NO_RHO)
    table["rho_sigma"] = np.where(known, features.rho_sigma, -1.0)
    write_csv_table(table, path)


def write_centers(centers: Centers, path: Path | str) -> None:
    """Write a CSV file: k,l,u,v,uu,uv,vv."""
    table = np.empty(len(centers), _CENTERS)
    table["k"], table["l"] = centers.k, centers.l
    _put_positions(table, centers.uv, centers.covariance)
    write_csv_table(table, path)


def read_features(path: Path | str) -> Features:
    """Read our features, or libpleno's (.csv, .bin, .bin.gz), whose `cluster` is the board's corner."""
    if _is_ours(path, _FEATURES):
        table = read_csv_table(path, {"features": _FEATURES})[1]
        known = table["rho_sigma"] > 0
        return Features(
            **{name: table[name].astype(np.int64) for name in ("frame", "k", "l", "cluster", "corner", "board")},
            uv=_positions(table),
            covariance=_covariance(table),
            rho=np.where(known, table["rho"], np.nan),
            rho_sigma=np.where(known, table["rho_sigma"], np.nan),
        )
    return _foreign_features(read_observations(path), path)


def read_centers(path: Path | str) -> Centers:
    """Read our centres, or libpleno's (.csv, .bin, .bin.gz)."""
    if _is_ours(path, _CENTERS):
        table = read_csv_table(path, {"centers": _CENTERS})[1]
        covariance = _covariance(table)
    else:
        table = read_observations(path).centers
        covariance = _same_covariance(len(table))
    if not len(table):
        raise InputError("holds no micro-image centres", file=path, fix="give a file with k, l, u, v of each")
    return Centers(table["k"].astype(np.int64), table["l"].astype(np.int64), _positions(table), covariance)


def _foreign_features(observations: Observations, path: Path | str) -> Features:
    table = observations.features if len(observations.features) else observations.corners
    if not len(table):
        raise InputError("holds no features", file=path, fix="detect them first, or give the file with the features")
    has_rho = "rho" in (table.dtype.names or ())
    corner = table["cluster"].astype(np.int64)
    return Features(
        frame=table["frame"].astype(np.int64),
        k=table["k"].astype(np.int64),
        l=table["l"].astype(np.int64),
        uv=_positions(table),
        covariance=_same_covariance(len(table)),
        rho=table["rho"].astype(np.float64) if has_rho else np.full(len(table), np.nan),
        rho_sigma=np.full(len(table), FOREIGN_SIGMA if has_rho else np.nan),
        cluster=corner,
        corner=corner,
        board=np.where(corner == UNKNOWN, UNKNOWN, 0),
    )


def is_foreign(path: Path | str) -> bool:
    """Whether a file of features is libpleno's: without uncertainties, and with blur radii made of positions."""
    return not _is_ours(path, _FEATURES)


def _is_ours(path: Path | str, dtype: np.dtype[np.void]) -> bool:
    if Path(path).suffix.lower() != ".csv":
        return False
    try:
        with Path(path).open(encoding="utf-8") as file:
            header = file.readline()
    except (OSError, UnicodeDecodeError):
        return False  # the reader of the other format says what is wrong with it
    return tuple(cell.strip() for cell in header.split(",")) == dtype.names


def _same_covariance(count: int) -> Array:
    return np.broadcast_to(FOREIGN_SIGMA**2 * np.eye(2), (count, 2, 2)).copy()


def _positions(table: Table) -> Array:
    return np.stack([table["u"], table["v"]], axis=1)


def _covariance(table: Table) -> Array:
    return np.stack([table[name] for name in ("uu", "uv", "uv", "vv")], axis=1).reshape(-1, 2, 2)


def _put_positions(table: Table, uv: Array, covariance: Array) -> None:
    table["u"], table["v"] = uv.T
    table["uu"], table["uv"], table["vv"] = covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]
