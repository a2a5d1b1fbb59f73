# SPDX-License-Identifier: Apache-2.0
"""The health door's way with bytes: malformed requests, slow clients, limits, addresses."""
import contextlib
import json
import re
import socket
import time

import pytest

from harness import SANITIZED, holds_for, wait_until
from http_door import Client, address_of, ask, problem

HOST = b"Host: localhost\r\n"
GET = b"GET /livez HTTP/1.1\r\n"
POST = b"POST /livez HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

MALFORMED = [
    ("H1", POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", {400}),
    ("H1", POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", {400}),
    ("H2", POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    ("H3", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {400, 501}),
    ("H4", b"GET /livez HTTP/1.1\nHost: localhost\n\n", {400}),
    ("H4", GET + b"Host: localhost\n\r\n", {400}),
    ("H5", GET + HOST + b": value\r\n\r\n", {400}),
    ("H6", POST + b"Content-Length : 4\r\n\r\nabcd", {400}),
    ("H7", GET + b"\r\n", {400}),
    ("H7", GET + HOST + HOST + b"\r\n", {400}),
    ("H8", GET + HOST + b"X: a\0b\r\n\r\n", {400}),
    ("H8", GET + HOST + b"X: a\x07b\r\n\r\n", {400}),
    ("H9", CHUNKED + b"+4\r\nabcd\r\n0\r\n\r\n", {400}),
    ("H9", CHUNKED + b"0x4\r\nabcd\r\n0\r\n\r\n", {400}),
    ("H9", CHUNKED + b"\r\nabcd\r\n0\r\n\r\n", {400}),
    ("H9", CHUNKED + b"8000000000000001\r\nabcd\r\n0\r\n\r\n", {400}),
    ("H10", POST + b"Content-Length: -1\r\n\r\n", {400}),
    ("H10", POST + b"Content-Length: +4\r\n\r\nabcd", {400}),
    ("H10", POST + b"Content-Length: 4x\r\n\r\nabcd", {400}),
    ("H10", POST + b"Content-Length: 99999999999999999999\r\n\r\n", {400}),
    ("H11", GET + HOST + b"X: a\r\n b\r\n\r\n", {400}),
    ("H12", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414}),
    ("H12", GET + HOST + b"X: " + b"a" * 33000 + b"\r\n\r\n", {431}),
    ("H12", GET + HOST + b"X: a\r\n" * 100 + b"\r\n", {431}),
    ("H13", POST + b"Content-Length: 1048577\r\n\r\n" + b"b" * 1048577, {413}),
    ("H13", CHUNKED + b"100001\r\n" + b"b" * 1048577 + b"\r\n0\r\n\r\n", {413}),
    ("H15", b"GET /../livez HTTP/1.1\r\n" + HOST + b"\r\n", {400, 404}),
    ("H15", b"GET /%2e%2e/livez HTTP/1.1\r\n" + HOST + b"\r\n", {400, 404}),
    ("H15", b"GET /livez%00 HTTP/1.1\r\n" + HOST + b"\r\n", {400, 404}),
    ("H15", b"GET //livez HTTP/1.1\r\n" + HOST + b"\r\n", {400, 404}),
    ("H15", b"GET /a%2flivez HTTP/1.1\r\n" + HOST + b"\r\n", {400, 404}),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
]


@pytest.fixture
def door(box):
    return address_of(box.up("tasks: {a: {noop: {}}}", "--listen", "127.0.0.1:0"))


@pytest.mark.smoke
def test_malformed_requests_are_refused_and_the_connection_closed(door):
    """Nothing that comes behind such a request is read as another: there is one answer, and the end."""
    for name, request, statuses in MALFORMED:
        with Client(door) as client:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused while it was still being sent
                client.send(request + GET + HOST + b"\r\n")
            answer = client.answer()
            assert answer.status in statuses, (name, request[:80], answer)
            assert answer.headers["connection"] == "close"
            problem(answer)
            assert client.ended(), (name, request[:80])
    assert ask(door, "/livez").status == 200


def test_a_whole_body_is_read_before_the_next_request(door):
    with Client(door) as client:
        client.send(POST + b"Content-Length: 1048576\r\n\r\n" + b"b" * 1048576 + CHUNKED + b"3\r\nabc\r\n0\r\nX: y\r\n\r\n" + GET + HOST + b"\r\n")
        assert [client.answer().status for _ in range(3)] == [405, 405, 200]
        client.send(POST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert client.answer().status == 100
        client.send(b"abc")
        assert client.answer().status == 405


@pytest.mark.smoke
def test_answers_are_well_formed(door):
    for path in ("/livez", "/readyz", "/readyz?verbose", "/metrics"):
        get, head = ask(door, path), ask(door, path, "HEAD")
        assert get.status == head.status == 200 and head.body == b""
        for answer in (get, head):
            assert answer.headers["cache-control"] == "no-store" and answer.headers["x-content-type-options"] == "nosniff"
            assert re.fullmatch(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT", answer.headers["date"])
            assert answer.headers["connection"] == "close"
        assert head.headers["content-type"] == get.headers["content-type"]
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"):
        answer = ask(door, "/readyz", method)
        assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"
        problem(answer)
    for path in ("/", "/livez/", "/livezz", "/readyz/x", "/metrics%20", "/LIVEZ", "/api/v1/tasks"):
        assert ask(door, path).status == 404
        problem(ask(door, path))
    assert ask(door, "/%6civez").status == 200


def test_pipelined_requests_are_answered_in_order(door):
    with Client(door) as client:
        paths = ["/livez", "/nothing", "/metrics", "/readyz"] * 50
        client.send(b"".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for path in paths))
        statuses = [client.answer().status for _ in paths]
        assert statuses == [200, 404, 200, 200] * 50
        client.send(GET + HOST + b"Connection: close\r\n\r\n" + GET + HOST + b"\r\n")
        assert client.answer().status == 200
        assert client.ended()


def test_a_client_that_closes_its_half_is_answered(door):
    for request in (GET + HOST + b"\r\n", b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /livez HTTP/1.0\r\n\r\n"):
        with Client(door) as client:
            client.send(request)
            client.socket.shutdown(socket.SHUT_WR)
            assert client.answer().status == 200
            assert client.ended()


@pytest.mark.slow
def test_a_client_that_fetches_nothing_is_dropped(box):
    """It asks without end and takes nothing: what is kept for it has a bound, and it is dropped in the end."""
    pawl = box.up("tasks: {a: {noop: {}}}", "--listen", "127.0.0.1:0")
    door = address_of(pawl)
    with Client(door) as client:
        client.socket.setblocking(False)
        request = b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n"

        def dropped():
            try:
                client.socket.send(request * 200)
            except BlockingIOError:
                return False
            except (BrokenPipeError, ConnectionResetError):
                return True
        wait_until(dropped, 25)
    assert SANITIZED or pawl.rss_kib() < 12 * 1024
    assert ask(door, "/livez").status == 200


@pytest.mark.smoke
def test_other_sites_are_refused_on_the_loopback(door):
    """DNS rebinding and forms of other sites (H17)."""
    port = door.rpartition(":")[2]
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "127.1.2.3"):
        assert ask(door, "/livez", host=host).status == 200, host
    for host in ("evil.example", f"localhost.evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.1", "[::2]"):
        answer = ask(door, "/livez", host=host)
        assert answer.status == 403, host
        problem(answer)
    for origin in ("https://evil.example", "null", "file:///x", "http://localhost.evil.example"):
        assert ask(door, "/livez", "GET", f"Origin: {origin}").status == 403, origin
        assert ask(door, "/livez", "POST", f"Origin: {origin}", "Content-Type: application/x-www-form-urlencoded").status == 403
    assert ask(door, "/livez", "GET", "Sec-Fetch-Site: cross-site").status == 403
    assert ask(door, "/livez", "GET", f"Origin: http://localhost:{port}", "Sec-Fetch-Site: same-origin").status == 200


def latency_s(door, n=40):
    """The slowest of n requests, each on a connection of its own."""
    slowest = 0
    for _ in range(n):
        since = time.monotonic()
        assert ask(door, "/livez").status == 200
        slowest = max(slowest, time.monotonic() - since)
    return slowest


@pytest.mark.slow
def test_slow_clients_are_timed_out_and_delay_nobody(door):
    """H14: 200 clients send a byte a second, half of them within the head and half within the body. Each round's slowest answer is taken, and of
    the rounds the best, because other programs delay answers too, but not in every round."""
    clients = [Client(door) for _ in range(200)]
    since = time.monotonic()
    for i, client in enumerate(clients):
        client.send(b"G" if i % 2 == 0 else POST + b"Content-Length: 1000\r\n\r\n")
    crowded = []
    for _ in range(6):
        for i, client in enumerate(clients):
            client.send(b"E" if i % 2 == 0 else b"b")
        crowded.append(latency_s(door))
        time.sleep(1)
    assert SANITIZED or min(crowded) < 0.05, crowded
    first = clients[0].answer()
    assert first.status == 408 and 9 < time.monotonic() - since < 14
    problem(first)
    for client in clients[2::2]:
        assert client.answer().status == 408 and client.ended()
    for client in clients[1::2]:
        assert client.answer().status == 408 and client.ended()
    assert 19 < time.monotonic() - since < 26


def test_the_newest_client_is_heard_when_connections_run_out(door):
    """600 connections that say nothing: the oldest give way."""
    clients = [Client(door) for _ in range(600)]
    assert latency_s(door, 5) < 1
    assert clients[0].ended() and clients[50].ended()
    clients[-1].send(GET + HOST + b"\r\n")
    assert clients[-1].answer().status == 200
    for client in clients:
        client.close()


# ---- where it listens ----

def test_ipv6(box):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 on its loopback")
    door = address_of(box.up("tasks: {a: {noop: {}}}", "--listen", "[::1]:0"))
    assert re.fullmatch(r"\[::1\]:[1-9][0-9]*", door)
    assert ask(door, "/livez", host=door).status == 200


def test_all_addresses(box):
    """Who opens the door to others is asked by other names."""
    door = address_of(box.up("tasks: {a: {noop: {}}}", env={"PAWL_LISTEN": "0.0.0.0:0"})).replace("0.0.0.0", "127.0.0.1")
    assert ask(door, "/livez", host="node7.example").status == 200
    assert ask(door, "/livez", "GET", "Origin: https://evil.example", host="node7.example").status == 403


def test_a_taken_port_is_an_error(box):
    """What was asked for must be there; nothing was scheduled meanwhile."""
    box.file.write_text("tasks: {a: {noop: {}}}")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        err = box.refused("up", "-f", box.file, "--listen", f"127.0.0.1:{port}", code=69)
        assert f"127.0.0.1:{port} is taken" in err
        assert "cannot be listened on" in box.refused("up", "-f", box.file, "--listen", f"192.0.2.1:{port}", code=69)
    assert not box.store_path.exists()


def test_what_is_no_address_is_refused(box):
    for text in ("7295", "127.0.0.1", "example.org:80", "::1:80", "127.0.0.1:99999", ""):
        assert "--listen" in box.refused("up", "--listen", text, code=2)
    assert "PAWL_LISTEN" in box.refused("up", env={"PAWL_LISTEN": "7295"}, code=78)


def test_a_missing_module_is_named(box):
    err = box.refused("up", "--listen", "127.0.0.1:0", env={"PAWL_MODULE_PATH": str(box.dir)}, code=78)
    assert "pawl-http.so" in err and "install pawl again" in err


def test_a_node_of_its_own_opens_no_door(box):
    for args, env in (((), {}), (("--listen", "none"), {}), ((), {"PAWL_LISTEN": "none"})):
        pawl = box.up("tasks: {a: {noop: {}}}", *args, env=env)
        assert not pawl.events("listen") and "libevent" not in pawl.maps() and "pawl-http" not in pawl.maps()
        pawl.stop()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's runtime has wake-ups and memory of its own")
def test_an_open_door_sleeps(box):
    """Nobody asks: it takes no time; and it takes little memory."""
    pawl = box.up("tasks: {a: {noop: {}, triggers: {t: {cron: '0 4 1 1 *'}}}}", "--listen", "127.0.0.1:0")
    assert ask(address_of(pawl), "/metrics").status == 200
    assert "libssl" not in pawl.maps() and "libpq" not in pawl.maps()
    time.sleep(2)
    before = pawl.switches()
    holds_for(pawl.alive, 5)
    assert pawl.switches() - before <= 5
    assert pawl.rss_kib() <= 12 * 1024
    with Client(address_of(pawl)) as client:
        client.send(GET + HOST + b"\r\n")
        assert json.loads(client.answer().body) == {"alive": True}
        before = pawl.switches()
        holds_for(pawl.alive, 3)
        assert pawl.switches() - before <= 5


def test_descriptors_that_run_out_are_no_end(box):
    """With few descriptors the oldest connections make room, and the work goes on."""
    pawl = box.up("tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}", "--listen", "127.0.0.1:0", "--slots", "1",
                  prefix=("prlimit", "--nofile=60:60"))
    door = address_of(pawl)
    clients = [Client(door) for _ in range(100)]
    wait_until(lambda: ask(door, "/livez").status == 200)
    cpu = pawl.cpu_s()
    holds_for(pawl.alive, 2)
    assert pawl.cpu_s() - cpu < 1, "it spins"
    for client in clients:
        client.close()
    n = len(box.store.rows("SELECT id FROM runs"))
    wait_until(lambda: len(box.store.rows("SELECT id FROM runs")) > n + 1)
