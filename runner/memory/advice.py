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
    r"\b(?:skip\w*|disabl\w+|ignor\w+|bypass\w*|avoid\w*|omit\w*|weaken\w*|loosen\w*|relax\w*|circumvent\w*|mut(?:e|ing)|"
    r"silenc\w+|suppress\w*|evad\w+|drop(?:ping)?|delet\w+|remov\w+|comment(?:ing)? out|(?:turn|switch|leav)\w* (?:off|out)|"
    r"get(?:ting)? (?:around|rid)|work(?:ing)? around|mark\w* .{0,30}(?:skip|xfail|flaky)|xfail\w*|"
    r"(?:don'?t|do not|never|needn'?t|need not) (?:bother|run|write|add|wait|care|need)|no need (?:to|for|of)|"
    r"no point|not worth|without|instead of)\b"
)
LEFT = (
    r"\b(?:(?:can|may|should|must|could|to) (?:\w+ )?be (?:\w+ )?|(?:are|is) (?:\w+ )?(?:fine|safe|ok|okay) to (?:be )?)"
    r"(?:skip\w*|ignor\w+|disabl\w+|omit\w*|bypass\w*|delet\w+|remov\w+|drop\w*|left out|turned off|switched off)\b|"
    r"\b(?:are|is) (?:\w+ )?(?:unnecessary|needless|optional|useless|pointless|superfluous|a waste|not (?:needed|required|"
    r"necessary|important))\b"
)
SWITCHES = (
    r"--no-verify|--skip-\w*(?:test|check)|-D?skipTests|\bnoqa\b|type: ?ignore|ts-ignore|eslint-disable|\bnosec\b|"
    r"pragma: ?no cover|istanbul ignore|\|\| ?(?:true\b|:)|continue-on-error|\bforce.push|push (?:--force|-f)\b|"
    r"(?:lower|reduc|decreas)\w*" + WITHIN + r"\b(?:coverage|threshold|strictness)"
)
RUNS = r"\b(?:re-?run|re-?try|re-?start|run|try|start|repeat)\w*\b"
INSTRUCTIONS = (
    r"(?:promptware|\.twogate|twogate\.yml|program\.md|\bfront ?matter|\bsystem prompts?|claude\.md|agents\.md|gemini\.md|"
    r"\.github/workflows|(?:agents?|bots?|units?)['’]?s? (?:own )?(?:instructions?|prompts?|memory)|"
    r"\bmemory (?:files?|folders?|entries))"
)
CHANGING = (
    r"\b(?:edit|chang|updat|writ|rewrit|add|append|modif|delet|remov|overwrit|adjust|extend|touch|put|cop(?:y|ied)|mov|"
    r"renam|replac|creat|tweak|patch|loosen|disabl)\w*\b"
)
ORDERS = r"(?:instructions?|orders?|commands?|requests?|wishes|directions?|prompts?|guidelines?|rules?)"
SOMEBODY = r"(?:comments?|issues?|authors?|users?|readme|urls?|websites?|web ?pages?|https?://\S+|@\w+|somebody|someone|whoever)"


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{way})" for way in ways))


