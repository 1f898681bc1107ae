"""``madaline play``: the playground in the browser."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from madaline.errors import ConfigError
from madaline.extras import require

if TYPE_CHECKING:
    from madaline.web.play.settings import Settings
    from madaline.web.play.tables import TableStore

HOST = "127.0.0.1"


def play(
    table: Annotated[
        str | None,
        typer.Argument(help="CSV or Parquet file, or the name of a data set.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one.")] = 0,
    settings: Annotated[
        str, typer.Option(help="Settings to start with: the part of a link of the page after #.", show_default=False)
    ] = "",
    train: Annotated[
        bool, typer.Option("--train", help="Train with the settings and print the history, without a page.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open the playground: build a net in the browser and watch it train, on your own table or on shapes.

    The server listens on this computer only. The address that it prints holds a token, which the page needs.

    \b
    Examples:
      madaline play
      madaline play penguins
      madaline play houses.csv --no-browser --port 8123
      madaline play --settings 'data=xor&layers=3relu' --train
    """
    for package in ("starlette", "uvicorn", "httptools", "polars"):
        require(package, "madaline play")
    from madaline.web.play.settings import Settings
    from madaline.web.play.tables import TableStore

    tables = TableStore()
    start = Settings.of_link(settings)
    if table is not None:
        stored = tables.add_file(Path(table))
        if start.digest and start.digest != stored.digest:
            raise ConfigError(
                f"{table!r} is not the table of the settings: its SHA-256 begins with {stored.digest or 'nothing'}, "
                f"that of the settings with {start.digest}."
            )
        start = start.changed(data="table", table=stored.name, digest=stored.digest)
    if train:
        _train(start, tables)
    else:
        _serve(start, tables, port, browser)


def _train(settings: Settings, tables: TableStore) -> None:
    from madaline.cli.screen import Screen
    from madaline.web.play.exercise import Exercise
    from madaline.web.play.problem import make_problem

    exercise = Exercise(settings, make_problem(settings, tables))
    problem = exercise.problem
    history = exercise.trainer().fit(
        problem.X, problem.y, validation=(problem.X_test, problem.y_test), **exercise.fit_options()
    )
    Screen().say(str(history))


def _serve(settings: Settings, tables: TableStore, port: int, browser: bool) -> None:
    from madaline.cli.screen import Screen
    from madaline.web.limits import Limits
    from madaline.web.play.app import Playground
    from madaline.web.server import listen, run

    try:
        listening = listen(HOST, port)
    except OverflowError:
        raise ConfigError(f"--port {port} must be from 0 to 65535.") from None
    except OSError as error:
        raise OSError(f"Port {port} cannot be used: {error.strerror or error}. Choose another --port.") from None
    with listening:
        token = secrets.token_urlsafe(24)
        table = tables.get(settings.table, settings.digest) if settings.kind == "table" and settings.table else None
        playground = Playground(token=token, tables=tables, table=table, start=settings.link())
        address = f"http://{HOST}:{listening.getsockname()[1]}/#token={token}"
        screen = Screen()

        def started() -> None:
            screen.say(f"Playground at {address}")
            screen.say("Stop with Ctrl-C.")
            sys.stdout.flush()
            if browser:
                import webbrowser

                webbrowser.open(address)

        run(playground.app(), playground.busy, listening, Limits(seconds=10), started=started)
        screen.say("Stopped.")
