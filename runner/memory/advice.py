"""What no lesson may advise, told by its words.

A lesson is read by every later agent as the repository's own word, so it can't be a way around what people decided.
English is looked through, in its plain and some crooked spellings. Other languages, and what is only hinted at, are out
of reach: the gate that counts is the person who reviews the diff, and these words keep the ordinary case from them.
Now and then a harmless lesson is refused; who wrote it is told why and can say it in other words.
"""

from __future__ import annotations

import re
import unicodedata

WITHIN = r"(?:(?![.!?;]\s).){0,80}?"
"""A stretch of one sentence; a dot within a name does not end it."""
CHECKS = (
    r"\b(?:(?:unit |e2e )?tests?|test ?suites?|checks?|gates?|lint\w*|mypy|ruff|eslint|types?|typing|assert\w*|"
    r"coverage|review\w*|approv\w*|scope|sandbox|hooks?|ci|verif\w*|validation|secrets?|permissions?)\b"
)
LEAVING = (
    r"\b(?:skip\w*|disabl\w+|ignor\w+|bypass\w*|avoid\w*|omit\w*|weaken\w*|loosen\w*|relax\w*|circumvent\w*|muting|mute|"
    r"silenc\w+|suppress\w*|evad\w+|drop(?:ping)?|delet\w+|remov\w+|comment(?:ing)? out|(?:turn|switch|leav)\w* off|"
    r"leav\w* out|get(?:ting)? (?:around|rid)|work(?:ing)? around|mark\w* .{0,30}(?:skip|xfail|flaky)|xfail\w*|"
    r"(?:don'?t|do not|never|needn'?t|need not) (?:bother|run|write|add|wait|care|need)|no need (?:to|for|of)|"
    r"no point|not worth|without|instead of)\b"
)
GONE = r"(?:skip\w*|ignor\w+|disabl\w+|omit\w*|bypass\w*|delet\w+|remov\w+|drop\w*|left out|turned off|switched off)"
LEFT = (
    rf"\b(?:can|may|should|must|could|to) (?:\w+ )?be (?:\w+ )?{GONE}\b|"
    rf"\b(?:are|is) (?:\w+ )?(?:fine|safe|ok|okay) to (?:be )?{GONE}\b|"
    r"\b(?:are|is) (?:\w+ )?(?:unnecessary|needless|optional|useless|pointless|superfluous|a waste|"
    r"not (?:needed|required|necessary|important))\b"
)
SWITCHES = (
    r"--no-verify|--skip-\w*(?:test|check)|-d?skiptests|\bnoqa\b|type: ?ignore|ts-ignore|eslint-disable|\bnosec\b|"
    r"pragma: ?no cover|istanbul ignore|\|\| ?(?:true\b|:)|continue-on-error|\bforce.push|push (?:--force|-f)\b|"
    rf"(?:lower|reduc|decreas)\w*{WITHIN}\b(?:coverage|threshold|strictness)"
)
AGAIN = r"\b(?:re-?(?:run|try|start)\w*|(?:run|try|start)(?: [^\s,;]+){0,3} (?:again|once more))\b"
RUNS = rf"(?:{AGAIN}|\b(?:run|try|start|repeat)\w*\b)"
FAILS = r"\b(?:fail\w*|red|flak\w+)\b"
PASSES = r"\b(?:green|pass\w*|succeed\w*|success\w*|works?|ok)\b"
INSTRUCTIONS = (
    r"(?:promptware|\.twogate|twogate\.yml|program\.md|\bfront ?matter|\bsystem prompts?|claude\.md|agents\.md|"
    r"gemini\.md|\.github/workflows|(?:agent|bot|unit)(?:'?s|s'?)? (?:own )?(?:instructions?|prompts?|memory)|"
    r"\bmemory (?:files?|folders?|entries))"
)
CHANGING = (
    r"\b(?:edit|chang|updat|writ|rewrit|add|append|modif|delet|remov|overwrit|adjust|extend|touch|put|copy|copi|mov|"
    r"renam|replac|creat|tweak|patch|loosen|disabl)\w*\b"
)
ORDERS = r"\b(?:instructions?|orders?|commands?|requests?|wishes|directions?|prompts?|guidelines?|rules?)\b"
SOMEBODY = (
    r"(?:comments?|issues?|authors?|users?|readme|urls?|websites?|web ?pages?|https?://\S+|@\w+|somebody|someone|"
    r"whoever)"
)
KEYS = r"(?:\bapi keys?|\btokens?\b|\bcredentials?|\bpasswords?|\benvironment variables|/proc/self|\.ssh\b|\.netrc)"


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{way})" for way in ways))


def _then(*parts: str) -> str:
    """Return what finds ``parts`` in this order within one sentence."""
    return WITHIN.join(parts)


