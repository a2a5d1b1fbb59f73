# SPDX-License-Identifier: Apache-2.0
"""A proxy that speaks the PostgreSQL wire protocol: it forwards message by message, and cuts the connection at one that was planned.

Messages of both directions are counted together from the first one whose bytes hold `begin_at`, so a clean exchange can be recorded first, and
then be cut before and after each of its messages."""
import select
import socket
import struct
import threading
import time

CANCEL, SSL, GSS = 80877102, 80877103, 80877104


class Plan:
    """Cut at message `at` (from 0): `before` it is forwarded, `after` it, `silent` (nothing is forwarded any more, the socket stays), `late` (a
    client's message arrives seconds after the client was cut off), `ghost` (the client is cut off, and the server is never told)."""

    def __init__(self, begin_at, at=None, how="after"):
        self.begin_at, self.at, self.how = begin_at, at, how
        self.begun, self.count, self.done, self.seen = False, 0, False, []


class Wire:
    def __init__(self, port):
        self.server_port, self.plan, self.lock, self.ghosts = port, None, threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        for ghost in self.ghosts:
            ghost.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    @staticmethod
    def _split(data, typed):
        """(whole messages, rest)."""
        head, messages = 5 if typed else 4, []
        while len(data) >= head:
            size = struct.unpack("!I", data[head - 4:head])[0] + (1 if typed else 0)
            if len(data) < size:
                break
            messages.append(data[:size])
            data = data[size:]
            if not typed:
                break
        return messages, data

    def _verdict(self, message, from_client, mine):
        """What is to be done with a message: None, or the manner of the cut."""
        with self.lock:
            plan = self.plan
            if plan is None or plan.done:
                return None
            if not plan.begun:
                if not (from_client and plan.begin_at in message):
                    return None
                plan.begun = True
                mine["watched"] = True
            elif not mine.get("watched"):
                return None
            number, plan.count = plan.count, plan.count + 1
            plan.seen.append(("F" if from_client else "B") + chr(message[0]))
            if plan.at is None or number != plan.at:
                return None
            plan.done = True
            return plan.how

    def _serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffers, typed, mine = {client: b"", server: b""}, {client: False, server: True}, {}
        try:
            while True:
                for here in select.select([client, server], [], [])[0]:
                    there = server if here is client else client
                    data = here.recv(65536)
                    if not data:
                        return
                    messages, buffers[here] = self._split(buffers[here] + data, typed[here])
                    while messages:
                        message = messages.pop(0)
                        if here is client and not typed[client]:
                            code = struct.unpack("!I", message[4:8])[0]
                            if code in (SSL, GSS):
                                client.sendall(b"N")
                                continue
                            typed[client] = code != CANCEL
                            more, buffers[client] = self._split(buffers[client], typed[client])
                            messages += more
                            there.sendall(message)
                            continue
                        if not self._forward(message, here, there, here is client, mine):
                            return
        except OSError:
            pass
        finally:
            for end in (client, server):
                if end is server and mine.get("ghost"):
                    self.ghosts.append(end)
                    continue
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                except OSError:
                    pass  # it is closed
                end.close()

    def _forward(self, message, here, there, from_client, mine):
        how = self._verdict(message, from_client, mine)
        if how is None:
            there.sendall(message)
            return True
        if how == "after":
            there.sendall(message)
        elif how == "ghost":
            mine["ghost"] = True
        elif how == "silent":
            time.sleep(3)
        elif how == "late" and from_client:
            here.close()
            time.sleep(2)
            there.sendall(message)
            time.sleep(0.5)
        return False