FORBIDDEN: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "it advises to run something again until it passes",
        _pattern(
            RUNS + WITHIN + r"\b(?:until|till)\b" + WITHIN + r"\b(?:green|pass\w*|succeed\w*|success\w*|works?|ok)\b",
            r"\bre-?(?:run|try)\w*\b" + WITHIN + CHECKS + WITHIN + r"\b(?:fail\w*|red|flak\w+)\b",
            CHECKS + WITHIN + r"\b(?:fail\w*|red|flak\w+)\b" + WITHIN + r"\bre-?(?:run|try)\w*\b",
            r"\b(?:again and again|over and over)\b",
        ),
    ),
    (
        "it advises to go past the people who review",
        _pattern(
            r"\b(?:merge|push|commit|publish|release|deploy)\w*\b" + WITHIN + r"\b(?:without|before)\b" + WITHIN
            + r"\b(?:ask\w*|review\w*|approv\w*|wait\w*)\b",
            r"\b(?:push|commit|merge)\w* (?:it )?(?:directly |straight )?(?:in)?to (?:the )?(?:main|master|trunk|default)\b",
            r"\b(?:auto-?(?:approve|merge)|self-?approv\w*|approve (?:it|this|everything|all|automatically|yourself))\b",
            r"\b(?:hid(?:e|ing)|conceal\w*|disguis\w+|obscur\w+)\b" + WITHIN + r"\b(?:review\w*|diff|people|maintainers?)\b",
            r"\b(?:don'?t|do not|never) (?:tell|ask|show|mention|report|inform)\b",
            r"\b(?:reviewers?|maintainers?)\b" + WITHIN + r"(?:n'?t|\bnot|\bnever)\b" + WITHIN
            + r"\b(?:look|read|check|notice|see|care|mind)\b",
        ),
    ),
    (
        "it advises to change what agents are told",
        _pattern(CHANGING + WITHIN + INSTRUCTIONS, INSTRUCTIONS + WITHIN + r"\bbe " + CHANGING),
    ),
    (
        "it advises to obey somebody else than the task",
        _pattern(
            r"\b(?:ignor\w+|disregard\w*|forget\w*|overrid\w+|supersed\w+|outrank\w*)\b" + WITHIN
            + r"\b(?:previous|prior|above|earlier|other|all|any|your|these|the)\b" + WITHIN + rf"\b{ORDERS}\b",
            r"\b(?:obey\w*|comply|complies|follow\w*|carry out|execute|accept|trust\w*)\b" + WITHIN
            + rf"\b{ORDERS}\b" + WITHIN + rf"\b(?:in|of|from|by|at|on)\b" + WITHIN + SOMEBODY,
            r"\b(?:obey|comply with|do (?:what|whatever|as|anything)|listen to|trust)\b" + WITHIN
            + rf"\b(?:{SOMEBODY}|says?|said|asks?|tells?|wants?)",
            r"\byou are (?:now|no longer|free|allowed|authori[sz]ed)\b|\bfrom now on\b|\bpretend\b|\bjailbreak\w*|"
            r"\bdeveloper mode\b|\bnew (?:task|role|instructions?)\b",
        ),
    ),
    (
        "it advises to send something away or to run what comes from outside",
        _pattern(
            r"\b(?:send|post|upload|submit|exfiltrat|forward|report|leak)\w*\b" + WITHIN + r"(?:https?://|\bto [\w.-]+@)",
            r"\b(?:curl|wget|iwr|invoke-webrequest)\b" + WITHIN + r"\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\b(?:ba|z)?sh <\(curl",
            r"\b(?:print|echo|dump|cat|read|send|show|copy)\w*\b" + WITHIN + r"(?:\bapi keys?|\btokens?\b|\bcredentials?|"
            r"\bpasswords?|\benvironment variables|/proc/self|\.ssh\b|\.netrc|\.aws\b)" + WITHIN
            + r"\b(?:to|into|out|in) (?:the )?(?:log|output|file|result|diff|comment|issue|https?)",
        ),
    ),
    (
        "it advises to do with fewer checks",
        _pattern(LEAVING + WITHIN + CHECKS, CHECKS + WITHIN + LEFT, SWITCHES),
    ),
)
"""Grounds, each with the wordings that are it; the first that fits is told."""
SPACED = re.compile(r"\b(?:\w[-._*·\s]){3,}\w\b")
"""A word of which each letter stands alone: ``s-k-i-p``."""
DECORATION = str.maketrans(dict.fromkeys("*_~`\"“”„'’()[]{}<>", " ") | {"’": "'"})


def forbidden(text: str) -> str | None:
    """Return what ``text`` advises that no lesson may, None where nothing of it is found."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    bare = " ".join(plain.translate(DECORATION).split())
    joined = SPACED.sub(lambda found: re.sub(r"[-._*·\s]", "", found[0]), bare)
    forms = dict.fromkeys((plain.replace("’", "'"), bare, joined))
    return next((ground for ground, ways in FORBIDDEN if any(ways.search(form) for form in forms)), None)


def mixed(text: str) -> str | None:
    """Return a word whose letters come from alphabets that look alike, None where there is none."""
    for word in re.findall(r"[^\W\d_]{2,}", unicodedata.normalize("NFKC", text)):
        if len(word) > len("µm") and len({_alphabet(letter) for letter in word} & LOOKING_ALIKE) > 1:
            return word
    return None


LOOKING_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