FORBIDDEN: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "it advises to run something again until it passes",
        _pattern(
            _then(RUNS, r"\b(?:until|till)\b", PASSES),
            _then(AGAIN, CHECKS, FAILS),
            _then(CHECKS, FAILS, AGAIN),
            _then(FAILS, AGAIN, CHECKS),
            _then(FAILS, AGAIN, PASSES),
            r"\b(?:again and again|over and over)\b",
        ),
    ),
    (
        "it advises to go past the people who review",
        _pattern(
            _then(
                r"\b(?:merg|push|commit|publish|releas|deploy)\w*\b",
                r"\b(?:without|before)\b",
                r"\b(?:ask\w*|review\w*|approv\w*|wait\w*)\b",
            ),
            r"\b(?:push|commit|merge)\w* (?:it )?(?:directly |straight )?(?:in)?to (?:the )?(?:main|master|trunk)\b",
            r"\b(?:auto-?(?:approve|merge)|self-?approv\w*|approve (?:it|this|everything|all|yourself))\b",
            _then(
                r"\b(?:hid(?:e|ing)|conceal\w*|disguis\w+|obscur\w+)\b", r"\b(?:review\w*|diff|people|maintainers?)\b"
            ),
            r"\b(?:don'?t|do not|never) (?:tell|ask|show|mention|report|inform)\b",
            _then(
                r"\b(?:reviewers?|maintainers?)\b", r"(?:n'?t|\bnot|\bnever)\b", r"\b(?:look|read|check|notice|see)\b"
            ),
        ),
    ),
    (
        "it advises to change what agents are told",
        _pattern(_then(CHANGING, INSTRUCTIONS), _then(INSTRUCTIONS, r"\bbe " + CHANGING)),
    ),
    (
        "it advises to obey somebody else than the task",
        _pattern(
            _then(
                r"\b(?:ignor\w+|disregard\w*|forget\w*|overrid\w+|supersed\w+|outrank\w*)\b",
                r"\b(?:previous|prior|above|earlier|other|all|any|your|these|the)\b",
                ORDERS,
            ),
            _then(
                r"\b(?:obey\w*|comply|complies|follow\w*|carry out|execute|accept|trust\w*)\b",
                ORDERS,
                r"\b(?:in|of|from|by|at|on)\b",
                SOMEBODY,
            ),
            _then(
                r"\b(?:obey|comply with|do (?:what|whatever|as|anything)|listen to|trust)\b",
                rf"\b(?:{SOMEBODY}|says?|said|asks?|tells?|wants?)",
            ),
            r"\byou are (?:now|no longer|free|allowed|authori[sz]ed)\b|\bfrom now on\b|\bpretend\b|\bjailbreak\w*|"
            r"\bdeveloper mode\b|\bnew (?:task|role|instructions?)\b",
        ),
    ),
    (
        "it advises to send something away, or to run what comes from outside",
        _pattern(
            _then(r"\b(?:send|post|upload|submit|exfiltrat|forward|report|leak)\w*\b", r"(?:https?://|\bto [\w.-]+@)"),
            _then(r"\b(?:curl|wget|iwr|invoke-webrequest)\b", r"\|\s*(?:sudo )?(?:ba|z|da)?sh\b"),
            _then(
                r"\b(?:print|echo|dump|cat|read|send|show|copy)\w*\b",
                KEYS,
                r"\b(?:to|into|out|in) (?:the )?(?:log|output|file|result|diff|comment|issue|https?)",
            ),
        ),
    ),
    (
        "it advises to do with fewer checks",
        _pattern(_then(LEAVING, CHECKS), _then(CHECKS, f"(?:{LEFT})"), SWITCHES),
    ),
)
"""Grounds, each with the wordings that are it; the first that fits is told."""
SPACED = re.compile(r"\b(?:\w[-._*·\s]){3,}\w\b")
"""A word of which each letter stands alone: ``s-k-i-p``."""
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
DECORATION = str.maketrans(dict.fromkeys('*_~`"()[]{}<>', " "))
"""What can stand around words, or between them, and changes nothing of what they say."""
LOOKING_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Alphabets with letters that look like those of another, by the first word of a letter's name in Unicode."""
UNIT_OF_MEASURE = 2
"""Letters of a word that may be of two alphabets: a prefix and a unit, as in micrometre."""


def forbidden(text: str) -> str | None:
    """Return what ``text`` advises that no lesson may, None where nothing of it is found."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().replace(APOSTROPHE, "'").split())
    bare = " ".join(plain.translate(DECORATION).split())
    joined = SPACED.sub(lambda found: re.sub(r"[-._*·\s]", "", found[0]), bare)
    forms = dict.fromkeys((plain, bare, joined))
    return next((ground for ground, ways in FORBIDDEN if any(ways.search(form) for form in forms)), None)


def mixed(text: str) -> str | None:
    """Return a word whose letters come from alphabets that look alike, None where there is none."""
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text))
    return next((word for word in words if len(word) > UNIT_OF_MEASURE and len(_alphabets(word)) > 1), None)


def _alphabets(word: str) -> set[str]:
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in word} & LOOKING_ALIKE
