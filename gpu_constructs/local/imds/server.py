"""HTTP on a loopback address: sends what it is told to, or fails the ways that a network fails."""

from __future__ import annotations

import http.server
import ipaddress
import itertools
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

_LOOKS_EVERY_SECONDS = 0.02
_OWN_ADDRESSES = ("169.254.169.254", "fd00:ec2::254")
_CLOSED_BY_RESET = struct.pack("ii", 1, 0)  # struct linger: on, no time


@dataclass(frozen=True)
class Asked:
    """A request. The number of its connection is counted from 1."""

    method: str
    target: str
    headers: Mapping[str, str]
    connection: int


@dataclass(frozen=True)
class Reply:
    """An answer; `cut` sends half of it and closes the connection."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True)
class Hang:
    """No answer until it is over, then one."""

    over: Callable[[], bool]
    then: Callable[[], Reply]


class Reset:
    """The connection is reset."""


Outcome = Reply | Hang | Reset


class Server:
    """Listens from when it is made, answers from its start to its close.

    Args:
        answer: Says what comes of a request; called by the thread of its connection.
        address: Where it listens.
        port: The port; 0 takes any free one.

    Raises:
        ValueError: Others than this machine could reach the address.
        OSError: The port is taken, or the machine does not have the address.
    """

    def __init__(self, answer: Callable[[Asked], Outcome], address: str, port: int) -> None:
        where = ipaddress.ip_address(address)
        if not where.is_loopback and address not in _OWN_ADDRESSES:
            raise ValueError(f"address must be a loopback address or {' or '.join(_OWN_ADDRESSES)}, got {address}")
        kind = _Listener6 if where.version == 6 else _Listener  # noqa: PLR2004
        self._listener = kind((address, port), _Connection)
        self._listener.answer = answer
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(_LOOKS_EVERY_SECONDS,), daemon=True)

    @property
    def endpoint(self) -> str:
        """Its URL."""
        host, port = self._listener.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def start(self) -> None:
        """Answer."""
        self._thread.start()

    def close(self) -> None:
        """Answer no more; no thread and no connection is left."""
        if self._thread.is_alive():
            self._listener.shutdown()
            self._thread.join()
        self._listener.end_connections()
        self._listener.server_close()


class _Listener(socketserver.TCPServer):
    allow_reuse_address = True
    request_queue_size = 128
    answer: Callable[[Asked], Outcome]

    def __init__(self, address: tuple[str, int], handler: type[socketserver.BaseRequestHandler]) -> None:
        self.numbers: dict[Any, int] = {}
        self._counter = itertools.count(1)
        self._threads: list[threading.Thread] = []
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give each connection a thread of its own."""
        self.numbers[request] = next(self._counter)
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()]
        self._threads.append(thread)
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except OSError:
            pass  # the client has gone
        except Exception:
            self.handle_error(request, client_address)
        self.numbers.pop(request, None)
        request.close()  # not shut down before, which would end in peace what was to be reset

    def end_connections(self) -> None:
        """Wake whoever waits for the next request of a connection, or hangs, and see them go."""
        for request in list(self.numbers):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()


class _Listener6(_Listener):
    address_family = socket.AF_INET6


class _Connection(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "EC2ws", ""
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True

    def serve(self) -> None:
        """Do what comes of a request."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        listener = cast("_Listener", self.server)
        asked = Asked(self.command, self.path, dict(self.headers.items()), listener.numbers[self.request])
        outcome = listener.answer(asked)
        if isinstance(outcome, Hang):
            self._deliver(outcome.then() if self._waited(outcome) else None)
        elif isinstance(outcome, Reply):
            self._deliver(outcome)
        else:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSED_BY_RESET)
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = do_OPTIONS = serve  # noqa: N815

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write no log: requests are remembered elsewhere."""

    def _deliver(self, reply: Reply | None) -> None:
        if reply is None:
            self.close_connection = True
            return
        body = reply.body.encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(max(len(body), 1) if reply.cut else len(body)))
        self.end_headers()
        if reply.cut:
            self.close_connection = True
            body = body[: len(body) // 2]
        if self.command != "HEAD":
            self.wfile.write(body)

    def _waited(self, hang: Hang) -> bool:
        """Wait until a hang is over; False if the client has gone before, or the server, which ends connections."""
        while not hang.over():
            if self._client_has_gone():
                return False
            time.sleep(_LOOKS_EVERY_SECONDS)
        return True

    def _client_has_gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
