from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("viser", reason="no viser: pip install plenodepth[view]")
import websockets.asyncio.client
import websockets.exceptions

from plenodepth.errors import InputError
from plenodepth.view.browser.server import LOOPBACK, address, served


@pytest.fixture
def port() -> Iterator[int]:
    with served(LOOPBACK, 0, "test") as server:
        assert address(server) == f"http://127.0.0.1:{server.get_port()}"
        yield server.get_port()


def test_a_taken_port_is_refused_and_not_replaced_by_the_next() -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(InputError, match=rf"--port: {taken} on 127.0.0.1 is taken .*try --port {taken + 1}"):
            served(LOOPBACK, taken, "test").__enter__()


def test_a_host_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="--host"):
        served("no.such.host.invalid", 0, "test").__enter__()


def test_the_port_is_free_again_afterwards(port: int) -> None:
    with served(LOOPBACK, 0, "other") as server:
        used = server.get_port()
    with served(LOOPBACK, used, "other again") as server:
        assert server.get_port() == used != port


def test_it_listens_on_this_machine_alone(port: int) -> None:
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for outside in addresses - {LOOPBACK}:
        if not outside.startswith("127."):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((outside, port), timeout=2).close()


@pytest.mark.parametrize(
    "path", ["/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/raw.json"]
)
def test_the_web_server_gives_its_own_pages_only(port: int, path: str) -> None:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def _first_message(port: int, origin: str) -> bytes | None:
    """What the server sends to a page of some origin at first; None where it closes the connection instead."""

    async def connect() -> Any:
        import viser

        async with websockets.asyncio.client.connect(
            f"ws://{LOOPBACK}:{port}",
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            origin=origin,  # type: ignore[arg-type]
            proxy=None,
        ) as page:
            return await asyncio.wait_for(page.recv(), 5)

    try:
        return bytes(asyncio.run(connect()))
    except websockets.exceptions.ConnectionClosed:
        return None


def test_a_page_of_another_site_is_turned_away(port: int) -> None:
    assert _first_message(port, f"http://{LOOPBACK}:{port}")
    assert _first_message(port, "http://evil.example") is None
    assert _first_message(port, f"http://{LOOPBACK}:{port + 1}") is None


def test_nobody_can_ask_for_a_tunnel_to_the_internet() -> None:
    from viser import _messages

    with served(LOOPBACK, 0, "test") as server:
        handlers = server._websock_server._incoming_handlers
        assert _messages.ShareUrlRequest not in handlers


def test_viser_is_loaded_for_a_server_only() -> None:
    code = "import sys, plenodepth.cli, plenodepth.cli.view, plenodepth.view.browser.frames; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"viser", "websockets", "numba", "matplotlib"} & {*loaded}


def test_a_missing_package_is_one_line_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(InputError, match=r'needs the package viser \(pip install "plenodepth\[view\]"\)'):
        served(LOOPBACK, 0, "test").__enter__()
