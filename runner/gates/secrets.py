"""Gate ``secrets``: the change brings no credential into the repository.

Formats that can be told for certain are looked for (detect-secrets' rules and a few more), not "high entropy", which is
every hash and every lock file: this gate blocks, so it must be right. Only what the change adds is judged. A find is
named by kind, file and line, and never printed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from runner.gates.verdict import failed, passed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detect_secrets.plugins.base import RegexBasedDetector

    from runner.contract import GateResult
    from runner.gates.change import Change

NAME = "secrets"

MAX_CONTENT = 20_000_000
"""Bytes of one file that are searched; a larger one is refused, since nobody can say what is in it."""
MIN_PASSWORD = 10
"""Characters from which the password of an address may be a real one."""
MIN_DISTINCT = 6
"""Different characters from which a value may be a real one; ``xxxxxxxx`` is not."""
PLACEHOLDER = re.compile(r"example|placeholder|changeme|your[-_]|dummy|redacted|xxxx|\.\.\.|<|\$\{|\{\{", re.IGNORECASE)
"""Words of documentation, and of templates that are filled in later."""

DETECTORS: tuple[RegexBasedDetector, ...] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    BasicAuthDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    MailchimpDetector(),
    OpenAIDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TelegramBotTokenDetector(),
    TwilioKeyDetector(),
)
"""Asked for their patterns: what they return themselves may be a group, such as ``ghp`` alone."""
MORE = {
    "Anthropic key": re.compile(r"sk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{40,}"),
    "GitHub fine-grained token": re.compile(r"github_pat_[A-Za-z0-9_]{60,}"),
    "Google API key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
    "OpenAI project key": re.compile(r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}"),
    "JSON Web Token": re.compile(r"(?<![\w-])eyJ[\w=-]{8,4000}\.eyJ[\w=-]{2,4000}\.[\w-]{20}", re.ASCII),
    "npm token": re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"),
    "npm registry token": re.compile(r":_authToken=\s{0,9}[A-Fa-f0-9-]{36}"),
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{34,}\b"),
}
"""Formats that detect-secrets 1.5.0 lacks, or looks for in a time that grows with the square of a line's length."""
Format = tuple[str, re.Pattern[str]]
FORMATS: tuple[Format, ...] = (
    *((detector.secret_type, p) for detector in DETECTORS for p in detector.denylist),
    *MORE.items(),
)
"""Every pattern with the kind of what it finds."""
HINTS = {
    AWSKeyDetector.secret_type: ("aws", "a3t", "abia", "acca", "akia", "asia"),
    AzureStorageKeyDetector.secret_type: ("accountkey=",),
    BasicAuthDetector.secret_type: ("://",),
    DiscordBotTokenDetector.secret_type: (".",),
    GitHubTokenDetector.secret_type: ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    GitLabTokenDetector.secret_type: ("gl", "gr1348941"),
    MailchimpDetector.secret_type: ("-us",),
    OpenAIDetector.secret_type: ("t3blbkfj",),
    PypiTokenDetector.secret_type: ("pypi-",),
    SendGridDetector.secret_type: ("sg.",),
    SlackDetector.secret_type: ("xox", "hooks.slack.com"),
    SquareOAuthDetector.secret_type: ("sq0csp-",),
    StripeDetector.secret_type: ("k_live_",),
    TelegramBotTokenDetector.secret_type: (":",),
    TwilioKeyDetector.secret_type: ("ac", "sk"),
    "Anthropic key": ("sk-ant-",),
    "GitHub fine-grained token": ("github_pat_",),
    "Google API key": ("aiza",),
    "OpenAI project key": ("sk-",),
    "JSON Web Token": ("eyj",),
    "npm token": ("npm_",),
    "npm registry token": (":_authtoken=",),
    "Hugging Face token": ("hf_",),
}
"""One of these stands in every find of a kind, in small letters: where none does, its patterns are not tried."""
PASSWORD = BasicAuthDetector.secret_type
"""A password within an address: the pattern's group, and often a placeholder."""
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----.{0,300}?([A-Za-z0-9+/=]{40})", re.DOTALL
)
"""A head with key material after it; a head alone is code that looks for one."""
KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:.{0,10000}?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\\+[nr]|\s){0,8}[A-Za-z0-9+/=]{40,})+)",
    re.DOTALL,
)
"""A private key to its end, in the spelling of JSON too; of one that is cut off, what is there."""
ESCAPED = re.compile(r"\\+[nrt\"]")
"""What JSON puts before a word."""
WINDOW, OVERLAP = 8_000, 2_000
"""Characters of a longer line that are searched at a time, and by how many the pieces overlap."""


