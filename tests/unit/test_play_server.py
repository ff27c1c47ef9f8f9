"""The playground's server: who is answered, what is refused, and that every refusal is a sentence."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from discriminant.cli import main
from discriminant.play.presets import PRESETS
from discriminant.play.server import FILES, HOST, MOST_BYTES, Playground
from discriminant.play.state import MOST_POINTS

TWO = [[0.0, 0.0, 1], [1.0, 0.0, 1], [0.0, 3.0, 2], [1.0, 3.0, 2]]


@pytest.fixture(scope="module")
def server() -> Iterator[Playground]:
    made = Playground()
    thread = made.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join(5)


def ask(
    server: Playground, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(HOST, server.port, timeout=30)
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {"Content-Type": "application/json"} if raw is not None else {}
    connection.request(method, path, raw, given | (headers or {}))
    answer = connection.getresponse()
    result = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return result


def post(server: Playground, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    status, _, raw = ask(server, "POST", f"/{server.token}/{path}", body, headers)
    return status, json.loads(raw)


def is_sentence(text: str) -> bool:
    return len(text.split()) > 3 and text[0].isupper() | (text[0] in "'“") and text.rstrip()[-1] in ".?"


# Who is answered


def test_the_page_and_its_files_are_handed_out(server: Playground) -> None:
    for name in FILES:
        status, headers, body = ask(server, "GET", f"/{server.token}/{name}")
        assert status == 200, name
        assert len(body) > 100, name
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_the_page_names_nothing_on_the_network(server: Playground) -> None:
    for name in FILES:
        text = ask(server, "GET", f"/{server.token}/{name}")[2].decode()
        assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), name


@pytest.mark.parametrize("path", ["/", "/wrong/", "/{t}x/", "/{T}/", "/options", "/wrong/fit"])
def test_without_the_secret_nothing_is_answered(server: Playground, path: str) -> None:
    path = path.replace("{t}", server.token).replace("{T}", server.token.swapcase())
    for method in ("GET", "POST"):
        status, _, body = ask(server, method, path, {} if method == "POST" else None)
        assert status == 403
        assert is_sentence(json.loads(body)["error"])


def test_each_server_has_its_own_secret() -> None:
    servers = [Playground() for _ in range(5)]
    assert len({server.token for server in servers}) == 5
    for server in servers:
        server.server_close()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_foreign_host_is_refused(server: Playground, host: str) -> None:
    """A name of somebody else that was pointed at 127.0.0.1 (DNS rebinding) must not reach the server."""
    status, _, body = ask(server, "GET", f"/{server.token}/", headers={"Host": host})
    assert status == 403
    assert "no other name" in json.loads(body)["error"]


def test_a_foreign_page_is_refused(server: Playground) -> None:
    question = {"points": TWO, "method": "lda"}
    status, answer = post(server, "fit", question, {"Origin": "https://evil.example"})
    assert status == 403
    assert "Another page" in answer["error"]
    assert post(server, "fit", question, {"Origin": f"http://{HOST}:{server.port}"})[0] == 200


def test_it_listens_on_this_machine_only(server: Playground) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "page/../../server.py", "/etc/passwd", "app.js/", "x"],
)
def test_only_listed_files_are_handed_out(server: Playground, path: str) -> None:
    status, _, body = ask(server, "GET", f"/{server.token}/{path}")
    assert status == 404
    assert is_sentence(json.loads(body)["error"])


# What is refused


def test_too_many_points_are_refused(server: Playground) -> None:
    status, answer = post(server, "fit", {"points": [[0, 0, 1]] * (MOST_POINTS + 1)})
    assert status == 422
    assert answer["error"] == "There are 2,001 points; the playground takes 2,000 at most."


def test_too_large_a_request_is_refused_before_it_is_read(server: Playground) -> None:
    status, answer = post(server, "fit", b"", {"Content-Length": str(MOST_BYTES + 1)})
    assert status == 413
    assert is_sentence(answer["error"])


def test_a_request_without_a_length_is_refused(server: Playground) -> None:
    with socket.create_connection((HOST, server.port), timeout=10) as line:
        head = (
            f"POST /{server.token}/fit HTTP/1.1\r\nHost: {HOST}:{server.port}\r\nContent-Type: application/json\r\n\r\n"
        )
        line.sendall(head.encode())
        assert b" 411 " in line.recv(100)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff\xfe\x00", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"points": [[NaN, 0, 1]]}', 422, "NaN"),
        (b'{"points": [[1e999, 0, 1]]}', 422, "Point 1 lies outside"),
        (b'{"points": [[-Infinity, 0, 1]]}', 422, "-Infinity"),
        (b"[]", 422, "something else"),
        (b"null", 422, "something else"),
        (b'{"points": 3}', 422, "list"),
        (b'{"points": [[1, 2]]}', 422, "Point 1 must be three numbers"),
        (b'{"points": [["1", 2, 1]]}', 422, "Point 1 must be three numbers"),
        (b'{"points": [[1, 2, 6]]}', 422, "classes are 1 to 5"),
        (b'{"points": [[1, 2, 1.5]]}', 422, "classes are 1 to 5"),
        (b'{"points": [[true, 2, 1]]}', 422, "three numbers"),
        (b'{"points": [], "method": "__import__"}', 422, "no method '__import__'"),
        (b'{"points": [], "method": ["lda"]}', 422, "no method"),
        (b'{"points": [], "basis": "poly:99"}', 422, "no basis"),
        (b'{"points": [], "coding": "x"}', 422, "no coding"),
        (b'{"points": [], "parameters": 3}', 422, "parameters must be"),
        (b'{"points": [], "parameters": {"epochs": 1e9}}', 422, "from 1 to 1000"),
        (b'{"points": [], "parameters": {"epochs": 1.5}}', 422, "whole number"),
        (b'{"points": [], "parameters": {"mode": "x"}}', 422, "choose among"),
        (b'{"points": [], "parameters": {"eta": "os.system"}}', 422, "must be a number"),
        (b'{"points": [], "centres": 1000000}', 422, "from 1 to 40"),
        (b'{"points": [], "view": -1}', 422, "whole number"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(server: Playground, body: bytes, status: int, words: str) -> None:
    got, answer = post(server, "fit", body)
    assert got == status
    assert words in answer["error"]
    assert is_sentence(answer["error"])


def test_only_json_is_read(server: Playground) -> None:
    """A form of a foreign page can send text/plain without asking first."""
    assert post(server, "fit", {"points": TWO}, {"Content-Type": "text/plain"})[0] == 415


def test_unknown_sets_of_points_are_refused(server: Playground) -> None:
    for body in ({"name": "nothing"}, {"name": 3}, {}, [], {"name": "pair", "seed": -1}, {"name": "pair", "seed": "0"}):
        status, answer = post(server, "preset", body)
        assert status == 422
        assert is_sentence(answer["error"])


# What is answered


def test_the_options_list_every_method_and_set(server: Playground) -> None:
    options = json.loads(ask(server, "GET", f"/{server.token}/options")[2])
    assert {p["name"] for p in options["presets"]} == set(PRESETS)
    assert {"perceptron", "lda", "qda", "svc", "logistic"} <= {m["name"] for m in options["methods"]}


def test_sets_of_points_are_the_same_for_a_seed(server: Playground) -> None:
    first, second = (post(server, "preset", {"name": "xor", "seed": 3})[1]["points"] for _ in range(2))
    assert first == second
    assert first != post(server, "preset", {"name": "xor", "seed": 4})[1]["points"]


def test_a_table_is_read_and_one_that_is_none_is_answered(server: Playground) -> None:
    assert post(server, "table", {"name": "a.csv", "text": "x,y\n1,2\n"})[1]["points"] == [[1.0, 2.0, 1]]
    status, answer = post(server, "table", {"name": "B<b>\x1b.csv", "text": "x\n1\n"})
    assert status == 200
    assert is_sentence(answer["problem"])
    assert "\x1b" not in answer["problem"]
    assert post(server, "table", {"name": "a.csv"})[0] == 422


def test_an_empty_board_and_one_class_are_answered(server: Playground) -> None:
    assert post(server, "fit", {"points": []})[1]["problem"] == "Click to put a point."
    assert "two classes" in post(server, "fit", {"points": [[0, 0, 3]]})[1]["problem"]


def test_several_questions_at_once_are_answered(server: Playground) -> None:
    """Fits catch warnings, which is a state of the whole process: they must not get into each other's way."""
    answers: list[Any] = []
    ask_one = lambda method: answers.append(post(server, "fit", {"points": TWO, "method": method}))  # noqa: E731
    threads = [threading.Thread(target=ask_one, args=(m,)) for m in ("lda", "perceptron", "adaline", "qda") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [status for status, _ in answers] == [200] * 8
    assert {answer["verdict"]["verdict"] for _, answer in answers} == {"separable"}


# The command


def test_the_command_prints_its_address_and_ends_with_ctrl_c() -> None:
    command = [sys.executable, "-m", "discriminant.cli", "play", "--no-browser", "--data", "xor"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    port, token = url.removeprefix(f"http://{HOST}:").strip("/").split("/")
    connection = http.client.HTTPConnection(HOST, int(port), timeout=60)
    connection.request("GET", f"/{token}/options")
    assert json.loads(connection.getresponse().read())["first"] == "xor"
    connection.close()
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert not out
    assert "closed" in err
    assert "Traceback" not in err


def test_a_link_without_a_drawing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--no-browser", "--link", "http://127.0.0.1/x/"]) == 2
    assert "behind a #" in capsys.readouterr().err


def test_a_port_in_use_and_an_unknown_set_are_sentences(server: Playground, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--no-browser", "--port", str(server.port)]) == 2
    assert f"Port {server.port} cannot be used" in capsys.readouterr().err
    assert main(["play", "--no-browser", "--port", "70000"]) == 2
    assert "Port 70000 cannot be used" in capsys.readouterr().err
    assert main(["play", "--no-browser", "--data", "xors"]) == 2
    assert "no set of points 'xors'" in capsys.readouterr().err
