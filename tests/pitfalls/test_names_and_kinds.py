"""Names and kinds of files that mislead programs, or hold them up: told by name, carried whole, or left out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from runner.terms import Budget
from runner.worktree import Finding
from tests.pitfalls.arena import IDENTITY, in_python
from tests.runner.lab import PLAN, Lab
from tests.runner.workbench import sh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pitfalls.arena import Arena

ODD = (
    *(
        b"new\nline",
        b"tab\t",
        b'quo"te',
        b"latin-\xe9",
        b" -> x",
        b"-f",
        b":(exclude)x",
        b"back\\slash",
        b"esc\x1b[31m",
    ),
    *(b"--output=pwned", b"$(touch pwned)", b"*.py", b"a b", b"HEAD", b"trailing "),
)


def test_row_20_names_of_files(arena: Arena) -> None:
    arena.agent("\n".join(f"printf 'x\\n' > {shell(name)}" for name in ODD))
    seen = arena.finish()
    assert seen.changes == dict.fromkeys(ODD, "A")
    assert seen.lines == dict.fromkeys(ODD, 1)
    assert not list(arena.folder.rglob("pwned"))


def shell(name: bytes) -> str:
    return "\"$(printf '" + "".join(f"\\{byte:03o}" for byte in name) + "')\""


BRANCHES = ("$(touch pwned)", "-x", "@", "refs/heads/plan/7", "plan/7-x", "HEAD", "a;touch pwned", "plan/8")


def test_row_20_names_of_branches(arena: Arena) -> None:
    """However an agent calls other branches: the plan's own, by its full name, is the only one that is read."""
    make = 'mkdir -p "$(dirname "$d/$name")"; git rev-parse HEAD > "$d/$name"'
    each = " ".join(f"'{branch}'" for branch in BRANCHES)
    arena.agent(
        f"echo two > a.txt; d=$(git rev-parse --git-common-dir)/refs/heads; for name in {each}; do {make}; done"
    )
    assert arena.finish().changes == {b"a.txt": "M"}
    assert not list(arena.folder.rglob("pwned"))
    assert sh(arena.place.origin, "git for-each-ref --format='%(refname)'") == "refs/heads/plan/7\nrefs/heads/trunk"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("ln -s ../../secret plan.md", "plan.md: is a link out of the repository"),
        ("ln -s /etc/passwd src/evil", "src/evil: is a link out of the repository"),
        ("rm -r src; ln -s / src", "src: is a link out of the repository"),
        ("rm a.txt; mkfifo a.txt", "a.txt: is neither a file nor a link"),
        ("truncate -s 50G huge", "huge: has 50000000000"),
        ("mkfifo .gitignore", ".gitignore: is neither a file nor a link"),
        (
            "mkdir docs; mkfifo docs/.gitattributes; echo x > docs/y",
            "docs/.gitattributes: is neither a file nor a link",
        ),
        ("mkfifo .gitmodules", ".gitmodules: is neither a file nor a link"),
        ("truncate -s 50G .gitignore", ".gitignore: has"),
        (
            "mkdir -p sub/.git/refs sub/.git/objects; mkfifo sub/.git/HEAD",
            "sub/.git/HEAD: is neither a file nor a link",
        ),
        (
            "mkdir -p $TMPDIR/x/refs $TMPDIR/x/objects sub; mkfifo $TMPDIR/x/HEAD; echo gitdir: $TMPDIR/x > sub/.git",
            "sub/.git: points to",
        ),
        (
            "mkdir -p $TMPDIR/x/refs $TMPDIR/x/objects sub; mkfifo $TMPDIR/x/HEAD; ln -s $TMPDIR/x sub/.git",
            "sub/.git: points to",
        ),
    ],
)
def test_row_21_links_pipes_and_holes(arena: Arena, script: str, words: str) -> None:
    (arena.workspace.folder / "secret").write_text("secret")
    arena.agent(script + "; echo good > good.txt")
    started = time.monotonic()
    seen = arena.finish()
    assert time.monotonic() - started < 20, "something waited"
    assert words in seen.said.replace("53687091200", "50000000000")
    assert seen.inspection.finding is Finding.REFUSED_FILES
    assert seen.changes[b"good.txt"] == "A"
    assert set(seen.changes) <= {b"good.txt", b"src/m.py", b"docs/y"}
    assert "secret" not in seen.patch.replace("/secret", "")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


