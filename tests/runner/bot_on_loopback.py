"""A bot on loopback for the runner's tests: the five endpoints, the OIDC endpoint, and git over HTTP, really served."""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from runner.contract import Claim, EndedPlans, JobSpec, ProgressAnswer, PushToken, Report

if TYPE_CHECKING:
    from pathlib import Path

JOB_KEY = "job-key-secret"
PUSH_TOKEN = "push-token-secret"
REQUEST_TOKEN = "oidc-request-secret"
READ_TOKEN = "read-token-secret"


@dataclass
class Bot:
    """What the bot knows, is told, and answers; tests set and read it."""

    git_root: Path | None = None
    specs: dict[str, JobSpec] = field(default_factory=dict)
    not_yet: int = 0
    """Claims still to be answered with "not yet"."""
    away: bool = False
    refuse_push: bool = False
    refuse_report: int | None = None
    stop: str | None = None
    ended: tuple[str, ...] = ()
    identities: set[str] = field(default_factory=set)
    claims: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    progress: list[dict[str, Any]] = field(default_factory=list)
    pushes: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, Report] = field(default_factory=dict)
    git_authorisations: set[str] = field(default_factory=set)
    counter: Any = field(default_factory=lambda: itertools.count(1))
    on_push_token: Any = None
    on_progress: Any = None
    url: str = ""

    def identity(self, audience: str) -> str:
        token = f"oidc-{next(self.counter)}-{audience}"
        self.identities.add(token)
        return token

    def spend(self, token: str) -> bool:
        """Take an identity token once, and only for this bot."""
        if token in self.identities and token.endswith("-" + self.url):
            self.identities.remove(token)
            return True
        return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BotServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        return

    @property
    def bot(self) -> Bot:
        return self.server.bot

    def do_GET(self) -> None:
        self.route("GET")

    def do_POST(self) -> None:
        self.route("POST")

    def do_PUT(self) -> None:
        self.route("PUT")

    def route(self, method: str) -> None:
        body = self.body()
        parts = urlsplit(self.path)
        if parts.path == "/oidc":
            self.oidc(parse_qs(parts.query))
        elif parts.path.startswith("/git/"):
            self.git(parts.path.removeprefix("/git"), parts.query, body)
        elif self.bot.away:
            self.answer(503, {"error": "The bot is away."})
        elif parts.path == "/healthz":
            self.answer(200, {"ok": True})
        elif parts.path == "/runner/plans/ended":
            self.keyed(lambda: self.answer_json(200, EndedPlans(plan_uids=self.bot.ended).model_dump_json()))
        else:
            _, _, _, job, verb = parts.path.split("/")
            getattr(self, f"{method.lower()}_{verb.replace('-', '_')}")(job, body)

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def bearer(self) -> str:
        return self.headers.get("Authorization", "").split(" ", 1)[-1]

    def keyed(self, then: Any) -> None:
        if self.bearer() == JOB_KEY:
            then()
        else:
            self.answer(401, {"error": "This is not the job's key."})

    def oidc(self, query: dict[str, list[str]]) -> None:
        if self.bearer() != REQUEST_TOKEN or query.get("api-version") != ["2.0"]:
            self.answer(401, {"message": "no"})
        else:
            self.answer(200, {"value": self.bot.identity(query["audience"][0])})

    def post_claim(self, job: str, _body: bytes) -> None:
        bot = self.bot
        if not bot.spend(self.bearer()):
            self.answer(401, {"error": "This OIDC token is not valid here."})
        elif bot.not_yet > 0:
            bot.not_yet -= 1
            self.answer(409, {"error": "Not yet: the run is not known."}, retry_after="0.05")
        elif job not in bot.specs:
            self.answer(404, {"error": f"There is no job {job}."})
        elif job in bot.claims:
            self.answer(409, {"error": f"Job {job} has been claimed already."})
        else:
            bot.claims.append(job)
            self.answer_json(200, Claim(spec=bot.specs[job], job_key=JOB_KEY).model_dump_json())

    def post_progress(self, _job: str, body: bytes) -> None:
        self.keyed(lambda: self.take_progress(json.loads(body)))

    def take_progress(self, progress: dict[str, Any]) -> None:
        bot = self.bot
        bot.progress.append(progress)
        if not bot.phases or bot.phases[-1] != progress["phase"]:
            bot.phases.append(progress["phase"])
        if bot.on_progress is not None:
            bot.on_progress()
        self.answer_json(200, ProgressAnswer(stop=bot.stop).model_dump_json())

    def post_push_token(self, _job: str, body: bytes) -> None:
        bot = self.bot
        if not bot.spend(self.bearer()):
            self.answer(401, {"error": "This OIDC token is not valid here."})
        elif bot.refuse_push:
            self.answer(403, {"error": "The plan was withdrawn: nothing is pushed."})
        else:
            bot.pushes.append(json.loads(body))
            if bot.on_push_token is not None:
                bot.on_push_token()
            self.answer_json(200, PushToken(token=PUSH_TOKEN, expires_at=2e9).model_dump_json())

    def put_report(self, job: str, body: bytes) -> None:
        def take() -> None:
            if self.bot.refuse_report is not None:
                self.answer(self.bot.refuse_report, {"error": "This job is over."})
                return
            self.bot.reports.setdefault(job, Report.model_validate_json(body))
            self.answer(200, {})

        self.keyed(take)

    def git(self, path: str, query: str, body: bytes) -> None:
        """Serve ``git http-backend``; the password of Basic authentication is noted, pushes need one."""
        kind, _, word = self.headers.get("Authorization", "").partition(" ")
        password = base64.b64decode(word).decode().partition(":")[2] if kind.lower() == "basic" else ""
        self.bot.git_authorisations.add(password)
        pushes = "git-receive-pack" in (path + query)
        if password not in ({PUSH_TOKEN} if pushes else {PUSH_TOKEN, READ_TOKEN}):
            self.answer(401, {"error": "no"})
            return
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.bot.git_root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "someone",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def answer(self, status: int, message: dict[str, Any], retry_after: str | None = None) -> None:
        self.answer_json(status, json.dumps(message), retry_after)

    def answer_json(self, status: int, text: str, retry_after: str | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class BotServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, bot: Bot) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bot = bot
        bot.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join(10)
