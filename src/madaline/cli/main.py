"""``madaline``: the commands, and what happens to errors."""

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
from madaline.cli.inspect import inspect
from madaline.cli.predict import predict
from madaline.cli.run_folder import StoppedRun
from madaline.cli.train import train
from madaline.errors import ConfigError, MadalineError, UnknownNameError

WRONG_USE, WRONG_DATA, OUR_MISTAKE, INTERRUPTED = 2, 1, 70, 130
"Exit codes: an option that cannot be, a file that cannot be read or learned from, an error of ours, Ctrl-C."

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"What typer raises for a line that it cannot read; older versions have it from click, newer ones bring their own."

app = typer.Typer(
    name="madaline",
    help="Multilayer perceptrons from tables: train, predict, evaluate, explain, compare, inspect, export.",
    epilog="Example: madaline train penguins --out run && madaline inspect run/model.madaline",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (train, predict, evaluate, diagnose, explain, compare, inspect, export, datasets):
    app.command()(command)


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
        bool, typer.Option("--debug", help="Show the traceback of an error; anywhere in the line.")
    ] = False,
) -> None:
    """Options of all commands; ``main`` reads them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = app([word for word in given if word != "--debug"], prog_name="madaline", standalone_mode=False)
        sys.stdout.flush()
        # Ctrl-C comes back from typer as its exit code, without a word.
        return _failed("Stopped.", INTERRUPTED, debug) if code == INTERRUPTED else code if isinstance(code, int) else 0
    except StoppedRun as error:
        return _failed(str(error), INTERRUPTED, debug)
    except typer.Exit as error:
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _failed("Stopped.", INTERRUPTED, debug)
    except UsageError as error:
        if not str(error):  # nothing was asked for, and the help is on the screen
            return WRONG_USE
        return _failed(_usage(error), WRONG_USE, debug)
    except BrokenPipeError:
        # Who reads the pipe has had enough; what is left in the buffer must not be an error either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ConfigError, UnknownNameError) as error:
        return _failed(str(error), WRONG_USE, debug)
    except OSError as error:
        return _failed(_about_file(error), WRONG_DATA, debug)
    except MadalineError as error:
        return _failed(str(error), WRONG_DATA, debug)
    except MemoryError:
        text = (
            "The memory is not enough. Let train stream the table, --memory 500MB, or take fewer rows, --rows 100000."
        )
        return _failed(text, WRONG_DATA, debug)
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, whatever happened
        text = f"An error that should not happen: {type(error).__name__}: {error}. With --debug it shows where."
        return _failed(text, OUR_MISTAKE, debug)


def _about_file(error: OSError) -> str:
    """What is wrong with a file, and what to do; what we raise ourselves says so already."""
    if error.errno is None or error.strerror is None:
        return str(error)
    if error.errno == errno.ENOSPC:
        return "The disk is full. Make room and start again; a training run goes on with --resume."
    place = f"{str(error.filename)!r}: " if error.filename else ""
    is_right = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return f"{place}{error.strerror}.{' Choose another place, or get the right to use this one.' if is_right else ''}"


def _usage(error: Any) -> str:
    """What is wrong with the line, and where to read on."""
    place = error.ctx.command_path if error.ctx else "madaline"
    message = str(error.format_message()).rstrip()
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {place} --help."


def _failed(text: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"madaline: {text}", file=sys.stderr)
    return code
