"""Clone, fetch and push over HTTP: ``git http-backend`` behind Flask at ``/<owner>/<name>.git``, with GitHub's answers.

A token comes as the Basic password or as bearer. Contents read serves, contents write accepts; changes below
``.github/workflows`` need the workflows permission besides, and a pull request's refs cannot be written. What a push
moved comes from a post-receive hook: comparing refs before and after would report the pushes of others too.
"""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from flask import Blueprint, Response, request

from tests.standin import gitstore, pushes
from tests.standin.model import Hub, Push, Repo, Token

SERVICES = {"git-upload-pack", "git-receive-pack"}
CHUNK_BYTES = 1 << 16
BACKEND_SECONDS = 120
"""A served request that takes longer is stuck."""

POST_RECEIVE = """#!/bin/sh
cat >> "$STANDIN_PUSHED"
"""
PRE_RECEIVE = """#!/bin/sh
[ "$STANDIN_WORKFLOWS" = write ] && exit 0
while read -r old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
  file=$(git -c core.quotePath=off log -m --format= --name-only "$new" --not --all -- .github/workflows | head -n 1)
  [ -z "$file" ] && continue
  echo "refusing to allow a GitHub App to create or update workflow \\`$file\\` without \\`workflows\\` permission" >&2
  exit 1
done
"""
CONFIG = {
    "http.receivepack": "true",
    "receive.hideRefs": "refs/pull",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
}


class GitRemote:
    """The hooks folder and the way to the backend; one a hub, made by ``hub.service(GitRemote)``."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.hooks = hub.home / "hooks"
        self.hooks.mkdir(parents=True, exist_ok=True)
        self.backend = Path(gitstore.text(hub.home, "--exec-path")) / "git-http-backend"
        for name, script in (("pre-receive", PRE_RECEIVE), ("post-receive", POST_RECEIVE)):
            (self.hooks / name).write_text(script)
            (self.hooks / name).chmod(0o755)

    def refusal(self, token: Token | None, repo: Repo | None, *, given: bool, push: bool) -> Response | None:
        """GitHub's answer to a request that may not go on, or None."""
        public = repo is not None and not repo.private and not push
        if token is None:
            if public and not given:
                return None
            text = "Invalid username or token. Password authentication is not supported for Git operations.\n"
            return Response(text, 401, {"WWW-Authenticate": 'Basic realm="GitHub"'})
        if repo is None or not (public or self.hub.token_allows(token, repo, "contents", "read")):
            return Response("Repository not found.\n", 404)
        if push and not self.hub.token_allows(token, repo, "contents", "write"):
            who = token.actor.login if token.actor else "unknown"
            return Response(f"Permission to {repo.full_name}.git denied to {who}.\n", 403)
        if push and repo.archived:
            return Response("This repository was archived so it is read-only.\n", 403)
        return None

    def serve(self, repo: Repo, rest: str, token: Token | None) -> Response:
        """Hand the present request to git; a push is announced before its answer ends, so its client sees both."""
        with tempfile.NamedTemporaryFile(prefix="pushed-") as pushed, spooled_body() as body:
            env = self._environment(repo, rest, token, pushed.name, os.fstat(body.fileno()).st_size)
            backend = subprocess.Popen([self.backend], stdin=body, stdout=subprocess.PIPE, env=env)
            assert backend.stdout is not None
            status, headers = cgi_headers(backend.stdout)
            if rest != "git-receive-pack":
                return Response(stream(backend, backend.stdout), status, headers, direct_passthrough=True)
            answer = b"".join(stream(backend, backend.stdout))
            self._announce(repo, token, Path(pushed.name).read_text())
            return Response(answer, status, headers)

    def _environment(self, repo: Repo, rest: str, token: Token | None, pushed: str, length: int) -> dict[str, str]:
        config = {**CONFIG, "core.hooksPath": str(self.hooks)}
        pairs = [(f"GIT_CONFIG_KEY_{n}", key) for n, key in enumerate(config)]
        pairs += [(f"GIT_CONFIG_VALUE_{n}", value) for n, value in enumerate(config.values())]
        by_user = token is not None and token.kind == "user"
        workflows = by_user or (token is not None and self.hub.token_allows(token, repo, "workflows", "write"))
        return gitstore.environment(
            GIT_PROJECT_ROOT=str(self.hub.git_dir(repo).parent),
            GIT_HTTP_EXPORT_ALL="1",
            GIT_PROTOCOL=request.headers.get("Git-Protocol", ""),
            GIT_CONFIG_COUNT=str(len(config)),
            PATH_INFO=f"/{self.hub.git_dir(repo).name}/{rest}",
            QUERY_STRING=request.query_string.decode(),
            REQUEST_METHOD=request.method,
            CONTENT_TYPE=request.content_type or "",
            CONTENT_LENGTH=str(length),
            HTTP_CONTENT_ENCODING=request.headers.get("Content-Encoding", ""),
            REMOTE_ADDR="127.0.0.1",
            REMOTE_USER=token.actor.login if token is not None and token.actor else "anonymous",
            STANDIN_PUSHED=pushed,
            STANDIN_WORKFLOWS="write" if workflows else "refuse",
            **dict(pairs),
        )

    def _announce(self, repo: Repo, token: Token | None, moved: str) -> None:
        actor = token.actor if token is not None else None
        assert actor is not None, "a push without an actor was let through"
        with self.hub.lock:
            for line in moved.splitlines():
                before, after, ref = line.split(" ", 2)
                self.hub.pushes.append(Push(actor.login, repo.id, ref, before, after))
                pushes.announce(self.hub, repo, ref, before, after, actor)