def secrets(change: Change) -> GateResult:
    """Return whether the change adds anything that is a credential by its form."""
    files = [file for file in change.files if file.is_text_candidate]
    known = "\n".join(_text(change.whole_base(file.path)) for file in change.files)
    known_lines = set(known.split("\n"))
    faults = []
    for file in files:
        content = change.whole(file.path)
        if len(content) > MAX_CONTENT:
            faults.append(f"{shown(file.path)}: too large ({len(content)} bytes) to be searched for secrets.")
            continue
        finds = sorted(_finds(_text(content), known_lines, known))
        faults += [f"{shown(file.path)}:{line}: looks like a credential ({kind}); take it out." for line, kind in finds]
        for number, line in enumerate(_text(content).split("\n"), start=1):
            if any(value in line for value in change.carried) and line not in known_lines:
                faults.append(f"{shown(file.path)}:{number}: holds a value of a file under `carry`; take it out.")
    return failed(NAME, faults) if faults else passed(NAME, "No credentials in what was added.")


def without_credentials(text: str) -> str:
    """Return ``text`` with everything that is a credential by its form replaced by three asterisks."""
    plain = ESCAPED.sub(" ", text)
    formats = _possible(plain)
    lines = plain.split("\n") if formats else ()
    finds = {v for line in lines for kind, v in _values(line, formats) if _is_real(kind, v)}
    for value in sorted(finds, key=len, reverse=True):
        text = text.replace(value, "***")
    return KEY_BLOCK.sub("***", text) if "-----BEGIN " in text else text


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _finds(text: str, known_lines: set[str], known: str) -> set[tuple[int, str]]:
    formats = _possible(text)
    found = {
        (number, kind)
        for number, line in enumerate(text.split("\n") if formats else (), start=1)
        if line not in known_lines
        for kind, value in _values(line, formats)
        if _is_real(kind, value) and value not in known
    }
    keys = (key for key in PRIVATE_KEY.finditer(text) if _is_random(key[1]) and key[0] not in known)
    return found | {(text.count("\n", 0, key.start()) + 1, "private key") for key in keys}


def _possible(text: str, formats: tuple[Format, ...] = FORMATS) -> tuple[Format, ...]:
    """Return those of ``formats`` of which something may stand in ``text``."""
    folded = text.casefold()
    return tuple(each for each in formats if any(hint in folded for hint in HINTS[each[0]]))


def _values(line: str, formats: tuple[Format, ...]) -> Iterator[tuple[str, str]]:
    for start in range(0, max(1, len(line) - OVERLAP), WINDOW - OVERLAP):
        piece = line[start : start + WINDOW]
        for kind, pattern in _possible(piece, formats):
            for found in pattern.finditer(piece):
                yield kind, found[1] if kind == PASSWORD else found[0]


def _is_random(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isupper() for c in text) and any(c.islower() for c in text)


def _is_real(kind: str, value: str) -> bool:
    if PLACEHOLDER.search(value) or len(set(value)) < MIN_DISTINCT:
        return False
    if kind == PASSWORD:
        return len(value) >= MIN_PASSWORD and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return True
