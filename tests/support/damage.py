"""Files as accidents leave them: cut short, with bytes changed; and what reading one may do."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from plenodepth.camera import Camera, load_camera
from plenodepth.errors import InputError

WORDS = [b"nan", b"-1", b"1e308", b"1e400", b"null", b"true", b"[]", b"{}", b'""', b"*a", b"&a ", b"? ", b"9" * 400]


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """The file cut at some place, or with a few bytes there replaced by others or by a word that means something."""
    places = st.integers(0, len(whole))
    cut = places.map(lambda end: whole[:end])
    changes = st.tuples(places, st.integers(0, 12), st.binary(max_size=3) | st.sampled_from([*WORDS, b"\\ud800"]))
    return cut | changes.map(lambda change: whole[: change[0]] + change[2] + whole[change[0] + change[1] :])


def loaded_or_refused(path: Path, data: bytes) -> Camera | None:
    """The camera, or None for an error of one line that names the file; any other exception fails the test."""
    path.write_bytes(data)
    try:
        return load_camera(path)
    except InputError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    return None
