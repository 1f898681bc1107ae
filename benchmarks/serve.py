"""Response times over HTTP on the loopback interface: madaline serve, FastAPI with ONNX Runtime, and MLflow.

    .venv-web/bin/python benchmarks/serve.py [--rates 100,1000] [--seconds 4] [--rounds 4] [--no-save] [--note TEXT]

One model of a table with numbers, categories and gaps is served by all. Requests for one row are sent at a fixed rate
over 16 connections that stay open, whether earlier ones were answered or not, and a response time is counted from the
moment at which a request was due. The servers take turns. Results are saved in ``results/serve.json`` and
``results/serve.md``. The second part sends 10,000 rows as Arrow and compares with ``predict`` in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import harness
import numpy as np
import polars as pl

import madaline as md
from madaline.data.datasets import DATASETS
from madaline.ship import mlflow as flavour

CONNECTIONS = 16
MOST_LATE = 5.0
"A server that is this many seconds behind is stopped: it cannot answer at this rate."
N_ARROW = 10_000


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=harness.numbers, default=[100, 1000], help="requests per second")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--servers", type=harness.words, default=["madaline", "fastapi", "mlflow"])
    parser.add_argument("--note", default="", help="a sentence about the conditions, for the page")
    parser.add_argument("--no-save", action="store_true")
    return parser.parse_args()


class Contestant:
    """A server in a process of its own, and how to ask it for one row."""

    def __init__(self, name: str, command: list[str], path: str, wrap: Any, port: int, **environment: str) -> None:
        self.name, self.path, self.wrap, self.port = name, path, wrap, port
        folder = str(Path(sys.executable).parent)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment}
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
        )

    def request(self, row: dict[str, Any]) -> bytes:
        body = json.dumps(self.wrap(row)).encode()
        head = f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def ask(self, row: dict[str, Any]) -> float:
        body = json.dumps(self.wrap(row)).encode()
        request = Request(f"http://127.0.0.1:{self.port}{self.path}", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=30) as response:
            return float(json.loads(response.read())["predictions"][0])

    def wait(self, row: dict[str, Any]) -> float:
        deadline = time.monotonic() + 120
        while True:
            try:
                return self.ask(row)
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.3)

    def cpu(self) -> float:
        """CPU seconds of all processes of the server so far."""
        total = 0
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                fields = entry.joinpath("stat").read_text().rpartition(")")[2].split() if entry.name.isdecimal() else []
                if fields and int(fields[2]) == self.process.pid:  # the process group
                    total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(30)


async def one_round(server: Contestant, requests: list[bytes], rate: int, seconds: float) -> list[float]:
    """Response times in seconds of requests at a fixed rate; infinite for those that were not sent or answered."""
    n_requests = int(rate * seconds)
    due: asyncio.Queue[int] = asyncio.Queue()
    times = [float("inf")] * n_requests
    loop = asyncio.get_running_loop()
    start = loop.time() + 0.2

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while (number := await due.get()) >= 0:
            writer.write(requests[number % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{server.name} answered {head!r}.")
            times[number] = loop.time() - (start + number / rate)
        writer.close()

    clients = [asyncio.create_task(client()) for _ in range(CONNECTIONS)]
    for number in range(n_requests):
        wait = start + number / rate - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        if due.qsize() > MOST_LATE * rate:
            break
        due.put_nowait(number)
    for _ in clients:
        due.put_nowait(-1)
    _, late = await asyncio.wait(clients, timeout=MOST_LATE)
    for task in late:
        task.cancel()
    for task in clients:
        if task.done() and not task.cancelled() and task.exception():
            raise task.exception()  # type: ignore[misc]
    return times


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def start(names: list[str], model: Any, folder: Path) -> list[Contestant]:
    model.save(folder / "model.madaline")
    found = []
    if "madaline" in names:
        port = free_port()
        command = [sys.executable, "-m", "madaline", "serve", str(folder / "model.madaline"), "--port", str(port)]
        found.append(Contestant("madaline serve", command, "/invocations", lambda row: row, port))
    if "fastapi" in names:
        port = free_port()
        md.export(model, folder / "model.onnx", to="onnx")
        folder_of_app = str(Path(__file__).parent)
        command = [sys.executable, "-m", "uvicorn", "--app-dir", folder_of_app, "fastapi_onnx:app", "--port", str(port)]
        command += ["--no-access-log"]
        environment = {"MODEL": str(folder / "model.onnx")}
        found.append(Contestant("FastAPI + ONNX Runtime", command, "/predict", lambda row: row, port, **environment))
    if "mlflow" in names:
        port = free_port()
        flavour.save_model(model, folder / "mlflow")
        command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder / "mlflow")]
        command += ["--env-manager", "local", "-p", str(port), "-h", "127.0.0.1"]
        found.append(
            Contestant("mlflow models serve", command, "/invocations", lambda row: {"dataframe_records": [row]}, port)
        )
    return found


def arrow_ratio(server: Contestant, model: Any, frame: pl.DataFrame, rounds: int) -> dict[str, float]:
    """Seconds for 10,000 rows: a request with Arrow both ways, and ``predict`` of the data frame in this process."""
    many = pl.concat([frame] * (N_ARROW // len(frame) + 1))[:N_ARROW].rechunk()
    buffer = io.BytesIO()
    many.write_ipc_stream(buffer, compression="uncompressed")
    url = f"http://127.0.0.1:{server.port}/invocations"
    request = Request(url, buffer.getvalue(), {"Content-Type": "application/vnd.apache.arrow.stream"})

    def post() -> np.ndarray:
        with urlopen(request) as response:
            return pl.read_ipc_stream(io.BytesIO(response.read())).to_numpy()[:, 0]

    np.testing.assert_allclose(post(), model.predict(many), rtol=1e-5)
    timings = harness.interleave({"request": post, "predict": lambda: model.predict(many)}, seconds=2.0, rounds=rounds)
    return {name: timing.median for name, timing in timings.items()}


def main() -> None:
    options = arguments()
    found = DATASETS["auto_mpg"]
    frame = found.table()
    X, y = frame.drop(found.target, "name"), frame[found.target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = md.MLPRegressor(preset="auto", random_state=0).fit(X, y, max_seconds=20.0)
    rows = X.to_dicts()
    expected = model.predict(X[:1])[0]
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        servers = start(options.servers, model, Path(folder))
        try:
            for server in servers:
                difference = abs(server.wait(rows[0]) - expected)
                if difference > 1e-4 * abs(expected):
                    raise RuntimeError(f"{server.name} answers with a difference of {difference:.2g}.")
            for rate in options.rates:
                times: dict[str, list[float]] = {server.name: [] for server in servers}
                cpu = dict.fromkeys(times, 0.0)
                for _ in range(options.rounds):
                    for server in servers:
                        requests = [server.request(row) for row in rows]
                        before = server.cpu()
                        times[server.name] += asyncio.run(one_round(server, requests, rate, options.seconds))
                        cpu[server.name] += server.cpu() - before
                for name, all_times in times.items():
                    p50, p99 = np.percentile(all_times, [50, 99], method="higher") * 1e3
                    answered = float(np.isfinite(all_times).mean())
                    used = 1e6 * cpu[name] / max(1, np.isfinite(all_times).sum())
                    found_now = {"p50": _finite(p50), "p99": _finite(p99), "answered": answered, "cpu_us": float(used)}
                    records.append({"server": name, "rate": rate, **found_now})
                    shown = f"p50 {p50:8.2f} ms  p99 {p99:8.2f} ms  {answered:.1%} answered  {used:6.0f} us of CPU each"
                    print(f"{rate:5} requests/s  {name:24} {shown}")
            arrow = arrow_ratio(servers[0], model, X, options.rounds) if "madaline" in options.servers else {}
            if arrow:
                share = arrow["predict"] / arrow["request"]
                print(f"{N_ARROW:,} rows as Arrow: {share:.0%} of the speed of predict")
        finally:
            for server in servers:
                server.stop()
    if not options.no_save:
        harness.RESULTS.joinpath("serve.json").write_text(
            json.dumps({"note": options.note, "records": records, "arrow": arrow}, indent=1) + "\n"
        )
        harness.RESULTS.joinpath("serve.md").write_text(page(records, arrow, options.note))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def page(records: list[dict[str, Any]], arrow: dict[str, float], note: str) -> str:
    lines = [
        "# Response times over HTTP",
        "One row at a fixed rate on the loopback interface, over 16 connections that stay open; client and server",
        "share the machine, and the servers take turns. A response time counts from the moment at which the request",
        "was due.",
        "Made by `benchmarks/serve.py`.",
        *([f"**{note}**"] if note else []),
        "",
        "| requests/s | server | p50, ms | p99, ms | answered | CPU time of the server per request, us |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in records:
        shown = ["-" if each[name] is None else f"{each[name]:.2f}" for name in ("p50", "p99")]
        lines.append(
            f"| {each['rate']:,} | {each['server']} | {shown[0]} | {shown[1]} | {each['answered']:.1%} "
            f"| {each['cpu_us']:.0f} |"
        )
    if arrow:
        times = [f"{1e3 * arrow[name]:.1f} ms" for name in ("request", "predict")]
        lines += [
            "",
            f"{N_ARROW:,} rows as Arrow, there and back: {times[0]}; `predict` of the data frame: {times[1]}.",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
