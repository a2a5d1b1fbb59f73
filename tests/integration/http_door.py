# SPDX-License-Identifier: Apache-2.0
"""A client of the health door that sends bytes as it likes, and a strict reader of what comes back."""
import collections
import contextlib
import json
import re
import socket

from harness import DEADLINE_S, PATIENCE

Answer = collections.namedtuple("Answer", "status headers body")
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"^(pawl_[a-z0-9_]+)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[0-9]+(?:\.[0-9]+)?)$")


class Client:
    """One connection."""

    def __init__(self, address, timeout_s=DEADLINE_S):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout_s * PATIENCE)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def _fill(self):
        more = self.socket.recv(65536)
        self.buffer += more
        return bool(more)

    def answer(self, head=False):
        """The next answer, held to RFC 9112; None when the connection was closed before its first byte."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._fill():
                assert not self.buffer, f"half an answer: {self.buffer!r}"
                return None
        head_bytes, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        line, *lines = head_bytes.decode("ascii").split("\r\n")
        status = re.fullmatch(r"HTTP/1\.1 ([1-5][0-9][0-9]) [ -~]+", line)
        assert status, line
        headers = {}
        for text in lines:
            match = re.fullmatch(rf"({TOKEN}): ([!-~](?:[ -~]*[!-~])?)", text)
            assert match, text
            assert match[1].lower() not in headers, f"twice: {text}"
            headers[match[1].lower()] = match[2]
        if status[1] == "100":
            return Answer(100, headers, b"")
        length = 0 if head else int(headers["content-length"])
        while len(self.buffer) < length:
            assert self._fill(), "the body is shorter than it says"
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Answer(int(status[1]), headers, body)

    def ended(self):
        """Whether the other side closes without another byte."""
        with contextlib.suppress(ConnectionResetError):
            return not self.buffer and self.socket.recv(1) == b""
        return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def address_of(pawl):
    return pawl.wait_event("listen")["address"]


def ask(address, path, method="GET", *lines, host="localhost"):
    with Client(address) as client:
        client.send("\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "Connection: close", "", ""]).encode())
        answer = client.answer(head=method == "HEAD")
        assert client.ended()
        return answer


def problem(answer):
    """A problem+json body (RFC 9457), which says the status again."""
    assert answer.headers["content-type"] == "application/problem+json"
    body = json.loads(answer.body)
    assert body["status"] == answer.status and body["title"] and body["detail"], body
    return body


def ready(address):
    answer = ask(address, "/readyz?verbose")
    body = json.loads(answer.body)
    checks = {check["name"]: check for check in body["checks"]}
    assert body["ready"] == (answer.status == 200) == all(check["ok"] for check in checks.values()), body
    return answer.status, checks, body.get("detail")


def parse(text):
    """Text format 0.0.4, read strictly: {name: (kind, {labels: value})}. Bucket, sum and count belong to their histogram."""
    found, family, kind = {}, None, None
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    for line in lines:
        if line.startswith("# HELP "):
            family, kind = line.split(" ", 3)[2], None
            assert family not in found and line.split(" ", 3)[3], line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and kind in ("counter", "gauge", "histogram"), line
            found[family] = (kind, {})
        else:
            match = SAMPLE.match(line)
            assert match and kind, line
            name, labels, value = match.groups()
            base = re.sub("_(bucket|sum|count)$", "", name) if kind == "histogram" else name
            assert base == family, line
            key = (name[len(base):], labels or "") if kind == "histogram" else labels or ""
            assert key not in found[family][1], f"twice: {line}"
            found[family][1][key] = float(value)
    for name, (kind, series) in found.items():
        assert series, name
        assert (kind == "counter") == name.endswith("_total"), name
        if kind == "histogram":
            check_histogram(name, series)
    return found


def check_histogram(name, series):
    buckets = [(labels, value) for (part, labels), value in series.items() if part == "_bucket"]
    values = [value for _, value in buckets]
    bounds = [float(re.fullmatch('le="(.*)"', labels)[1].replace("+Inf", "inf")) for labels, _ in buckets]
    assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), name
    assert values == sorted(values) and values[-1] == series[("_count", "")], name
    assert ("_sum", "") in series, name


class Metrics:
    def __init__(self, address):
        answer = ask(address, "/metrics")
        assert answer.status == 200 and answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        self.families = parse(answer.body.decode())

    def value(self, name, labels=""):
        return self.families[f"pawl_{name}"][1][labels]

    def count(self, name):
        return self.families[f"pawl_{name}"][1][("_count", "")]

    def sum(self, name):
        return self.families[f"pawl_{name}"][1][("_sum", "")]
