"""Many, slow, rude and unlucky clients: no wrong answer, no leak, no traceback."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.client
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.request import urlopen

import httpx2
import pytest

from web.live.process import ServerProcess
from web.served import N_ROWS, answers, model, rows

ROWS = rows(N_ROWS)
N_COPIES = 4
"With so many copies of all rows, a request is large enough to be answered by another thread."
PATIENCE = 120
"Seconds until a server is said not to do something, also on a busy machine."
HEAD = b"POST /invocations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
BODY = json.dumps(ROWS[0]).encode()


def ask(server, row, path="/invocations"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", path, json.dumps(row), {"Content-Type": "application/json"})
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


def wait_until(is_so):
    """Fails if it is not so after a long time."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def metrics(server):
    with urlopen(f"{server.url}/metrics", timeout=PATIENCE) as response:
        return response.read().decode()


def refuses(server):
    try:
        server.connect().close()
    except ConnectionRefusedError:
        return True
    return False


def received(client):
    """Everything until the server closes the connection."""
    parts = []
    while part := client.recv(100_000):
        parts.append(part)
    return b"".join(parts)


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
        async with httpx2.AsyncClient(base_url=server.url, limits=limits, timeout=PATIENCE) as session:
            await asyncio.gather(*(client(number, session) for number in range(200)))

    with ThreadPoolExecutor(1) as apart:  # the browser of other tests has its event loop in this thread
        apart.submit(asyncio.run, run()).result()
    assert is_well(server)


def test_connections_above_the_limit_are_told_so_and_the_others_are_served(server):
    with contextlib.ExitStack() as idle:
        for _ in range(301):
            idle.enter_context(server.connect())
        late = idle.enter_context(server.connect())
        late.sendall(HEAD % len(BODY) + BODY)
        head, _, body = received(late).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503")
        assert "has 300 open connections" in json.loads(body)["message"]
    wait_until(lambda: ask(server, ROWS[0])[0] == 200)
    assert is_well(server)


@pytest.mark.parametrize(
    "sent", [b"", b"POST /invo", HEAD[:60], HEAD % 500 + b'{"size'], ids=["nothing", "path", "head", "body"]
)
def test_slow_clients_are_given_up_and_nobody_waits_for_them(hasty_server, sent):
    slow = [hasty_server.connect() for _ in range(20)]
    for each in slow:
        each.sendall(sent)
    assert is_well(hasty_server)
    for each in slow:  # the limit is 3 seconds
        answer = each.recv(1000)
        assert answer == b"" or b" 408 " in answer.partition(b"\r\n")[0]
        each.close()


def test_a_body_that_drips_is_given_up(hasty_server):
    with hasty_server.connect() as slow:
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
    assert is_well(hasty_server)


def test_a_head_without_an_end_is_refused(server):
    with server.connect() as client:
        client.sendall(HEAD[:60] + b"a" * 66_000)
        with contextlib.suppress(ConnectionResetError):  # if the server has not read everything
            head, _, body = received(client).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 431")
            assert json.loads(body)["message"] == "The head of the request has more than 65,536 bytes."
    assert is_well(server)


def test_clients_that_do_not_read_their_answers_are_given_up(hasty_server):
    """Without this, the connections and answers of such clients would stay forever."""
    body = json.dumps({"dataframe_records": ROWS * 1000}).encode()
    assert is_well(hasty_server)
    before = hasty_server.open_files()
    deaf = [hasty_server.connect() for _ in range(3)]
    for each in deaf:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2000)
        each.sendall(HEAD % len(body) + body)
    assert hasty_server.open_files() > before
    wait_until(lambda: hasty_server.open_files() <= before + 1)
    for each in deaf:
        each.close()
    assert is_well(hasty_server)


def test_clients_that_leave_cost_nothing(hasty_server):
    assert is_well(hasty_server)
    before = hasty_server.open_files()
    for number in range(200):
        with hasty_server.connect() as rude:
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of an end
            rude.sendall((HEAD % len(BODY) + BODY)[: 20 * (number % 14)])
    assert is_well(hasty_server)
    wait_until(lambda: hasty_server.open_files() <= before + 3)


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
        answer = b""
        with contextlib.suppress(OSError):  # the server may close the connection before it has read everything
            client.sendall(GARBAGE[number])
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(1000)
        assert not answer or answer.split()[1].startswith(b"4"), answer
    assert is_well(server)


FAILED = 'madaline_reloads_total{model="price",result="failed"} 1'


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
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
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
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            wait_until(lambda digest=digest: failures or f"price@{digest}" in digests)
            if turn == 2:
                file.write_bytes(file.read_bytes()[:1000])  # half a file: the earlier model stays
                wait_until(lambda: failures or FAILED in metrics(server))
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert seen == {0, 1}
        assert len(digests) >= 2  # files of one model need not have the same bytes
        assert all(len(fits) == 1 for fits in digests.values())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_the_requests_in_progress(files, number):
    with ServerProcess(str(files["price"])) as server, server.connect() as connection:
        connection.sendall((HEAD % len(BODY)).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100")  # the server waits for the body
        connection.sendall(BODY[:10])
        server.process.send_signal(number)
        wait_until(lambda: refuses(server))  # no new connections
        connection.sendall(BODY[10:])
        found = json.loads(received(connection).partition(b"\r\n\r\n")[2])
        assert found["predictions"] == pytest.approx(answers("price", ROWS[:1]), rel=1e-6)
        assert server.process.wait(PATIENCE) == 0
        assert not server.errors


def test_thousands_of_requests_leave_no_memory_behind(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)

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
