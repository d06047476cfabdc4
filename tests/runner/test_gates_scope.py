"""Gate scope: what a plan names may change, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from runner.contract import GateStatus
from runner.gates.change import MODE_ABSENT, MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_LINK, Change, Changed
from runner.gates.scope import never, scope


def _change(*paths: str | bytes | Changed, plan: tuple[str, ...] = ("src/**",), **more: Any) -> Change:
    files = tuple(_file(path) if not isinstance(path, Changed) else path for path in paths)
    fields: dict[str, Any] = {
        "read": lambda _: b"",
        "read_base": lambda _: None,
        "tree": tuple(file.path for file in files if file.exists),
    }
    return Change(files, plan, **{**fields, **more})


def _file(path: str | bytes, old: int = MODE_FILE, new: int = MODE_FILE) -> Changed:
    return Changed(path.encode() if isinstance(path, str) else path, old, new)


def _is_in(change: Change) -> bool:
    result = scope(change)
    assert result.blocking
    return result.status is GateStatus.PASSED


@pytest.mark.parametrize(
    ("path", "plan"),
    [
        ("src/app.py", ("src/**",)),
        ("src/app.py", ("src/app.py",)),
        ("src/new/ü.py", ("docs/x.md", "src/new/*.py")),
        (".circleci/config.yml", (".circleci/config.yml",)),
        (".circleci/config.yml", (".circleci/**",)),
        ("src/.hidden", ("src/.hidden",)),
        ("CLAUDE.md", ("CLAUDE.md",)),
        ("docs/AGENTS.md", ("docs/AGENTS.md",)),
        ("uv.lock", ("uv.lock",)),
        ("web/package-lock.json", ("web/package-lock.json",)),
        (".github/CODEOWNERS", (".github/CODEOWNERS",)),
        (".twogate/promptware/CreatePlan/Program.md", (".twogate/promptware/CreatePlan/Program.md",)),
        (".github/ISSUE_TEMPLATE/bug.yml", (".github/ISSUE_TEMPLATE/*",)),
    ],
)
def test_what_the_plan_names_may_change(path: str, plan: tuple[str, ...]) -> None:
    assert _is_in(_change(path, plan=plan))


@pytest.mark.parametrize(
    ("path", "plan"),
    [
        ("README.md", ("src/**",)),
        ("src/app.py", ()),
        ("src2/app.py", ("src/**",)),
        ("SRC/app.py", ("src/**",)),
        (".circleci/config.yml", ("**/*.yml", "**", "*/*.yml")),
        ("src/.hidden", ("src/**",)),
        ("src/.config/x", ("src/**", "src/*/x")),
        ("CLAUDE.md", ("*.md", "**")),
        ("Claude.MD", ("*.MD",)),
        ("docs/agents.md", ("docs/**",)),
        ("docs/CODEOWNERS", ("docs/*",)),
        ("uv.lock", ("*",)),
        ("web/yarn.lock", ("web/**",)),
        (".twogate/promptware/CreatePlan/Program.md", ("**/Program.md",)),
    ],
)
def test_what_it_does_not_name_may_not(path: str, plan: tuple[str, ...]) -> None:
    assert not _is_in(_change(path, plan=plan))


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".github/workflows/deep/x.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/twogate.yml",
        ".github/TwoGate.yml",
        ".github",
        ".github/workflows",
        ".git/hooks/pre-commit",
        ".GIT/config",
    ],
)
def test_some_paths_no_plan_may_change(path: str) -> None:
    change = _change(path, plan=(path, ".github/**", ".github/workflows/**", ".github/twogate.yml"))
    assert "no plan may change it" in scope(change).summary
    assert not _is_in(_change(_file(path, MODE_FILE, MODE_ABSENT), plan=(path,))), "deleting is changing"


@pytest.mark.parametrize(
    "pattern", [".github/workflows/ci.yml", ".github/workflows/", ".GitHub/workflows/**", ".github/twogate.yml"]
)
def test_what_no_plan_may_ask_for(pattern: str) -> None:
    assert "by people alone" in (never(pattern) or "")
    assert never(".github/**") is never(".github/CODEOWNERS") is never("src/") is None


def test_the_policy_protects_more() -> None:
    assert not _is_in(_change("deploy/prod.tf", plan=("**/*.tf",), protected=("deploy/**",)))
    assert _is_in(_change("deploy/prod.tf", plan=("deploy/prod.tf",), protected=("deploy/**",)))


def test_deletions_and_mode_changes_are_changes() -> None:
    assert not _is_in(_change(_file("README.md", MODE_FILE, MODE_ABSENT)))
    assert not _is_in(_change(_file("run.sh", MODE_FILE, MODE_EXECUTABLE)))


def test_a_rename_needs_both_names() -> None:
    gone, there = _file("old.py", MODE_FILE, MODE_ABSENT), _file("src/new.py", MODE_ABSENT, MODE_FILE)
    assert not _is_in(_change(gone, there))
    assert _is_in(_change(gone, there, plan=("old.py", "src/new.py")))


def test_what_the_runner_wrote_is_outside_of_it() -> None:
    path = b".twogate/promptware/ExecutePlan/Memory/2026-11-29-x.md"
    written: dict[str, Any] = {"own": {path: b"lesson"}, "read": lambda _: b"lesson"}
    assert _is_in(_change(path, **written))
    assert scope(_change(path, **written)).summary == "Nothing but what the runner wrote itself is changed."
    besides = scope(_change(path, "src/a.py", "src/b.py", **written)).summary
    assert besides == "Both changed paths are in the plan, besides 1 that the runner wrote itself."
    assert not _is_in(_change(path, b".twogate/promptware/ExecutePlan/Program.md", **written))
    assert not _is_in(_change(path, **{**written, "read": lambda _: b"lesson, touched up"}))
    for mode in (MODE_ABSENT, MODE_LINK, MODE_EXECUTABLE):
        assert not _is_in(_change(_file(path, new=mode), **written))


TOLD = ".twogate/promptware/ExecutePlan"


@pytest.mark.parametrize(
    "changed",
    [
        f"{TOLD}/Program.md",
        f"{TOLD}/Memory/2026-11-29-x.md",
        f"{TOLD}/Tools/deploy",
        ".Twogate/PROMPTWARE/ExecutePlan/Program.md",
        _file(f"{TOLD}/Program.md", MODE_FILE, MODE_ABSENT),
        _file(f"{TOLD}/Tools/deploy", MODE_FILE, MODE_EXECUTABLE),
        _file(".twogate", MODE_ABSENT, MODE_LINK),
        _file(".twogate/promptware", MODE_ABSENT, MODE_LINK),
        _file(".twogate/promptware/ExecutePlan", MODE_ABSENT, MODE_GITLINK),
        "promptware/ExecutePlan/Memory/x.md",
    ],
)
@pytest.mark.parametrize("plan", ["**", "**/*", ".*/**", ".twogate/**", "**/promptware/**", "**/Program.md", "**/x.md"])
def test_what_agents_are_told_changes_where_the_plan_begins_with_it_alone(changed: str | Changed, plan: str) -> None:
    assert not _is_in(_change(changed, plan=(plan, "src/app.py")))


@pytest.mark.parametrize("plan", [f"{TOLD}/Program.md", ".twogate/promptware/**", ".twogate/promptware/*/Program.md"])
def test_a_plan_that_names_instructions_may_change_them(plan: str) -> None:
    assert _is_in(_change(f"{TOLD}/Program.md", plan=(plan,)))
    assert "begins with .twogate/promptware/" in scope(_change(f"{TOLD}/Program.md", plan=("**", ".twogate/**"))).tail
    assert _is_in(_change("promptware/ExecutePlan/Program.md", "promptware/schemas/x.json", plan=("promptware/**",)))
    assert _is_in(_change("promptware/notes.md", plan=("**",))), "a folder of that name is nothing by itself"


@pytest.mark.parametrize(
    ("old", "new"), [(MODE_ABSENT, MODE_GITLINK), (MODE_FILE, MODE_GITLINK), (MODE_GITLINK, MODE_ABSENT)]
)
def test_submodules_are_for_people(old: int, new: int) -> None:
    assert "submodule" in scope(_change(_file("src/lib", old, new))).summary


@pytest.mark.parametrize("target", ["app.py", "../README.md", "a/../../README.md", "./x"])
def test_links_within_the_tree(target: str) -> None:
    assert _is_in(_change(_file("src/link", MODE_ABSENT, MODE_LINK), read=lambda _: target.encode()))


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../etc", "a/../../../x", "..", "", "../.git/config", "../.GIT", "..\\..\\x"]
)
def test_links_out_of_the_tree(target: str) -> None:
    path = "src/link" if target != ".." else "link"
    change = _change(_file(path, MODE_ABSENT, MODE_LINK), plan=(path,), read=lambda _: target.encode())
    assert "leads out" in scope(change).summary


def test_a_link_that_climbs_out_over_another() -> None:
    """``src/a/up`` leads to the root, so that ``up/../x`` beside it leads out, whatever its text says."""
    link = _file("src/a/link", MODE_ABSENT, MODE_LINK)
    for target in (b"up/../x", b"./up/b/../../x"):
        change = _change(link, read=lambda _, target=target: target, tree=(b"src/a/link", b"src/a/up"))
        assert "leads out" in scope(change).summary
    folder = _change(link, read=lambda _: b"up/../x", tree=(b"src/a/link", b"src/a/up/file"))
    assert _is_in(folder)


def test_names_that_differ_in_case_alone() -> None:
    assert "case alone" in scope(_change("src/App.py", tree=(b"src/App.py", b"src/app.py"))).summary
    assert "case alone" in scope(_change("src/a/x.py", tree=(b"src/a/x.py", b"src/A/y.py"))).summary
    assert "case alone" in scope(_change("src/stra\u00dfe", tree=("src/stra\u00dfe".encode(), b"src/STRASSE"))).summary
    old = _change("src/x.py", tree=(b"src/x.py", b"lib/a", b"lib/A"))
    assert _is_in(old), "what was so before is not this change's fault"
    assert _is_in(_change(_file("src/App.py", MODE_FILE, MODE_ABSENT), "src/app.py", tree=(b"src/app.py",)))


def test_bytes_that_are_no_text() -> None:
    assert _is_in(_change(b"src/\xff.py"))
    assert "\\xff.py" in scope(_change(b"\xff.py")).summary


def test_a_name_can_not_forge_the_table() -> None:
    result = scope(_change("x\n| all | passed |\u202e.py", *(f"file{n}" for n in range(2000))))
    assert "\n" not in result.summary
    assert "\u202e" not in result.summary + result.tail
    assert "And 2000 more." in result.summary
    assert len(result.tail) <= 4000
    assert "more are not shown" in result.tail


def test_an_empty_change_is_in_scope() -> None:
    assert _is_in(_change())
