"""Serves the page from this machine to this machine: a fixed list of files, and the bridge to the machine's agents.

The server listens on the loopback address only. It answers only if the browser names that address (so a foreign name
that leads here is refused), and the bridge only to whoever knows the word in the address that was opened. Nothing else
of the machine can be read through it. docs/play_in_browser.md says what is promised.
"""

from __future__ import annotations

import base64
import json
import secrets
import webbrowser
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, ClassVar
from urllib.parse import urlsplit

from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_experiments.web.bridge import Bridge
from siberia_experiments.web.files import KINDS, PAGE, page_files

HOST = "127.0.0.1"
LARGEST_QUESTION = 2**18  #: bytes; a question takes some thousands
PATIENCE = 30.0  #: seconds that a connection may stay silent
MOST_AT_ONCE = 16  #: connections that are answered at the same time

#: What the page may do, said with every answer: nothing comes from elsewhere, nothing goes elsewhere.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; "
        "connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class PageServer(ThreadingHTTPServer):
    """The server of one session.

    Attributes:
        token: the word that the bridge asks for.
        files: what is served, by name.
        bridge: asks the agents of this machine.
    """

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, port: int = 0) -> None:
        """Listen on `port`; 0 takes one that is free.

        Raises:
            ConfigurationError: this installation lacks the page, or the port is taken.
        """
        self.files = page_files()
        self.token = secrets.token_urlsafe(24)
        self.bridge = Bridge()
        self.room = BoundedSemaphore(MOST_AT_ONCE)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ConfigurationError(f"--port: can't listen on port {port}: {error.strerror}") from None

    @property
    def origin(self) -> str:
        """Where the page is, without what only the one who opens it knows."""
        return f"http://{HOST}:{self.server_port}"

    def address(self, plan: Mapping[str, Any]) -> str:
        """The address to open: with the word for the bridge, and what is to be played."""
        text = base64.urlsafe_b64encode(json.dumps(plan, separators=(",", ":")).encode()).decode().rstrip("=")
        return f"{self.origin}/#token={self.token}&plan={text}"

    def server_close(self) -> None:
        """Stop listening, and end the agents of this machine."""
        super().server_close()
        self.bridge.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that closes a connection is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = PATIENCE
    server_version = "siberia"
    sys_version = ""
    protocol_version = "HTTP/1.0"
    hosts: ClassVar[tuple[str, ...]] = (HOST, "localhost")

    def do_GET(self) -> None:
        self._within_bounds(self._send_file)

    def do_HEAD(self) -> None:
        self._within_bounds(self._send_file)

    def do_POST(self) -> None:
        self._within_bounds(self._send_action)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the terminal is the person's."""

    def _within_bounds(self, work: Callable[[], None]) -> None:
        if self.headers.get("Host") not in {f"{host}:{self.server.server_port}" for host in self.hosts}:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server answers on its own address only")
        elif not self.server.room.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too much is asked at once")
        else:
            try:
                work()
            finally:
                self.server.room.release()

    def _send_file(self) -> None:
        name = urlsplit(self.path).path.removeprefix("/") or PAGE
        if (path := self.server.files.get(name)) is None:
            self._refuse(HTTPStatus.NOT_FOUND, "no such file")
            return
        self._send(HTTPStatus.OK, KINDS[path.suffix], path.read_bytes())

    def _send_action(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length[:12]) > LARGEST_QUESTION:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a question has at most {LARGEST_QUESTION} bytes")
            return
        question = self.rfile.read(int(length))
        origins = {f"http://{host}:{self.server.server_port}" for host in self.hosts}
        token = self.headers.get("X-Siberia-Token", "")
        if urlsplit(self.path).path != "/agent":
            self._refuse(HTTPStatus.NOT_FOUND, "no such thing to ask")
        elif self.headers.get("Origin") not in origins or not secrets.compare_digest(
            token.encode(), self.server.token.encode()
        ):
            self._refuse(HTTPStatus.FORBIDDEN, "the agents of this machine play for the page that it opened only")
        else:
            told: dict[str, Any]
            try:
                told, status = {"action": self.server.bridge.answer(_read_json(question))}, HTTPStatus.OK
            except (SiberiaError, ImportError) as error:
                told, status = {"error": str(error)}, HTTPStatus.BAD_REQUEST
            self._send(status, KINDS[".json"], json.dumps(told).encode())

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, KINDS[".json"], json.dumps({"error": why}).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in (*HEADERS.items(), ("Content-Type", kind), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _read_json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise ConfigurationError("bridge: the question is not JSON") from None


def serve(server: PageServer, plan: Mapping[str, Any], browser: bool, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; print the address, and open it in a browser if `browser`.

    Args:
        server: listens already.
        plan: what is to be played: `game`, and `setup` if a game begins at once.
        browser: whether to open the address.
        say: prints a line.
    """
    address = server.address(plan)
    say(f"The table stands at {address}")
    say("Only this machine can open it. Ctrl-C closes it; the browser keeps the games.")
    if browser and not webbrowser.open(address):
        say("No browser could be started; open the address yourself.")
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()
