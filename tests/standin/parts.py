"""Some parts of the stand-in served alone, for their own tests: a hub, a port, and the repository ``acme/shop``."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from flask import Blueprint, Flask
from werkzeug.serving import make_server

from tests.standin import gitstore
from tests.standin.entities import Installation, Repo, User
from tests.standin.model import Hub
from tests.standin.render import Render

DEADLINE_SECONDS = 20.0
"""Nothing that a test waits for takes longer, on a busy machine either."""
Event = tuple[str, dict[str, Any]]


@dataclass
class Parts:
    """A running hub with one repository, its people, and the events it emitted."""

    hub: Hub
    repo: Repo
    maintainer: User
    reader: User
    installation: Installation
    http: httpx.Client
    events: list[Event] = field(default_factory=list)

    def commit(self, files: dict[str, str], branch: str = "main", message: str = "Change") -> str:
        """Commit files to a branch behind the API's back; the new commit."""
        path = self.hub.git_dir(self.repo)
        parent = gitstore.resolve(path, branch) or gitstore.resolve(path, self.repo.default_branch)
        assert parent is not None
        index = {"GIT_INDEX_FILE": str(self.hub.home / "index")}
        gitstore.run(path, "read-tree", parent, env=index)
        for name, text in files.items():
            blob = gitstore.run(path, "hash-object", "-w", "--stdin", data=text.encode()).decode().strip()
            gitstore.run(path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=index)
        tree = gitstore.run(path, "write-tree", env=index).decode().strip()
        made = gitstore.commit_tree(path, tree, [parent], message)
        gitstore.set_ref(path, f"refs/heads/{branch}", made)
        return made

    def token(self, **permissions: str) -> str:
        """An installation token, narrowed to the permissions where some are given."""
        return self.hub.create_installation_token(self.installation, dict(permissions) or None).raw

    def api(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> httpx.Response:
        """A REST call about the repository, by default as the App, in the newest API version."""
        sent = {"Authorization": f"Bearer {token or self.token()}", "X-GitHub-Api-Version": "2026-03-10", **headers}
        return self.http.request(method, f"/api/v3/repos/{self.repo.full_name}{path}", json=body, headers=sent)

    def actions_of(self, event: str) -> list[str]:
        """The actions of the events of a kind so far."""
        return [payload["action"] for name, payload in list(self.events) if name == event]


def wait_for(condition: Callable[[], Any], seconds: float = DEADLINE_SECONDS) -> Any:
    """Ask again and again until the answer is true; AssertionError after the deadline."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "what the test waits for did not come"
        threading.Event().wait(0.02)
    return answer


@contextlib.contextmanager
def serving(home: Path, *blueprints: Callable[[Hub], Blueprint]) -> Iterator[Parts]:
    """A hub with the given routes on a free port of loopback."""
    hub = Hub(home, time.time)
    render = Render(hub)
    hub.render_context = lambda repo: {"repository": render.repository(repo)}
    hub.render_user = render.user
    owner, maintainer, reader = hub.create_user("acme", "Organization"), hub.create_user("mia"), hub.create_user("rob")
    repo = hub.create_repo(owner, "shop")
    hub.set_role(repo, maintainer, "write")
    hub.set_role(repo, reader, "read")
    app = hub.create_app("twogate", owner)
    server_app = Flask("parts")
    server = make_server("127.0.0.1", 0, server_app, threaded=True)
    hub.base_url = f"http://127.0.0.1:{server.server_port}"
    for blueprint in blueprints:
        server_app.register_blueprint(blueprint(hub))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    with httpx.Client(base_url=hub.base_url, timeout=DEADLINE_SECONDS) as client:
        parts = Parts(hub, repo, maintainer, reader, hub.install(app, owner), client)
        hub.listeners.append(lambda event, payload, _repo: parts.events.append((event, payload)))
        try:
            yield parts
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