COMMIT = f"import subprocess\nenv = dict(os.environ, **{IDENTITY!r})\nrun = lambda *c: subprocess.run(c, check=True, env=env)\n"
MEND = "write('calc.py', 'def add(a, b):\\n    return a + b\\n')\n"


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        (21, "os.symlink('../../state.json', 'notes')", "the link leads out of the repository"),
        (
            23,
            "run('git', 'update-index', '--add', '--cacheinfo', '160000,' + '1' * 40 + ',notes')",
            "a submodule is put in",
        ),
        (31, "write('Calc.py', 'x = 1\\n'); run('git', 'add', '.')", "differs from"),
    ],
)
def test_rows_21_23_31_what_the_agent_commits_itself_stops_at_the_scope_gate(
    lab: Lab, row: int, code: str, words: str
) -> None:
    tail = "\nrun('git', 'add', '-A') if os.path.lexists('notes') else None\nrun('git', 'commit', '--allow-empty', '-qm', 'mine'); done()"
    agent = lab.coded(COMMIT + MEND + code + tail)
    plan = PLAN.model_copy(update={"files": ("calc.py", "Calc.py", "notes", "notes/**")})
    report = lab.run("good", agents=lab.spec("good").agents | agent, plan=plan, budget=Budget(attempts=1))
    assert report.outcome is Outcome.GATES_FAILED, (row, report)
    scope = next(gate for gate in report.gates if gate.name == "scope")
    assert scope.holds_back
    assert words in scope.tail
    assert lab.tip("plan/7") is None


@pytest.mark.parametrize("kind", ["os.symlink(os.environ['SECRET_FILE'], sys.argv[1])", "os.mkfifo(sys.argv[1])"])
def test_row_21_a_result_that_is_no_file(lab: Lab, kind: str) -> None:
    """The result is read by the runner: a link is not followed, a pipe is not waited for."""
    secret = lab.folder / "secret"
    secret.write_text('{"status": "done", "summary": "the secret"}')
    agent = lab.coded(MEND + kind)
    started = time.monotonic()
    report = lab.run("good", agents=lab.spec("good").agents | agent, env={"SECRET_FILE": str(secret)})
    assert time.monotonic() - started < 20
    assert report.outcome is Outcome.INVALID_RESULT, report
    assert "the secret" not in report.model_dump_json()


def test_row_23_a_repository_inside_the_tree(arena: Arena) -> None:
    arena.agent(
        "mkdir sub; cd sub; git init -q; git config core.fsmonitor $P; echo x > f; git add f; git commit -qm x; echo two > ../a.txt"
    )
    arena.armed("cd sub; git status")
    seen = arena.finish()
    assert "sub/: is a repository of its own" in seen.said
    assert seen.changes == {b"a.txt": "M"}


def test_row_31_names_that_differ_in_case_alone(arena: Arena) -> None:
    arena.agent("echo x > A.TXT; mkdir Src; echo x > Src/M.py; echo two > a.txt")
    seen = arena.finish()
    assert "A.TXT: differs from a.txt by upper and lower case alone" in seen.said
    assert "Src/M.py: differs from src/m.py" in seen.said
    assert seen.changes == {b"a.txt": "M"}


def test_row_21_a_socket_and_a_device_wait_for_nobody(arena: Arena) -> None:
    code = (
        "import os, socket; os.chdir('.'); s = socket.socket(socket.AF_UNIX); s.bind('s'); open('ok', 'w').write('x')"
    )
    if not Path("/usr/bin/python3").exists():
        pytest.skip("not tested: the system has no Python that every user can start")
    quoted = " ".join(f"'{part}'" for part in in_python(code.replace("'", '"')))
    arena.agent(quoted)
    assert arena.finish().changes == {b"ok": "A"}
