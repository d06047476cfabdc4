"""Git is hardened: nothing of a repository, a user or the machine steers it."""

from __future__ import annotations

import http.server
import os
import threading
from typing import TYPE_CHECKING

import pytest

from runner import git as git_module
from runner.git import Auth, Git, GitError, display, parse_raw
from tests.runner.workbench import BOT, Bench, bench, sh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ODD_NAMES = (
    *(b"new\nline", b"tab\t", b'quo"te', b"latin-\xe9", b" -> ", b"-f", b":(exclude)x", b"back\\slash"),
    *(b"esc\x1b[31m", "ü.py".encode(), b"*.py", b"a b"),
)


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


class Listener:
    """A server on loopback that writes down what it is sent."""

    def __init__(self, location: str | None = None) -> None:
        self.seen: list[tuple[str, str | None]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.seen.append((self.path, self.headers.get("Authorization")))
                self.send_response(302 if location else 404)
                if location:
                    self.send_header("Location", location + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.close()


def test_programs_named_by_a_repository_are_never_run(place: Bench, tmp_path: Path) -> None:
    ran, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 $@ >> {ran}\ncat\n")
    trap.chmod(0o755)
    hooks = place.store.path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "pre-push", "post-checkout", "pre-auto-gc"):
        (hooks / name).symlink_to(trap)
    for key in (
        *("core.fsmonitor", "core.hooksPath", "core.pager", "core.editor", "gpg.program", "core.sshCommand"),
        *("core.askPass", "credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv"),
        "alias.diff-tree",
    ):
        value = {"core.hooksPath": hooks, "alias.diff-tree": f"!{trap}"}.get(key, trap)
        sh(place.store.path, f"git config {key} {value}")
    sh(place.store.path, "git config commit.gpgSign true; mkdir -p info; echo '* diff=evil' > info/attributes")
    sh(place.origin, "echo two > a.txt; git commit -qam two")

    sh(place.store.path, f"git update-ref refs/control {place.base}")
    assert ran.exists(), "the traps are not armed"
    ran.unlink()

    tip = place.fetch()
    workspace = place.open()
    (workspace.tree / "a.txt").write_text("three\n")
    workspace.commit("three", BOT)
    assert workspace.is_clean_against(workspace.head)
    assert place.store.patch(place.base, tip, 10_000)[0].endswith(b"-one\n+two\n")
    place.store.push(place.url, workspace.head, "plan/7", expect=None)
    assert not ran.exists()


def test_no_variable_of_the_starting_process_reaches_git(place: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = place.home / "elsewhere"
    monkeypatch.setenv("GIT_DIR", str(elsewhere))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(elsewhere))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='false'")
    assert place.store.tree(place.base) == sh(place.origin, "git rev-parse HEAD^{tree}")


def test_replace_refs_show_nothing_but_the_commit_itself(place: Bench) -> None:
    sh(place.origin, "echo good > a.txt; git commit -qam good; git branch good; git reset -q --hard HEAD~")
    sh(place.origin, "echo bad > a.txt; git commit -qam bad")
    bad, good = place.fetch(), place.store.fetch(place.url, ["good"])["good"]
    sh(place.store.path, f"git update-ref refs/replace/{bad} {good}")
    assert place.store.read(bad, b"a.txt") == b"bad\n"


def test_a_header_goes_to_its_own_address_alone(place: Bench, listener: Listener) -> None:
    auth = Auth(listener.url + "/o/r", "Authorization: Basic c2VjcmV0")
    with pytest.raises(GitError):
        place.store.remote_tip(listener.url + "/o/r", "trunk", auth)
    with pytest.raises(GitError):
        place.store.remote_tip(listener.url + "/other", "trunk", auth)
    assert [header for _, header in listener.seen] == ["Basic c2VjcmV0", None]
    assert "secret" not in repr(auth)
    assert "c2VjcmV0" not in repr(auth)


def test_a_redirect_or_rewrite_never_carries_the_header_away(place: Bench, listener: Listener) -> None:
    leading = Listener(listener.url)
    try:
        auth = Auth(leading.url, "Authorization: Basic c2VjcmV0")
        with pytest.raises(GitError):
            place.store.remote_tip(leading.url + "/o/r", "trunk", auth)
        assert leading.seen
        assert not listener.seen
        sh(place.store.path, f"git config url.{listener.url}/.insteadOf {leading.url}/")
        with pytest.raises(GitError):
            place.store.remote_tip(leading.url + "/o/r", "trunk", auth)
        assert [header for _, header in listener.seen] == [None]
    finally:
        leading.close()


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "ssh://example.org/x", "ext::sh -c true", "git://example.org/x"]
)
def test_only_protected_protocols_are_spoken(place: Bench, url: str) -> None:
    with pytest.raises(GitError):
        place.store.fetch(url, ["trunk"])


