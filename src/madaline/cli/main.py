"""``madaline``: the list of commands, and error handling."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from madaline.cli.compare import compare
from madaline.cli.datasets import datasets
from madaline.cli.diagnose import diagnose
from madaline.cli.evaluate import evaluate
from madaline.cli.explain import explain
from madaline.cli.export import export
from madaline.cli.gallery import gallery
from madaline.cli.help_pages import Command, Group
from madaline.cli.inspect import inspect
from madaline.cli.play import play
from madaline.cli.predict import predict
from madaline.cli.run_folder import StoppedRun
from madaline.cli.screen import visible
from madaline.cli.search import search
from madaline.cli.serve import serve
from madaline.cli.train import train
from madaline.errors import ConfigError, MadalineError, UnknownNameError

WRONG_USE, WRONG_DATA, OUR_MISTAKE, INTERRUPTED = 2, 1, 70, 130
"Exit codes: an invalid option, a file that cannot be used, an internal error, Ctrl-C."

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"The exception of typer for invalid arguments: that of click in older versions, its own in newer ones."

app = typer.Typer(
    name="madaline",
    cls=Group,
    help="Multilayer perceptrons from tables: train, search, predict, evaluate, explain, export, serve.",
    epilog="Example: madaline train penguins --out run && madaline inspect run/model.madaline",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    train,
    search,
    predict,
    evaluate,
    diagnose,
    explain,
    compare,
    inspect,
    export,
    serve,
    play,
    datasets,
    gallery,
):
    app.command(cls=Command)(command)


def _show_version(asked: bool) -> None:
    if asked:
        from madaline import __version__

        typer.echo(f"madaline {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error. Allowed anywhere in the line.")
    ] = False,
) -> None:
    """Options of all commands; ``main`` reads them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = app([word for word in given if word != "--debug"], prog_name="madaline", standalone_mode=False)
        sys.stdout.flush()
        # typer returns its exit code for Ctrl-C without a message.
        return _failed("Stopped.", INTERRUPTED, debug) if code == INTERRUPTED else code if isinstance(code, int) else 0
    except StoppedRun as error:
        return _failed(str(error), INTERRUPTED, debug)
    except typer.Exit as error:
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _failed("Stopped.", INTERRUPTED, debug)
    except UsageError as error:
        if not str(error):  # no command: the help was shown
            return WRONG_USE
        return _failed(_usage(error), WRONG_USE, debug)
    except BrokenPipeError:
        # The reader of the pipe has closed it; flushing the rest of the buffer must not raise an error either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ConfigError, UnknownNameError) as error:
        return _failed(str(error), WRONG_USE, debug)
    except OSError as error:
        return _failed(_about_file(error), WRONG_DATA, debug)
    except MadalineError as error:
        return _failed(str(error), WRONG_DATA, debug)
    except MemoryError:
        text = "Not enough memory. Let train stream the table (--memory 500MB), or use fewer rows (--rows 100000)."
        return _failed(text, WRONG_DATA, debug)
    except Exception as error:  # noqa: BLE001 - users get a message instead of a traceback
        text = f"Internal error: {type(error).__name__}: {error}. Use --debug to show the traceback."
        return _failed(text, OUR_MISTAKE, debug)


def _about_file(error: OSError) -> str:
    """The message for an error of a file; errors raised by madaline already have one."""
    if error.errno is None or error.strerror is None:
        return str(error)
    if error.errno == errno.ENOSPC:
        return "The disk is full. Free some space and start again; resume a training run with --resume."
    place = f"{str(error.filename)!r}: " if error.filename else ""
    is_right = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return f"{place}{error.strerror}.{' Choose another location, or change its permissions.' if is_right else ''}"


def _usage(error: Any) -> str:
    """The message for invalid arguments, with a reference to the help."""
    place = error.ctx.command_path if error.ctx else "madaline"
    message = str(error.format_message()).rstrip()
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {place} --help."


def _failed(text: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"madaline: {visible(text)}", file=sys.stderr)
    return code
