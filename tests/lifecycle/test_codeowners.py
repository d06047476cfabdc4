"""CODEOWNERS by GitHub's rules: the examples of its documentation, and patterns that plans name."""

from __future__ import annotations

import pytest

from bot.lifecycle.codeowners import Owned, owned, parse
from bot.lifecycle.globs import within

GITHUBS = """\
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @Doctocat
/scripts/ @doctocat @octocat
**/logs @logger
/apps/ @octocat
/apps/github
"""


def owners(text: str, path: str) -> list[tuple[str, ...]]:
    return [found.owners for found in owned(text, [path])]


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("README", "@global-owner1 @global-owner2"),
        ("src/deep/a.js", "@js-owner"),
        ("a.go", "docs@example.com"),
        ("b/c.txt", "@octo-org/octocats"),
        ("build/logs/x/y", "@logger"),
        ("build/logs.c", "@global-owner1 @global-owner2"),
        ("a/docs/b", "@global-owner1 @global-owner2"),
        ("docs/a", "@doctocat"),
        ("docs/a/b.js", "@doctocat"),
        ("deep/apps/a/b", "@octocat"),
        ("scripts/a/b", "@doctocat @octocat"),
        ("deeply/nested/logs", "@logger"),
        ("deeply/nested/logs/x", "@logger"),
        ("apps/x", "@octocat"),
        ("apps/github", None),
        ("apps/github/x.js", None),
    ],
)
def test_the_last_rule_that_matches_says_who_owns_a_file(path, whose):
    assert owners(GITHUBS, path) == ([] if whose is None else [tuple(whose.split())])


def test_the_files_directly_in_a_folder_are_not_those_below():
    assert owners("docs/* @a", "docs/x.md") == [("@a",)]
    assert owners("docs/* @a", "docs/sub/x.md") == []
    assert owners("/* @a", "x.md") == [("@a",)]
    assert owners("/* @a", "sub/x.md") == []
    assert owners("docs/** @a", "docs/sub/x.md") == [("@a",)]


@pytest.mark.parametrize(
    "line", ["!docs/ @a", "docs/ a", "docs/ @a @", "docs/ @a/b/c", "# docs/ @a", "   ", "docs/ @a, @b", "/ @-a"]
)
def test_a_line_that_is_not_valid_is_passed_over(line):
    assert parse(f"{line}\n") == ()


def test_brackets_mean_nothing_and_a_blank_is_escaped():
    assert owners("[ab].md @a", "a.md") == []
    assert owners("my\\ notes/ @a", "my notes/x") == [("@a",)]


def test_files_of_the_same_owners_are_told_together_and_the_first_by_name():
    paths = [f"docs/{n}.md" for n in range(5)]
    assert owned("/docs/ @B @a @b\n*.py @a", [*paths, "x.py", "y.c", "docs/0.md"]) == (
        Owned(owners=("@b", "@a"), paths=tuple(paths[:3]), paths_total=5),
        Owned(owners=("@a",), paths=("x.py",), paths_total=1),
    )


RULES = "* @all\n/docs/ @docs\n/src/*.py @py\n/src/gen/\n"


@pytest.mark.parametrize(
    ("pattern", "whose"),
    [
        ("docs/**", ["@docs"]),
        ("docs/guide/*.md", ["@docs"]),
        ("**/*.md", ["@docs", "@all"]),
        ("src/**", ["@py", "@all"]),
        ("src/a?.py", ["@py"]),
        ("src/*", ["@py", "@all"]),
        ("src/gen/**", []),
        ("README.md", ["@all"]),
    ],
)
def test_of_a_pattern_everybody_counts_who_owns_something_it_can_cover(pattern, whose):
    assert [name for (name,) in owners(RULES, pattern)] == whose


@pytest.mark.parametrize(
    ("one", "other", "inside"),
    [
        ("docs/**", "docs/**", True),
        ("docs/a/*.md", "docs/**", True),
        ("docs/**", "docs/*", False),
        ("**", "**/*", True),
        ("a/**/b", "a/**", True),
        ("a/b", "a/**/b", True),
        ("a*c", "a*", True),
        ("a*", "a?", False),
        ("a?", "a*", True),
        ("a?", "a?", True),
        ("a", "b", False),
        ("a/**/b", "a/*/b", False),
        ("docs/", "docs/**", True),
        ("a/b", "a", False),
        ("a", "a/b", False),
        ("a/c/b", "**/b/c", False),
    ],
)
def test_what_lies_within_what(one, other, inside):
    assert within(one, other) is inside
