"""The tools of a run as programs: pass on what is said to the runner, print its answer. Standard library alone.

It runs inside the sandbox, where it is shown beside the socket (:mod:`runner.tools.folder`), and as ``twogate-runner
mcp``. It decides nothing. Exit code 0: done. 1: not done, and the sentence says what to mend. 2: it was called wrongly.

The socket takes one request a connection. ``call TOOL`` and a line end, then the arguments as one JSON object, then the
end of what is sent; back comes ``{"ok": true or false, "text": "…"}``. Or ``mcp`` and a line end: from there on both
sides speak the Model Context Protocol, a JSON object a line.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
from pathlib import Path

SOCKET_NAME = "TWOGATE_TOOLBOX"
"""The variable that names the socket where ``--socket`` doesn't."""
READ_BYTES = 1 << 16
GONE = "The tools of this run can't be reached: {}. Results can still be written to the result file."


def main(arguments: list[str] | None = None) -> int:
    """Call the tool that the command line names, and return the exit code."""
    parsed = vars(_parser().parse_args(arguments))
    where, tool = parsed.pop("socket"), parsed.pop("tool")
    if not where:
        return _refused(tool, f"{SOCKET_NAME} is not set, so there is no run to speak to.")
    try:
        data = b"" if tool == "mcp" else _arguments(tool, parsed)
    except OSError as error:
        return _refused(tool, f"{error.filename} can't be read: {error.strerror}.")
    try:
        with _connected(Path(where)) as link:
            return _converse(link) if tool == "mcp" else _call(link, tool, data)
    except OSError as error:
        return _refused(tool, GONE.format(error.strerror or error))


def _connected(path: Path) -> socket.socket:
    """Connect from inside the socket's folder: the path of a unix socket may have a hundred bytes only."""
    os.chdir(path.parent)
    link = socket.socket(socket.AF_UNIX)
    link.connect(path.name)
    return link


def _call(link: socket.socket, tool: str, data: bytes) -> int:
    try:
        link.sendall(f"call {tool}\n".encode() + data)
        link.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it has heard enough, and says why
    with link.makefile("rb") as answer:
        said = json.loads(answer.read() or b'{"ok": false, "text": "The runner gave no answer."}')
    print(said["text"])
    return 0 if said["ok"] else 1


def _converse(link: socket.socket) -> int:
    """Pass on bytes both ways until one side has no more to say."""
    link.sendall(b"mcp\n")
    threading.Thread(target=_hear, args=(link,), daemon=True).start()
    while chunk := link.recv(READ_BYTES):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    return 0


def _hear(link: socket.socket) -> None:
    try:
        while chunk := os.read(0, READ_BYTES):
            link.sendall(chunk)
        link.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other direction tells


def _arguments(tool: str, parsed: dict[str, object]) -> bytes:
    """Return what the runner is sent; raises OSError where a file can't be read."""
    if tool == "submit":
        return _read(str(parsed["file"]))
    text = next(name for name in ("text", "reason") if name in parsed)
    if parsed[text] == "-":
        parsed[text] = _read("-").decode("utf-8", "replace")
    return json.dumps({name: value for name, value in parsed.items() if value is not None}).encode()


def _read(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def _refused(tool: str, sentence: str) -> int:
    """Tell whoever called, who reads stdout; over MCP that is for messages alone."""
    print(sentence, file=sys.stderr if tool == "mcp" else sys.stdout)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twogate-tool", description="The tools of this run.")
    parser.add_argument("--socket", default=os.environ.get(SOCKET_NAME), help=argparse.SUPPRESS)
    tools = parser.add_subparsers(dest="tool", required=True)

    def add(name: str, what: str) -> argparse.ArgumentParser:
        return tools.add_parser(name, prog=name, help=what, description=f"{what[0].upper()}{what[1:]}.")

    said = "a line; shown to the people who wait, and decides nothing"
    add("progress", "say what you are doing now").add_argument("text", help=said)
    submit = add("submit", "hand in the result; what does not fit comes back with what to mend")
    submit.add_argument("file", help="the result, one JSON object; - for standard input")
    remember = add("remember", "keep a lesson for later plans; people review it")
    remember.add_argument("--kind", required=True, choices=("fact", "convention", "pitfall"))
    remember.add_argument("--replaces", metavar="FILE", help="name of an older lesson that holds no more")
    remember.add_argument("--unit", help="the unit that shall know it; yours, where none is named")
    remember.add_argument("text", help="one or two sentences; - for standard input")
    recommend = add("recommend", "name something worth doing that is not part of your task")
    recommend.add_argument("--title", required=True, help="as an issue would have it")
    for about in (remember, recommend):
        about.add_argument("--path", action="append", default=[], dest="paths", metavar="GLOB", help="what it is about")
    recommend.add_argument("reason", help="what you saw; - for standard input")
    ask = add("ask", "put a question to the people; nobody answers during the run")
    ask.add_argument("text", help="the question; - for standard input")
    add("mcp", "speak the Model Context Protocol on standard input and output")
    return parser


if __name__ == "__main__":
    sys.exit(main())
