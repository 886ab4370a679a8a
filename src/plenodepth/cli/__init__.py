"""The command line: `plenodepth GROUP COMMAND`. Thin: paths, printing and exit codes over the Python functions."""

from __future__ import annotations

import gc
import io
import os
import sys

import typer

# Before NumPy is loaded. The threads that keep the cores busy are our own; those of BLAS wait for their next small
# matrix in a loop: a fifth of the CPU time of an adjustment, for nothing.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from plenodepth.cli.app import command_tree
from plenodepth.cli.shared.signals import SIGNAL_BASE, stop_on_signals
from plenodepth.cli.shared.unexpected import printed_traceback, unexpected_line
from plenodepth.cli.shared.usage import UsageError, usage_line
from plenodepth.errors import PlenodepthError

__all__ = ["main"]

PROGRAM = "plenodepth"
BAD_INPUT = 2
INTERRUPTED = 130
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h: not the user's fault
STDOUT = 1
DEBUG = "--debug"


def main() -> None:
    """Run the command line; what the user can repair is one line on stderr and exit code 2, anything else 70.

    `--debug`, wherever it stands, prints the traceback of the error, too.
    """
    arguments = sys.argv[1:]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = DEBUG in options
    arguments = [word for word in options if word != DEBUG] + arguments[len(options) :]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal, file or pipe takes a κ
    app = command_tree(arguments)
    try:
        with stop_on_signals() as signals, printed_traceback(debug):
            # Not standalone: Typer hands wrong options over instead of printing them in boxes of its own.
            code = app(arguments, prog_name=PROGRAM, standalone_mode=False)
            sys.stdout.flush()  # a full disk behind stdout shows here, and not in the interpreter's last moment
    except UsageError as error:
        code = _failed(usage_line(error, app, PROGRAM, arguments))
    except PlenodepthError as error:
        code = _failed(str(error))
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        code = _output_lost()
    except OSError as error:
        code = _failed(_refused_by_the_system(error))
    except Exception as error:
        code = _failed(unexpected_line(error), UNEXPECTED)
    if signals:
        code = SIGNAL_BASE + signals[0]
    gc.freeze()  # the interpreter would go through all objects of all packages once more before it ends: half a second
    sys.exit(code or 0)


def _failed(line: str, code: int = BAD_INPUT) -> int:
    if line:
        print(f"{PROGRAM}: {line}", file=sys.stderr)
    return code


def _refused_by_the_system(error: OSError) -> str:
    """What the system said; a file is named unless it is the one behind stdout."""
    if error.filename is None:
        _output_lost()
    where = "" if error.filename is None else f"{error.filename}: "
    return " ".join(f"{where}{error.strerror or error}".split())


def _output_lost() -> int:
    """Keep the interpreter from trying once more, at its end, to write what stdout did not take."""
    if sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    return 1