def test_an_address_that_looks_like_an_option_is_none(place: Bench) -> None:
    with pytest.raises(GitError):
        place.store.fetch("--upload-pack=touch pwned", ["trunk"])


def test_output_above_the_cap_and_time_above_the_deadline_are_errors(
    place: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GitError, match="more than 5 bytes"):
        place.store.git.run("cat-file", "commit", place.base, cap=5)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    monkeypatch.setattr(git_module, "DEADLINE_SECONDS", 0.3)
    with pytest.raises(GitError, match="deadline"):
        place.store.git.run("hash-object", str(fifo))


def test_every_name_a_file_can_have_comes_through(place: Bench) -> None:
    workspace = place.open()
    for name in ODD_NAMES:
        (workspace.tree / os.fsdecode(name)).write_bytes(b"content\n")
    head = workspace.commit("odd", BOT)
    assert head is not None
    assert {change.path for change in workspace.changes()} == set(ODD_NAMES)
    assert {stat.path for stat in workspace.store.diff_stat(workspace.base, workspace.head)} == set(ODD_NAMES)
    assert place.store.files(head, [b"*.py"]) == (b"*.py",)
    assert place.store.read(head, b"latin-\xe9") == b"content\n"
    assert display(b"latin-\xe9") == "latin-\\xe9"


def test_attributes_of_the_branch_hide_nothing_from_the_reviewer(place: Bench) -> None:
    workspace = place.open()
    (workspace.tree / ".gitattributes").write_text("*.py -diff binary\n")
    (workspace.tree / "src/m.py").write_text("x = 2\n")
    workspace.commit("hide", BOT)
    patch, cut = workspace.store.patch(workspace.base, workspace.head, 100_000)
    assert b"+x = 2" in patch
    assert not cut
    assert {stat.path: stat.added for stat in workspace.store.diff_stat(workspace.base, workspace.head)} == {
        b".gitattributes": 1,
        b"src/m.py": 1,
    }


def test_a_huge_file_is_told_as_binary_and_a_long_patch_is_cut(place: Bench) -> None:
    workspace = place.open()
    (workspace.tree / "huge").write_bytes(b"x" * 3_000_000)
    (workspace.tree / "long").write_bytes(b"line\n" * 50_000)
    workspace.commit("big", BOT)
    stats = {stat.path: stat.added for stat in workspace.store.diff_stat(workspace.base, workspace.head)}
    assert stats == {b"huge": None, b"long": 50_000}
    patch, cut = workspace.store.patch(workspace.base, workspace.head, 1_000)
    assert (len(patch), cut) == (1_000, True)


def test_renames_are_read(place: Bench) -> None:
    workspace = place.open()
    (workspace.tree / "a.txt").rename(workspace.tree / "b.txt")
    workspace.commit("rename", BOT)
    assert [(c.status, c.path) for c in workspace.changes()] == [("D", b"a.txt"), ("A", b"b.txt")]
    (change,) = place.store.changes(workspace.base, workspace.head, renames=True)
    assert (change.status, change.source, change.path) == ("R", b"a.txt", b"b.txt")
    assert parse_raw(b"") == ()


def test_an_error_names_command_status_and_reason(place: Bench) -> None:
    with pytest.raises(GitError, match=r"git cat-file ended with 128: .*bad file|Not a valid object") as caught:
        Git(place.store.path).run("cat-file", "blob", "0" * 40)
    assert caught.value.command == "cat-file"
    assert caught.value.returncode == 128