@contextlib.contextmanager
def spooled_body() -> Iterator[IO[bytes]]:
    """The request's body as a file: git sends packs over 1 MB chunked, and CGI wants their length beforehand."""
    with tempfile.TemporaryFile() as body:
        while chunk := request.stream.read(CHUNK_BYTES):
            body.write(chunk)
        body.seek(0)
        yield body


def cgi_headers(output: IO[bytes]) -> tuple[int, dict[str, str]]:
    """Status and headers that the backend writes before its answer."""
    status, headers = 200, {}
    while line := output.readline().strip():
        name, value = line.decode().split(": ", 1)
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers[name] = value
    return status, headers


def stream(backend: "subprocess.Popen[bytes]", output: IO[bytes]) -> Iterator[bytes]:
    """The rest of the backend's output as it comes; the process is waited for at its end."""
    try:
        while chunk := output.read(CHUNK_BYTES):
            yield chunk
    finally:
        output.close()
        backend.wait(BACKEND_SECONDS)


def given_token() -> str | None:
    """The raw token of the present request: the Basic password (any user name) or the bearer token."""
    sent = request.authorization
    if sent is None:
        return None
    return sent.password if sent.type == "basic" else sent.token


def blueprint(hub: Hub) -> Blueprint:
    """The git routes of a hub."""
    routes = Blueprint("git_remote", __name__)
    remote = hub.service(GitRemote)

    @routes.route("/<owner>/<name>.git/info/refs", defaults={"rest": "info/refs"}, methods=["GET"])
    @routes.route("/<owner>/<name>.git/<any('git-upload-pack', 'git-receive-pack'):rest>", methods=["POST"])
    def git(owner: str, name: str, rest: str) -> Response:
        service = request.args.get("service", "") if rest == "info/refs" else rest
        if service not in SERVICES:
            return Response("Please upgrade your git client.\n", 403)
        with hub.lock:
            raw = given_token()
            token, repo = hub.resolve_token(raw), hub.repo(owner, name)
            moved = hub.repo_by_id(hub.moved.get(f"{owner}/{name}".lower(), 0))
            push = service == "git-receive-pack"
            refused = remote.refusal(token, repo or moved, given=raw is not None, push=push)
        if refused is not None:
            return refused
        if repo is None and moved is not None:
            target = f"{hub.base_url}/{moved.full_name}.git/{rest}?{request.query_string.decode()}"
            return Response(status=301, headers={"Location": target})
        assert repo is not None
        return remote.serve(repo, rest, token)

    return routes
