"""Many, slow, rude and unlucky clients: no wrong answer, no leak, no traceback."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import threading
import time

import httpx2
import pytest

from web.live.process import ServerProcess
from web.served import N_ROWS, answers, model, rows

ROWS = rows(N_ROWS)
N_COPIES = 4
"With so many copies of all rows, a request is large enough to be answered by another thread."
HEAD = b"POST /invocations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
BODY = json.dumps(ROWS[0]).encode()


def ask(server, row, path="/invocations"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", path, json.dumps(row), {"Content-Type": "application/json"})
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


def is_well(server):
    status, found = ask(server, ROWS[0])
    return (status, found["predictions"]) == (200, pytest.approx(answers("price", ROWS[:1]), rel=1e-6))


def test_200_parallel_clients_each_get_their_own_answer(server):
    expected = {path: answers(path, ROWS) for path in ("price", "kind")}

    async def client(number, session):
        path = ("price", "kind")[number % 2]
        for turn in range(10):
            place = (7 * number + turn) % N_ROWS
            many = ROWS[place:] + (N_COPIES * ROWS if turn == 9 else []) if turn % 5 == 4 else ROWS[place : place + 1]
            response = await session.post(f"/models/{path}/invocations", json={"dataframe_records": many})
            assert response.status_code == 200, response.text
            wanted = expected[path][place:] + N_COPIES * expected[path]
            found = response.json()["predictions"]
            assert len(found) == len(many)
            assert found == (wanted[: len(found)] if path == "kind" else pytest.approx(wanted[: len(found)], rel=1e-5))

    async def run():
        limits = httpx2.Limits(max_connections=200)
        async with httpx2.AsyncClient(base_url=server.url, limits=limits, timeout=60) as session:
            await asyncio.gather(*(client(number, session) for number in range(200)))

    asyncio.run(run())
    assert is_well(server)


def test_connections_above_the_limit_are_told_so_and_the_others_are_served(server):
    idle = [server.connect() for _ in range(310)]
    try:
        with server.connect() as late:
            late.sendall(HEAD % len(BODY) + BODY)
            assert late.recv(100).startswith(b"HTTP/1.1 503")
    finally:
        for each in idle:
            each.close()
    time.sleep(0.5)
    assert is_well(server)


@pytest.mark.parametrize(
    "sent", [b"", b"POST /invo", HEAD[:60], HEAD % 500 + b'{"size'], ids=["nothing", "path", "head", "body"]
)
def test_slow_clients_are_given_up_and_nobody_waits_for_them(server, sent):
    slow = [server.connect() for _ in range(20)]
    for each in slow:
        each.sendall(sent)
    assert is_well(server)
    started = time.monotonic()
    for each in slow:
        answer = each.recv(1000)
        assert answer == b"" or b" 408 " in answer.partition(b"\r\n")[0]
        each.close()
    assert time.monotonic() - started < 20  # the limit is 3 seconds


def test_a_body_that_drips_is_given_up(server):
    with server.connect() as slow:
        slow.sendall(HEAD % 10_000)
        answer = b""
        slow.settimeout(0.2)
        for _ in range(60):
            try:
                slow.sendall(b" ")
                answer = slow.recv(1000)
                break
            except TimeoutError:
                continue
            except OSError:
                break
        assert answer == b"" or b" 408 " in answer.partition(b"\r\n")[0]
    assert is_well(server)


def test_clients_that_leave_cost_nothing(server):
    assert is_well(server)
    before = server.open_files()
    for number in range(200):
        with server.connect() as rude:
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of an end
            rude.sendall((HEAD % len(BODY) + BODY)[: 20 * (number % 14)])
    assert is_well(server)
    deadline = time.monotonic() + 15
    while server.open_files() > before + 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert server.open_files() <= before + 3


POST = b"POST /invocations HTTP/1.1\r\n"
GARBAGE = [
    b"\0" * 100,
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00",
    POST + b"a: b\r\n" * 50 + b"\r\n",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    POST + b"Host: localhost\r\nContent-Length: -5\r\n\r\n",
    POST + b"Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_bytes_that_are_no_request_get_no_answer_or_an_error(server, number):
    with server.connect() as client:
        client.sendall(GARBAGE[number])
        client.shutdown(socket.SHUT_WR)
        answer = client.recv(1000)
        assert not answer or answer.split()[1].startswith(b"4"), answer
    assert is_well(server)


def test_a_replaced_model_loses_no_request_and_every_answer_is_of_one_of_the_models(files, tmp_path):
    file = tmp_path / "price.madaline"
    model("price", 0).save(file)
    expected = {seed: answers("price", ROWS, seed) for seed in (0, 1)}
    digests: dict[str, set[int]] = {}
    seen: set[int] = set()
    with ServerProcess(str(file)) as server:
        stop = threading.Event()
        failures: list[str] = []

        def client(number):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            place = number
            while not stop.is_set():
                place = (place + 1) % N_ROWS
                connection.request(
                    "POST", "/invocations", json.dumps(ROWS[place]), {"Content-Type": "application/json"}
                )
                response = connection.getresponse()
                found = json.loads(response.read())
                if response.status != 200:
                    failures.append(str(found))
                    return
                (value,) = found["predictions"]
                fits = {seed for seed in (0, 1) if value == pytest.approx(expected[seed][place], rel=1e-5)}
                if not fits:
                    failures.append(f"{value} for row {place}")
                    return
                digests.setdefault(response.headers["madaline-model"], {0, 1}).intersection_update(fits)
                seen.update(fits)
            connection.close()

        threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(6):
            model("price", (turn + 1) % 2).save(file)
            time.sleep(1.5)
            if turn == 2:
                file.write_bytes(file.read_bytes()[:1000])  # half a file: the earlier model stays
                time.sleep(1.5)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert seen == {0, 1}
        assert len(digests) == 2
        assert all(len(fits) == 1 for fits in digests.values())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_the_requests_in_progress(files, number):
    with ServerProcess(str(files["price"])) as server, server.connect() as connection:
        connection.sendall(HEAD % len(BODY) + BODY[:10])
        time.sleep(0.3)
        server.process.send_signal(number)
        time.sleep(0.5)
        with pytest.raises(ConnectionRefusedError):  # no new connections
            server.connect().close()
        connection.sendall(BODY[10:])
        answer = b""
        while part := connection.recv(10_000):
            answer += part
        found = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert found["predictions"] == pytest.approx(answers("price", ROWS[:1]), rel=1e-6)
        assert server.process.wait(30) == 0
        assert not server.errors


def test_thousands_of_requests_leave_no_memory_behind(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def send(count):
        for turn in range(count):
            wrong = {**ROWS[turn % N_ROWS], "city": f"city {turn}", "size": "a" if turn % 3 == 0 else 1.0}
            connection.request("POST", "/invocations", json.dumps(wrong), {"Content-Type": "application/json"})
            connection.getresponse().read()

    send(500)
    before, files_before = server.memory(), server.open_files()
    send(2000)
    assert server.memory() < before + 15
    assert server.open_files() <= files_before + 1
    connection.close()


def test_other_computers_need_a_token(files):
    with pytest.raises(AssertionError, match="did not start"):
        ServerProcess(str(files["price"]), "--host", "0.0.0.0", MADALINE_TOKEN="")
