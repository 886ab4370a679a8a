"""The viewer's server: viser on this machine alone, at one port or not at all, without a way out."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plenodepth.errors import InputError

if TYPE_CHECKING:
    import viser

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8080
REFUSED = 1008  # code of a closed web socket: against the rules


def require_viser() -> Any:
    """The package viser, which only the viewer needs."""
    try:
        import viser
    except ImportError:
        raise InputError("the viewer needs the package viser", fix='pip install "plenodepth[view]"') from None
    return viser


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server there."""
    return host in ("localhost", "::1") or host.startswith("127.")


@contextmanager
def served(host: str, port: int, label: str) -> Iterator[viser.ViserServer]:
    """A server at that host and port while the block runs."""
    viser = require_viser()
    _require_free(host, port)
    # viser draws a box with the address, and says when it stops; the command prints its own line.
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    try:
        if port and server.get_port() != port:  # taken since; viser has gone on to the next
            raise _taken(host, port)
        _close_the_way_out(server)
        _admit_own_pages_only(server, host)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def address(server: viser.ViserServer) -> str:
    """What to type into a browser."""
    host = server.get_host()
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{server.get_port()}"


def _require_free(host: str, port: int) -> None:
    """Refuse what viser would replace in silence (another port), or try for ever (a host that is none)."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except socket.gaierror:
        raise InputError(f"is '{host}', which is no address", field="--host", fix=f"give {LOOPBACK}") from None
    except PermissionError:
        raise InputError(f"{port} is not for programs of users", field="--port", fix="give one above 1023") from None
    except OSError as error:
        if error.errno == 98 or "in use" in str(error):
            raise _taken(host, port) from None
        raise InputError(f"'{host}' cannot be served: {error.strerror}", field="--host") from None


def _taken(host: str, port: int) -> InputError:
    return InputError(f"{port} on {host} is taken by another program", field="--port", fix=f"try --port {port + 1}")


def _close_the_way_out(server: viser.ViserServer) -> None:
    """Without this, a page may ask for a tunnel through which the internet sees the viewer."""
    from viser import _messages

    server._websock_server.unregister_handler(_messages.ShareUrlRequest)
    server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=True, control_width="large")


def _admit_own_pages_only(server: viser.ViserServer, host: str) -> None:
    """Close connections that a page of another site has opened: any site may try, from inside the user's browser."""
    sockets = server._websock_server

    @sockets.on_client_connect
    async def _check(client: Any) -> None:
        connection = sockets._live_connections[client.client_id]
        headers = connection.request.headers if connection.request else {}
        if not _is_own(headers.get("Origin"), headers.get("Host", ""), is_loopback(host)):
            await connection.close(REFUSED, "of another site")


def _is_own(origin: str | None, host: str, loopback: bool) -> bool:
    """Whether a request comes from our own page, reached by a name of this machine where only it is served."""
    name = host.rpartition(":")[0].strip("[]")
    return (origin is None or origin.partition("://")[2] == host) and (not loopback or is_loopback(name))
