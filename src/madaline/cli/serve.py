"""``madaline serve``: predictions over HTTP."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from madaline.errors import ConfigError
from madaline.extras import require

if TYPE_CHECKING:
    from madaline.web.limits import Limits

TOKEN = "MADALINE_TOKEN"  # noqa: S105 - the name of a variable
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def serve(
    models: Annotated[
        list[str],
        typer.Argument(help="Model file or run folder; NAME=PATH for several models.", show_default=False),
    ],
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help=f"Address to listen on. Addresses other than this computer need a token in {TOKEN}.")
    ] = "127.0.0.1",
    max_body: Annotated[float, typer.Option(help="Maximum size of a request body in MB.")] = 64.0,
    max_rows: Annotated[int, typer.Option(help="Maximum number of rows per request.")] = 1_000_000,
    timeout: Annotated[
        float, typer.Option(help="Time limit for receiving a request, and for answering it.", metavar="SECONDS")
    ] = 30.0,
    max_connections: Annotated[int, typer.Option(help="Maximum number of open connections.")] = 512,
) -> None:
    """Serve predictions over HTTP: JSON, CSV and Arrow, a form in the browser, and metrics.

    Routes and keys are those of MLflow's scoring server. Columns are checked against the training table. A changed
    model file is loaded without a restart. Ctrl-C finishes the requests in progress.

    \b
    Examples:
      madaline serve run
      curl localhost:8000/invocations --json '{"dataframe_records": [{"age": 31}]}'
      curl localhost:8000/invocations -H content-type:text/csv --data-binary @new.csv
      MADALINE_TOKEN=... madaline serve prices=run-1 churn=run-2 --host 0.0.0.0
    """
    for package in ("starlette", "uvicorn", "httptools"):
        require(package, "madaline serve")
    from madaline.web.guard import is_loopback
    from madaline.web.limits import Limits

    token = os.environ.get(TOKEN) or None
    if not is_loopback(host) and token is None:
        raise ConfigError(
            f"--host {host} opens the server to other computers, which needs a token: set the environment variable "
            f"{TOKEN} to a long random text. Clients send it as Authorization: Bearer TOKEN."
        )
    if token is not None and (not token.isascii() or any(sign.isspace() for sign in token)):
        raise ConfigError(f"The token in {TOKEN} must consist of ASCII characters without spaces.")
    numbers = {
        "--max-body": max_body,
        "--max-rows": max_rows,
        "--timeout": timeout,
        "--max-connections": max_connections,
    }
    for flag, number in numbers.items():
        if not number > 0:
            raise ConfigError(f"{flag} {number} must be above 0.")
    body = round(max_body * 1e6)
    limits = Limits(body=body, all_bodies=8 * body, rows=max_rows, seconds=timeout, connections=max_connections)
    _run(_files(models), host, port, token, limits)


def _files(given: list[str]) -> dict[str, Path]:
    """Model files by name."""
    from madaline.cli.run_folder import model_of

    found: dict[str, Path] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or Path(text).exists():
            path = text
            resolved = Path(text).resolve()
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", resolved.stem if resolved.is_file() else resolved.name).strip("-._")
            name = resolved.parent.name if name == "model" and resolved.is_file() else name or "model"
        if not NAME.fullmatch(name):
            raise ConfigError(f"{name!r} cannot be the name of a model: use letters, digits, dots and hyphens.")
        if name in found:
            raise ConfigError(f"Two models are named {name!r}. Give them names: madaline serve NAME=PATH NAME=PATH.")
        file = model_of(Path(path))
        if not file.is_file():
            raise FileNotFoundError(f"There is no model {str(file)!r}.")
        found[name] = file
    return found


def _run(files: dict[str, Path], host: str, port: int, token: str | None, limits: Limits) -> None:
    from madaline.cli.screen import Screen
    from madaline.web.app import Service
    from madaline.web.server import listen, run

    try:
        listening = listen(host, port)
    except OverflowError:
        raise ConfigError(f"--port {port} must be from 0 to 65535.") from None
    except OSError as error:
        reason = error.strerror or error
        raise OSError(f"The server cannot listen on {host} port {port}: {reason}. Choose another --port.") from None
    with listening:
        service = Service(files, host=host, token=token, limits=limits)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}"
        screen = Screen()

        def started() -> None:
            for model in service.shelf:
                screen.say(f"{model.name}: predicts {', '.join(model.saved.targets)} from {len(model.fields)} columns")
            screen.say(f"Serving at {address} (form), {address}/invocations, {address}/schema. Stop with Ctrl-C.")
            sys.stdout.flush()

        run(service.app(), service.busy, listening, limits, started=started)
        screen.say("Stopped.")
