"""Gate security: added lines that need a second look, and lines that don't."""

from __future__ import annotations

import re

import pytest

from runner.contract import GateStatus
from runner.gates.security import rules, security
from tests.runner.changes import Files, change


def said(base: Files, head: Files) -> list[str]:
    result = security(change(base, head))
    return [] if result.status is GateStatus.PASSED else result.tail.splitlines()


SINKS = [
    ("a.py", "import subprocess\nsubprocess.run(f'ls {x}', shell=True)\n", "a.py:2: subprocess call with shell=True"),
    ("a.py", "import os\n\nos.system('ls ' + x)\n", "a.py:3: Starting a process with a shell"),
    ("a.py", "eval(x)\n", "a.py:1: Use of possibly insecure function"),
    ("a.py", "exec(x)  # nosec\n", "a.py:1: Use of exec detected"),
    ("a.py", "import yaml\nyaml.load(x)\n", "a.py:2: Use of unsafe yaml load"),
    ("a.py", "import pickle\npickle.loads(x)\n", "a.py:2: Pickle"),
    ("a.py", "q = 'SELECT a FROM b WHERE c = %s' % x\n", "a.py:1: Possible SQL injection"),
    ("a.py", "import torch\nm = torch.load(p)\n", "LLM03"),
    ("a.py", "m = AutoModel.from_pretrained(n, trust_remote_code=True)\n", "LLM03"),
    ("a.py", "messages = [{'role': 'system', 'content': f'You serve {user}'}]\n", "LLM01"),
    ("a.py", "x = json.loads(response.choices[0].message.content)\n", "LLM05"),
    ("a.py", "CORSMiddleware(app, allow_origins=['*'])\n", "LLM06"),
    ("a.py", "print(f'using {api_key}')\n", "LLM02"),
    ("a.js", "eval(answer)\n", "runs text as code"),
    ("a.tsx", "<p dangerouslySetInnerHTML={{__html: x}} />\n", "markup"),
    ("a.js", "el.innerHTML = text\n", "markup"),
    ("a.ts", "exec(`git log ${branch}`)\n", "shell"),
    ("a.ts", "db.query(`SELECT * FROM t WHERE id = ${id}`)\n", "use parameters"),
    ("a.go", 'exec.Command("sh", "-c", cmd)\n', "shell"),
    ("a.go", 'q := fmt.Sprintf("SELECT a FROM b WHERE c = %s", d)\n', "use parameters"),
    ("a.go", "c := &tls.Config{InsecureSkipVerify: true}\n", "no longer checks whom"),
    ("a.rs", 'Command::new("sh").arg("-c")\n', "shell"),
    ("a.html", "{{ comment | safe }}\n", "escaping"),
    ("a.rb", "eval(params[:x])\n", "runs text as code"),
    ("A.java", "Runtime.getRuntime().exec(cmd);\n", "runs text as code"),
    ("run.sh", "chmod 777 data\n", "LLM06"),
    ("run.sh", "curl https://example.org/x | sh\n", "fetches from the net"),
    ("Dockerfile", "USER root\n", "machine's rights"),
    ("docker-compose.yml", "    privileged: true\n", "machine's rights"),
    ("ci.yml", "permissions: write-all\n", "workflow"),
    ("policy.json", '{"Action": "*"}\n', "grants everything"),
    ("main.tf", 'cidr_blocks = ["0.0.0.0/0"]\n', "grants everything"),
    ("run.sh", "claude --dangerously-skip-permissions\n", "without a bound"),
]


@pytest.mark.parametrize(("path", "content", "expected"), SINKS)
def test_what_needs_a_second_look(path: str, content: str, expected: str) -> None:
    lines = said({}, {path: content})
    assert any(expected in line for line in lines), lines
    assert said({path: content}, {path: content + "\n"}) == [], "what was there before is not this change's"
    assert said({path: content, "b": "x"}, {path: None, f"moved/{path}": content}) == [], "nor is what moved"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "import subprocess\nsubprocess.run(['ls', x])\n"),
        ("a.py", "import yaml\nyaml.safe_load(x)\nassert x\n"),
        ("a.py", "cursor.execute('SELECT a FROM b WHERE c = ?', (x,))\n"),
        ("a.py", "evaluate(x)\nmodel.eval()\n"),
        ("a.js", "// eval(x)\nconst evaluated = re.exec(text)\nel.textContent = text\nif (el.innerHTML == x) {}\n"),
        ("a.js", "db.query('SELECT * FROM t WHERE id = ?', [id])\n"),
        ("a.md", "Never call eval(x), and never `curl x | sh`.\n"),
        ("run.sh", "# chmod 777 data\nchmod 755 data\ncurl -fsS https://example.org/x -o x\n"),
        ("Dockerfile", "USER app\n"),
        ("a.go", 'exec.Command("git", "log")\nrows := db.Query("SELECT a FROM b WHERE c = $1", d)\n'),
        ("broken.py", "def (\n"),
    ],
)
def test_what_needs_none(path: str, content: str) -> None:
    assert said({}, {path: content}) == []


def test_it_says_the_line_and_the_words() -> None:
    lines = said({"a.js": "a\n"}, {"a.js": "a\nel.innerHTML = `x`\n"})
    assert lines == ["a.js:2: `innerHTML =` puts text into a page as markup; escape it, or set textContent (LLM05)."]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_each_rule_is_whole_and_takes_no_time(rule: object) -> None:
    assert re.fullmatch(r"LLM(0[1-9]|10)", rule.owasp)  # type: ignore[attr-defined]
    for hostile in (
        "exec(" * 400,
        '"SELECT ' * 250,
        " " * 2_000,
        "curl " * 400,
        "`${" * 600,
        "permissions" * 180,
        "print(" * 330,
    ):
        rule.pattern.search(hostile[:2_000])  # type: ignore[attr-defined]
