"""Tasks for somebody's repository, and what is taken from a package index, without playing the whole demo."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.policy import parse_policy
from runner.globs import any_match
from runner.results import PlanDocument
from tests.demo import odd_repository, sdist, toolchain
from tests.demo import stage as stage_module
from tests.demo.__main__ import environment, policy
from tests.demo.players import scripted
from tests.demo.refusal import Refusal
from tests.demo.stage import Stage, built_in, set_stage
from tests.town.repository import AUTHOR, git, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT = Path(__file__).with_name("agent.py")
PYTHON_PROJECT = {
    "src/thing/__init__.py": "VALUE = 1",
    "tests/test_thing.py": "from thing import VALUE\n\n\ndef test_it():\n    assert VALUE == 1\n",
    "README.rst": "Thing\n=====\r\n",
}


def repository(folder: Path, files: dict[str, str]) -> Path:
    git(folder.parent, "init", "--quiet", "-b", "trunk", folder.name)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Start")
    return folder


def stage_of(tmp_path: Path, files: dict[str, str]) -> Stage:
    home = tmp_path / "home"
    home.mkdir()
    return set_stage(str(repository(tmp_path / "source", files)), home, lambda _text: None)


def checked_out(stage: Stage, folder: Path) -> Path:
    git(folder.parent, "clone", "--quiet", str(stage.source), folder.name)
    return folder


def play(stage: Stage, number: int, attempt: int, tree: Path, tmp_path: Path) -> None:
    """Let the scripted agent carry out a task in ``tree``."""
    script, prompt = tmp_path / "script.json", tmp_path / "prompt"
    script.write_text(json.dumps(stage.tasks))
    others = ", ".join(task["title"] for task in stage.tasks)
    prompt.write_text(f"{others}\nBEGIN UNTRUSTED ISSUE\n{stage.tasks[number]['title']}\nEND UNTRUSTED ISSUE\n")
    command = [sys.executable, AGENT, script, "ExecutePlan", str(attempt), prompt, tmp_path / "result.json"]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)


def gate(stage: Stage, name: str, tree: Path) -> int:
    run = next(gate["run"] for gate in stage.gates if gate["name"] == name)
    return subprocess.run(["sh", "-c", run], cwd=tree, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "# A\n"},
        {"readme": ""},
        {"other.txt": "x\n"},
        {"docs/a.md": "a\n", ".gitignore": "docs/twogate*\n"},
        {"docs/twogate-demo.md": "of an earlier demo\n", "TWOGATE-CHECKS.md": "x\n"},
    ],
    ids=["readme", "empty-readme", "no-readme", "ignored-docs", "taken-names"],
)
def test_every_task_stays_within_its_plan_and_the_first_is_mended(tmp_path: Path, files: dict[str, str]) -> None:
    stage = stage_of(tmp_path, files)
    for number, task in enumerate(stage.tasks):
        tree = checked_out(stage, tmp_path / f"tree{number}")
        assert gate(stage, "no drafts", tree) == 0
        for attempt, _ in enumerate(task["attempts"], 1):
            play(stage, number, attempt, tree, tmp_path)
            assert (gate(stage, "no drafts", tree) == 0) is (attempt == len(task["attempts"]))
        shown = git(tree, "-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all")
        paths = [line[2:].strip() for line in shown.splitlines()]
        assert paths
        assert all(any_match(task["plan"]["files"], path) for path in paths)
        assert not set(paths) & files.keys() - {"README.md", "readme"}
        for name in ("plan", "updated_plan"):
            assert PlanDocument.model_validate_json(json.dumps(task.get(name, task["plan"])))


def test_no_module_is_touched_where_no_tests_are_recognised(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, PYTHON_PROJECT)
    assert stage.tasks[0]["plan"]["files"][1:] == ["README.rst"]


def test_recognised_tests_run_against_the_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "make_venv", lambda _folder: Path(sys.executable))
    monkeypatch.setattr(toolchain, "install", lambda _python, _requirements: None)
    stage = stage_of(tmp_path, {**PYTHON_PROJECT, "pytest.ini": "[pytest]\n"})
    assert stage.tasks[0]["plan"]["files"][1:] == ["README.rst", "src/thing/__init__.py"]
    tree = checked_out(stage, tmp_path / "tree")
    assert stage.gates[0]["run"] == "PYTHONPATH=src python -m pytest -q"
    run = stage.gates[0]["run"].replace("python -m", f"{sys.executable} -P -B -m")
    results = []
    for attempt in (0, 1, 2):
        if attempt:
            play(stage, 0, attempt, tree, tmp_path)
        results.append(subprocess.run(["sh", "-c", run], cwd=tree, capture_output=True, check=False).returncode)
    assert [result == 0 for result in results] == [True, False, True]
    assert (tree / "src/thing/__init__.py").read_text() == "VALUE = 1\n# Seen by the demo of Twogate.\n"
    assert (tree / "README.rst").read_bytes().startswith(b"Thing\n=====\r\n\r\nWhat")


def test_what_the_demo_leaves_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_module, "PROGRAMS", str(tmp_path))
    source = repository(tmp_path / "source", {"Cargo.toml": "[package]\n"})
    (source / "Cargo.toml").write_text("[changed]\n")
    home, said = tmp_path / "home", []
    home.mkdir()
    stage = set_stage(str(source), home, said.append)
    assert [gate["name"] for gate in stage.gates] == ["no drafts"]
    assert "changes that are in no commit" in said[0]
    assert "`cargo test --workspace` is left out" in said[1]


def test_the_demos_policy_is_one_that_the_bot_reads(tmp_path: Path) -> None:
    for stage in (built_in(), stage_of(tmp_path, {"a": "a"})):
        player = scripted(tmp_path / f"agent{len(stage.gates)}", stage.tasks)
        parsed = parse_policy(policy(stage, player))
        assert parsed.overlap == "warn"
        assert parsed.sandbox == "auto"
        assert [gate.run for gate in parsed.gates or ()] == [gate["run"] for gate in stage.gates]
        assert str(player.tools[0]) in environment(stage, player)["TWOGATE_TOOLS"]


def test_a_source_is_cloned_on_its_branch_and_never_touched(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"a": "a\n", ".github": "a file where a folder is expected\n"})
    (source / "a").write_text("changed\n")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    stage = stage_home(tmp_path, source)
    target = prepare(stage.source, tmp_path / "town", "label: agent\n")
    assert git(target, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert git(target, "show", "HEAD:a") == "a"
    assert git(target, "show", "HEAD:.github/twogate.yml") == "label: agent"
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def stage_home(tmp_path: Path, source: Path) -> Stage:
    home = tmp_path / "home"
    home.mkdir()
    return set_stage(str(source), home, lambda _text: None)


def test_a_repository_of_odd_names_has_all_of_them(tmp_path: Path) -> None:
    made = odd_repository.make(tmp_path / "odd", files=10)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-s"], cwd=made, env=AUTHOR, capture_output=True, check=True
    ).stdout
    rows = [row.split(b"\t", 1) for row in listed.split(b"\0")[:-1]]
    paths = {path for _, path in rows}
    assert {name.encode() for name in odd_repository.NAMES} <= paths
    assert b"latin-1-\xe4\xf6\xfc" in paths
    assert {head.split(b" ")[0] for head, _ in rows} == {b"100644", b"100755", b"120000", b"160000"}
    assert git(made, "symbolic-ref", "--short", "HEAD") == "trunk"
    stage = stage_home(tmp_path, made)
    assert [gate["name"] for gate in stage.gates] == ["tests", "no drafts"]
    assert stage.tasks[1]["plan"]["files"] == ["README.md"]


def archive(path: Path, members: dict[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def test_an_archive_is_unpacked_without_its_git_folder(tmp_path: Path) -> None:
    hostile = b"[core]\n\tfsmonitor = touch /tmp/owned\n"
    packed = archive(tmp_path / "a.tar.gz", {"a-1/x": b"x", "a-1/.git/config": hostile, "a-1/sub/.GIT/config": hostile})
    root = sdist.unpack(packed, tmp_path / "out")
    assert [path.name for path in root.rglob("*")] == ["x"]


@pytest.mark.parametrize(
    "members",
    [
        {"a-1/x": b"x", "../escaped": b"x"},
        {"a-1/x": b"x", "/tmp/twogate-escaped/../../etc/escaped": b"x", "b-1/x": b"x"},
        {"a-1/link": link("a-1/link", "/etc/passwd")},
        {"a-1/link": link("a-1/link", "../../outside")},
        {"a-1/x": b"x", "b-1/x": b"x"},
        {"only-a-file": b"x"},
    ],
    ids=["dots", "absolute", "absolute-link", "link-out", "two-folders", "no-folder"],
)
def test_an_archive_that_leads_elsewhere_is_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    with pytest.raises(Refusal):
        sdist.unpack(archive(tmp_path / "a.tar.gz", members), tmp_path / "in" / "out")
    assert not (tmp_path / "in" / "escaped").exists()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"<html>")
    with pytest.raises(Refusal, match="can't be unpacked"):
        sdist.unpack(tmp_path / "a.tar.gz", tmp_path / "out")


@contextmanager
def index(pages: dict[str, tuple[str, bytes]]) -> Iterator[str]:
    """A package index on loopback: path to content type and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = pages.get(self.path, ("text/plain", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def listing(data: bytes, **hashes: str) -> bytes:
    names = ["my_thing-1.0-py3-none-any.whl", "not a file name", "my_thing-1.0.tar.gz", "my_thing-1.1.tar.gz"]
    files = [{"filename": name, "url": f"../../files/{name}", "hashes": hashes} for name in names]
    return json.dumps({"files": files}).encode()


def test_the_archive_of_a_release_is_found_and_its_hash_is_checked(tmp_path: Path) -> None:
    data = b"the archive"
    right = hashlib.sha256(data).hexdigest()
    pages = {"/files/my_thing-1.0.tar.gz": ("application/gzip", data)}
    with index(pages) as url:
        pages["/simple/my-thing/"] = (sdist.JSON_FORM, listing(data, sha256=right))
        assert sdist.download(url, "My.Thing", "1.0", tmp_path).read_bytes() == data
        with pytest.raises(Refusal, match="no source distribution"):
            sdist.download(url, "my-thing", "2.0", tmp_path)
        pages["/simple/my-thing/"] = (sdist.JSON_FORM, listing(data, sha256="0" * 64))
        with pytest.raises(Refusal, match="does not have the hash"):
            sdist.download(url, "my-thing", "1.0", tmp_path)
        pages["/simple/my-thing/"] = ("text/html", b"<html>")
        with pytest.raises(Refusal, match="JSON"):
            sdist.download(url, "my-thing", "1.0", tmp_path)
        with pytest.raises(Refusal, match="404"):
            sdist.download(url, "other", "1.0", tmp_path)


def test_what_tests_need_is_what_is_declared() -> None:
    pyproject = b"""
[project]
dependencies = ["alpha>=1"]
optional-dependencies = {tests = ["beta"], docs = ["sphinx"]}
[dependency-groups]
test = ["gamma", {include-group = "more"}, {include-group = "test"}]
more = ["delta"]
"""
    assert toolchain.declared(pyproject) == ["alpha>=1", "beta", "pytest", "gamma", "delta"]
    assert toolchain.declared(b"no toml [") == ["pytest"]
    pkg_info = b"Metadata-Version: 2.1\nName: thing\nVersion: 1\nProvides-Extra: tests\nProvides-Extra: docs\n"
    assert toolchain.released("thing", "1", pkg_info, pyproject) == ["thing[tests]==1", "pytest", "gamma", "delta"]
    assert toolchain.released("thing", "1", None, None) == ["thing==1", "pytest"]
