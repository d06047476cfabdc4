"""Clone and push with real git against the stand-in's remote."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.standin import git_remote, gitstore
from tests.standin.parts import Parts, serving

Result = subprocess.CompletedProcess[str]


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    home = tmp_path / "hub"
    home.mkdir()
    with serving(home, git_remote.blueprint) as running:
        yield running


def git(cwd: Path, *args: str) -> Result:
    env = gitstore.environment()
    return subprocess.run(["git", *args], cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


def address(parts: Parts, token: str) -> str:
    return f"{parts.hub.base_url}/acme/shop.git".replace("://", f"://x-access-token:{token}@")


def clone(parts: Parts, tmp_path: Path, token: str | None = None, name: str = "work") -> Path:
    done = git(tmp_path, "clone", "--quiet", address(parts, token or parts.token()), name)
    assert done.returncode == 0, done.stderr
    return tmp_path / name


def commit(work: Path, path: str, text: str = "new\n") -> str:
    (work / path).parent.mkdir(parents=True, exist_ok=True)
    (work / path).write_text(text)
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", f"Write {path}")
    return git(work, "rev-parse", "HEAD").stdout.strip()


def test_a_push_is_recorded_and_announced_once(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path)
    before = git(work, "rev-parse", "HEAD").stdout.strip()
    after = commit(work, "a.txt")
    done = git(work, "push", "origin", "HEAD:main", "HEAD:refs/heads/plan/1")
    assert done.returncode == 0, done.stderr
    zero = "0" * 40
    assert [(push.actor, push.ref, push.before, push.after) for push in parts.hub.pushes] == [
        ("twogate[bot]", "refs/heads/main", before, after),
        ("twogate[bot]", "refs/heads/plan/1", zero, after),
    ]
    (name, payload), _ = parts.events
    assert (name, payload["ref"], payload["before"], payload["after"]) == ("push", "refs/heads/main", before, after)
    assert payload["commits"][0]["added"] == ["a.txt"]
    assert payload["pusher"]["name"] == payload["sender"]["login"] == "twogate[bot]"


def test_the_bearer_form_works_too(parts: Parts, tmp_path: Path) -> None:
    header = f"http.extraHeader=Authorization: Bearer {parts.token()}"
    assert git(tmp_path, "-c", header, "ls-remote", f"{parts.hub.base_url}/acme/shop.git").returncode == 0


@pytest.mark.parametrize(
    ("token", "answer"),
    [("", "could not read Username"), ("ghs_wrong", "Authentication failed"), ("outsider", "not found")],
)
def test_who_may_not_read_is_refused(parts: Parts, tmp_path: Path, token: str, answer: str) -> None:
    if token == "outsider":
        token = parts.hub.create_user_token(parts.hub.create_user("eve"))
    url = address(parts, token) if token else f"{parts.hub.base_url}/acme/shop.git"
    done = git(tmp_path, "clone", url, "work")
    assert done.returncode != 0
    assert answer in done.stderr


def test_a_token_for_another_repository_finds_nothing(parts: Parts, tmp_path: Path) -> None:
    other = parts.hub.create_repo(parts.repo.owner, "other")
    token = parts.hub.create_installation_token(parts.installation, None, frozenset({other.id})).raw
    assert "not found" in git(tmp_path, "clone", address(parts, token), "work").stderr


def test_a_workflow_token_reads_and_cannot_push(parts: Parts, tmp_path: Path) -> None:
    token = parts.hub.create_workflow_token(parts.repo, {"contents": "read"}).raw
    work = clone(parts, tmp_path, token)
    commit(work, "a.txt")
    done = git(work, "push", "origin", "HEAD:refs/heads/x")
    assert done.returncode != 0
    assert "403" in done.stderr
    assert parts.hub.pushes == []


def test_a_reader_cannot_push(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path, parts.hub.create_user_token(parts.reader))
    commit(work, "a.txt")
    assert "403" in git(work, "push", "origin", "HEAD:refs/heads/x").stderr


def test_workflow_files_need_their_own_permission(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path)
    commit(work, ".github/workflows/ci.yml")
    commit(work, "later.txt")
    done = git(work, "push", "origin", "HEAD:refs/heads/x")
    assert done.returncode != 0
    wanted = "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without"
    assert wanted in done.stderr
    assert parts.hub.pushes == []
    allowed = parts.token(contents="write", workflows="write")
    assert git(work, "push", address(parts, allowed), "HEAD:refs/heads/x").returncode == 0


def test_commits_that_are_there_already_may_bring_workflow_files(parts: Parts, tmp_path: Path) -> None:
    parts.commit({".github/workflows/ci.yml": "on: push\n"})
    work = clone(parts, tmp_path)
    commit(work, "a.txt")
    assert git(work, "push", "origin", "HEAD:refs/heads/plan/1").returncode == 0


def test_large_chunked_pushes_arrive_whole(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path)
    content = parts.hub.random.randbytes(3_000_000).hex()
    after = commit(work, "big.txt", content)
    assert git(work, "push", "origin", "HEAD:refs/heads/big").returncode == 0
    assert gitstore.ref(parts.hub.git_dir(parts.repo), "refs/heads/big") == after


def test_parallel_pushes_are_each_announced_once(parts: Parts, tmp_path: Path) -> None:
    works = [clone(parts, tmp_path, name=f"w{n}") for n in range(4)]
    for n, work in enumerate(works):
        commit(work, f"{n}.txt")
    pushers = [threading.Thread(target=git, args=(w, "push", "origin", f"HEAD:b{n}")) for n, w in enumerate(works)]
    for pusher in pushers:
        pusher.start()
    for pusher in pushers:
        pusher.join()
    assert sorted(push.ref for push in parts.hub.pushes) == [f"refs/heads/b{n}" for n in range(4)]


def test_pull_request_refs_cannot_be_written(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path)
    assert "hidden ref" in git(work, "push", "origin", "HEAD:refs/pull/1/head").stderr


def test_a_former_name_still_leads_to_the_repository(parts: Parts, tmp_path: Path) -> None:
    parts.hub.moved["acme/shop"] = parts.repo.id
    parts.repo.name = "store"
    work = clone(parts, tmp_path)
    commit(work, "a.txt")
    assert git(work, "push", "origin", "HEAD:refs/heads/x").returncode == 0


def test_an_archived_repository_is_read_only(parts: Parts, tmp_path: Path) -> None:
    work = clone(parts, tmp_path)
    parts.repo.archived = True
    commit(work, "a.txt")
    assert "403" in git(work, "push", "origin", "HEAD:refs/heads/x").stderr
