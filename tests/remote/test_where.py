"""Which bot is asked, as whom, and about which repository."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from bot.errors import UserError
from bot.remote import where

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a remote, and a PATH with git alone."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to("/usr/bin/git")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tokens_are_looked_for_in_order_and_are_in_no_repr(bare: Path) -> None:
    given = {
        "GITHUB_TOKEN": "third",
        "GH_TOKEN": "second",
        "TWOGATE_TOKEN": " first\n",
        "TWOGATE_URL": "https://b.example/",
    }
    found = where.access(given)
    assert (found.url, found.token) == ("https://b.example", "first")
    assert "first" not in repr(found)
    del given["TWOGATE_TOKEN"]
    assert where.access(given, "http://127.0.0.1:8080").token == "second"
    with pytest.raises(UserError, match="gh auth login"):
        where.token({})
    gh = bare / "tools" / "gh"
    gh.write_text('#!/bin/sh\n[ "$1 $2 $3 $4" = "auth token --hostname ghe.example" ] && echo of-gh\n')
    gh.chmod(0o700)
    assert where.token({"TWOGATE_GITHUB_URL": "https://ghe.example"}) == "of-gh"
    with pytest.raises(UserError, match="gh auth login"):
        where.token({})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "twogate.example.com",
        "http://twogate.example.com",
        "https://me:pw@b.example",
        "https://b.example/?x=1",
        "ftp://b",
        "https://[b",
    ],
)
def test_a_token_goes_nowhere_else(url: str) -> None:
    with pytest.raises(UserError):
        where.address(url)


@pytest.mark.parametrize(
    ("remote", "found"),
    [
        ("https://github.com/acme/shop.git", ("acme", "shop")),
        ("https://tok:x@github.com/acme/shop", ("acme", "shop")),
        ("http://127.0.0.1:8000/acme/shop.git", ("acme", "shop")),
        ("git@github.com:acme/shop.js.git", ("acme", "shop.js")),
        ("ssh://git@ssh.github.com:443/acme/shop.git/", ("acme", "shop")),
        ("/srv/git/shop.git", None),
        ("https://github.com/acme/group/shop", None),
        ("", None),
    ],
)
def test_the_repository_is_that_of_the_folder(bare: Path, remote: str, found: tuple[str, str] | None) -> None:
    if remote:
        subprocess.run(["git", "init", "-q", "."], check=True, env=dict(os.environ))
        subprocess.run(["git", "config", "remote.origin.url", remote], check=True)
    if found is None:
        with pytest.raises(UserError, match="--repo OWNER/NAME"):
            where.repository()
    else:
        assert where.repository() == found
