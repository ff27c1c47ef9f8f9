"""The server of the playground: the standard library's, for one person on this machine.

Pages on the internet can make a browser send requests to 127.0.0.1.  So the address holds a random secret as its first
step, a request must name this server as its host (which stops names that were re-pointed here), come from its own page
if it says from where, and carry JSON of bounded size.  Only the files of a fixed list are handed out.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from discriminant.errors import DataError, DiscriminantError, ParameterError
from discriminant.play.presets import EXTENT, PRESETS, preset
from discriminant.shown import page_file

HOST = "127.0.0.1"
MOST_BYTES = 1_000_000  # of a request
PATIENCE = 20.0  # seconds that a request may take to arrive
FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"{name}.js": (f"{name}.js", "text/javascript; charset=utf-8")
        for name in ("app", "board", "charts", "controls", "globe", "model", "state")
    },
}
GUARDS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Refusal(Exception):
    """A request that is not answered, with its status and the sentence that says why."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Playground(ThreadingHTTPServer):
    """The server; ``url`` is the address to open.

    >>> server = Playground()
    >>> server.url.startswith("http://127.0.0.1:"), len(server.token) >= 20
    (True, True)
    >>> server.server_close()
    """

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, port: int = 0, first: str = "pair") -> None:
        preset(first)  # refused here, before anything is opened
        self.first = first
        self.token = secrets.token_urlsafe(24)
        super().__init__((HOST, port), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that goes away in the middle of a request is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def warm_up(self) -> threading.Thread:
        """Load what fits need, in the background, so that the first answer does not wait for imports."""
        first = {"points": [[0, 0, 1], [1, 0, 1], [0, 2, 2], [1, 2, 2]], "method": "perceptron"}
        thread = threading.Thread(target=_answer_to, args=(first,), daemon=True)
        thread.start()
        return thread

    def start(self) -> threading.Thread:
        """Serve from a thread of its own."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        return thread


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Playground
    protocol_version = "HTTP/1.1"
    server_version = "discriminant"
    sys_version = ""
    timeout = PATIENCE
    wbufsize = 1 << 16  # head and body leave together, and at once: two small packets would wait for each other
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(self._get)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, make: Callable[[str], tuple[str, bytes]]) -> None:
        try:
            kind, body = make(self._asked())
            status = HTTPStatus.OK
        except Refusal as refusal:
            status, (kind, body) = refusal.status, _json({"error": str(refusal)})
        except DiscriminantError as error:
            status, (kind, body) = HTTPStatus.UNPROCESSABLE_ENTITY, _json({"error": " ".join(str(error).split())})
        except Exception as e:  # the page says so instead of waiting for an answer that does not come
            said = f"A fault of this program: {type(e).__name__}: {' '.join(str(e).split())}"
            status, (kind, body) = HTTPStatus.INTERNAL_SERVER_ERROR, _json({"error": said})
        try:
            self._send(status, kind, body)
        except ConnectionError:
            self.close_connection = True  # the page has moved on and does not wait for this any more

    def _asked(self) -> str:
        """The path below the secret, if the request may be answered at all."""
        port = self.server.port
        hosts = (f"{HOST}:{port}", f"localhost:{port}")
        if self.headers.get("Host", "") not in hosts:
            raise self._closing(f"This server answers to http://{HOST}:{port} and to no other name.")
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in hosts:
            raise self._closing("Another page sent this request; only the playground's own may.")
        secret, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(secret.encode("utf-8", "replace"), self.server.token.encode()):
            raise self._closing(
                "The address lacks its secret part. Open the whole address that discriminant play printed."
            )
        return rest

    def _closing(self, sentence: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> Refusal:
        """A refusal after which nothing more is read from this connection."""
        self.close_connection = True
        return Refusal(status, sentence)

    def _get(self, asked: str) -> tuple[str, bytes]:
        if asked == "options":
            return _json(_options(self.server.first))
        if asked not in FILES:
            raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page here.")
        name, kind = FILES[asked]
        return kind, page_file("play/page", name).encode()

    def _post(self, asked: str) -> tuple[str, bytes]:
        sent = self._body()
        if asked == "fit":
            return _json(_answer_to(sent))
        if asked == "preset":
            return _json(_points(sent))
        if asked == "table":
            from discriminant.play.own_points import own_points

            if not isinstance(sent, dict) or not all(isinstance(sent.get(part), str) for part in ("name", "text")):
                raise ParameterError("The request must hold the name and the text of a table.")
            try:
                return _json(own_points(sent["name"], sent["text"]))
            except DataError as error:  # a file that cannot be used is an answer, not a fault of the request
                return _json({"problem": " ".join(str(error).split())})
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such question here.")

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise self._closing("The request does not say how long it is.", HTTPStatus.LENGTH_REQUIRED)
        if len(length) > 9 or int(length) > MOST_BYTES:
            too_large = f"The request is larger than {MOST_BYTES:,} bytes: fewer points."
            raise self._closing(too_large, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        raw = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The request must be JSON (application/json).")
        try:
            return json.loads(raw, parse_constant=_no_constant)
        except DataError:
            raise
        except (ValueError, RecursionError):
            raise Refusal(HTTPStatus.BAD_REQUEST, "The request is not JSON that can be read.") from None

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in GUARDS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for the address, and the path holds the secret."""


def _no_constant(text: str) -> float:
    raise DataError(f"The request holds {text}, which is not a finite number.")


def _json(document: Any) -> tuple[str, bytes]:
    return "application/json; charset=utf-8", json.dumps(document, allow_nan=False).encode("utf-8")


def _options(first: str) -> dict[str, Any]:
    from discriminant.play.methods import description
    from discriminant.play.state import MOST_CLASSES, MOST_POINTS, SPLIT

    kept = ("title", "story", "method", "basis", "coding", "parameters")
    sets = [{"name": name, **{part: getattr(p, part) for part in kept}} for name, p in PRESETS.items()]
    limits = {"points": MOST_POINTS, "classes": MOST_CLASSES, "extent": EXTENT, "bytes": MOST_BYTES}
    return {**description(), "split": asdict(SPLIT), "presets": sets, "first": first, "limits": limits}


def _answer_to(sent: Any) -> dict[str, Any]:
    from discriminant.play.answer import answer
    from discriminant.play.state import read_state

    return answer(read_state(sent))


def _points(sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict) or not isinstance(sent.get("name"), str):
        raise ParameterError("The request must name a set of points.")
    seed = sent.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**31:
        raise ParameterError(f"The seed must be a whole number from 0 to 2³¹ − 1; it was {seed!r}.")
    X, y = preset(sent["name"]).points(seed)
    return {"points": [[*place, int(label)] for place, label in zip(X.tolist(), y, strict=True)]}
