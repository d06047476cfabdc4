"""The control API over HTTP, the stand-in as a process, pages, and that conformance does find faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.standin import markdown
from tests.standin.render import Render

if TYPE_CHECKING:
    import pytest

    from tests.standin.conftest import World


def test_control_over_http(world: World) -> None:
    base = f"{world.standin.url}/_control"
    made = httpx.post(f"{base}/create_user", json={"login": "zoe"}).json()
    assert made["token"].startswith("ghp_zoe_")
    assert httpx.post(f"{base}/set_role", json={"repo": "acme/shop", "login": "zoe", "role": "read"}).status_code == 200
    headers = {"Authorization": f"token {made['token']}"}
    issue = httpx.post(f"{world.standin.api_url}/repos/acme/shop/issues", headers=headers, json={"title": "Hi"})
    assert issue.status_code == 201
    assert httpx.get(f"{base}/counters").json()["zoe"] == {"reads": 0, "writes": 1}
    (entry,) = httpx.get(f"{base}/log").json()
    assert (entry["operation"], entry["status"], entry["write"]) == ("issues/create", 201, True)
    assert entry["template"] == "/api/v3/repos/<owner>/<name>/issues"
    assert httpx.get(f"{base}/threads", params={"repo": "acme/shop"}).json()[0]["title"] == "Hi"
    assert httpx.post(f"{base}/set_role", json={"repo": "acme/none", "login": "zoe", "role": "read"}).status_code == 422
    assert httpx.post(f"{base}/no_such_thing").status_code == 404
    assert httpx.post(f"{base}/add_fault", json={"kind": "nonsense"}).status_code == 422


def test_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.standin", "--home", str(tmp_path), "--webhook-url", "http://127.0.0.1:9/"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        made = json.loads(process.stdout.readline())
        headers = {"Authorization": f"token {made['maintainer']['token']}"}
        shown = httpx.get(f"{made['url']}/api/v3/repos/acme/shop", headers=headers).json()
        assert shown["permissions"]["admin"] is True
        process.terminate()
        assert process.wait(30) == 0


def test_pages(world: World, tmp_path: Path) -> None:
    head = world.commit("plan/1", {"a.txt": "<script>\n"})
    with world.client("wes") as wes:
        wes.post("/issues", json={"title": "A <b> title", "body": "Hello **you** <script>alert(1)</script>"})
        wes.post("/issues/1/reactions", json={"content": "rocket"})
        wes.post("/pulls", json={"title": "Add a", "head": "plan/1", "base": "main"})
    page = httpx.get(f"{world.standin.url}/acme/shop/issues/1").text
    assert "A &lt;b&gt; title" in page
    assert "<strong>you</strong> &lt;script&gt;" in page
    assert "🚀 1" in page
    pull = httpx.get(f"{world.standin.url}/acme/shop/pull/2").text
    assert '<span class="add">+&lt;script&gt;' in pull
    for base, status in (("main", 200), ("0" * 40, 404)):
        compared = httpx.get(f"{world.standin.url}/acme/shop/compare/{base}...{head}")
        assert (compared.status_code, '<span class="add">+&lt;script&gt;' in compared.text) == (status, status == 200)
    world.standin.control.page("acme/shop", 1, str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text() == page
    assert httpx.get(f"{world.standin.url}/acme/shop/issues/9").status_code == 404


def test_pages_of_reviews_checks_and_hidden_comments(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a\n"})
    with world.client("wes") as wes:
        wes.post("/pulls", json={"title": "Add a", "head": "plan/1", "base": "main"})
        wes.post("/issues/1/comments", json={"body": "An *old* word"})
        wes.post("/statuses/" + head, json={"state": "failure", "context": "build", "description": "It broke"})
    beside = [{"path": "a.txt", "line": 1, "body": "Why `a`?"}]
    with world.client("mia") as mia:
        mia.post("/pulls/1/reviews", json={"event": "REQUEST_CHANGES", "body": "See #1.", "comments": beside})
    repo = world.standin.control.repo("acme/shop")
    repo.issues[1].comments[0].minimized_reason = "OUTDATED"
    buttons = [{"label": "Approve", "description": "Say yes", "identifier": "approve"}]
    output = {"title": "Waits", "summary": "**Decide**, please."}
    fields: Any = {"status": "completed", "conclusion": "action_required", "actions": buttons, "output": output}
    made = world.installation().rest.checks.create("acme", "shop", name="twogate", head_sha=head, **fields)
    page = httpx.get(f"{world.standin.url}/acme/shop/pull/1").text
    assert "marked as outdated" in page.split("An <em>old</em> word")[0].rsplit("<details", 1)[1]
    assert "requested changes" in page
    assert "<code>a.txt, line 1</code>" in page
    assert 'See <a href="../issues/1">#1</a>.' in page
    assert page.index("Waits") < page.index('<button type="button" title="Say yes">Approve') < page.index("It broke")
    check = httpx.get(f"{world.standin.url}/acme/shop/runs/{made.parsed_data.id}").text
    assert "<strong>Decide</strong>" in check
    assert "Approve</button>" in check
    assert httpx.get(f"{world.standin.url}/acme/shop/runs/9").status_code == 404


def test_markdown() -> None:
    made = markdown.render("<!-- hidden -->\n<details><summary>More</summary>\n\n- [x] done\n\n</details>\n\n`<sub>`")
    assert "hidden" not in made
    assert "<details><summary>More</summary>" in made
    assert 'type="checkbox" disabled checked> done' in made
    assert "<code>&lt;sub&gt;</code>" in made
    assert '<div class="alert warning">' in markdown.render("> [!WARNING]\n> Careful")


def test_conformance_notices_a_wrong_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Render.label
    monkeypatch.setattr(Render, "label", lambda *args: real(*args) | {"color": 7, "default": None})
    with world.client("wes") as wes:
        wes.get("/labels")
        wes.post("/labels", json={"name": "odd"})
    world.standin.control.drain()
    found = "\n".join(world.standin.problems)
    assert "GET /api/v3/repos/acme/shop/labels 200: answer: /0/color: 7 is not of type 'string'" in found
    assert "webhook label.created" in found
    world.standin.problems.clear()


def test_conformance_notices_a_wrong_request(world: World) -> None:
    with world.client("wes") as wes:
        wes.post("/issues", json={"title": "a", "colour": "red"})
        wes.get("/issues", params={"label": "bug"})
    assert sorted(world.standin.problems) == [
        "GET /api/v3/repos/acme/shop/issues 200: request: unknown query parameter label",
        "POST /api/v3/repos/acme/shop/issues 201: request: unknown body field colour",
    ]
    world.standin.problems.clear()
