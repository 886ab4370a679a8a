"""The command line: `plenodepth GROUP COMMAND`. Thin: paths, printing and exit codes over the Python functions."""

from __future__ import annotations

import io
import sys

from plenodepth.cli.app import app
from plenodepth.errors import PlenodepthError

__all__ = ["app", "main"]

BAD_INPUT = 2  # exit code, the same that a wrong option gives


def main() -> None:
    """Run the command line; what the user can repair is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal, file or pipe takes a κ
    try:
        app()
    except PlenodepthError as error:
        print(f"plenodepth: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
