"""A scripted agent: does one thing of its repertoire, good or bad. Run as a program by the tests, never imported.

Arguments: behaviour, unit, attempt, prompt file, result file.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PLAN = {
    "verdict": "plan",
    "title": "Add two numbers right",
    "summary": "add() subtracts.",
    "steps": ["Mend add()."],
    "files": ["calc.py", "notes/**"],
}
GOOD = "def add(a, b):\n    return a + b\n"
BAD = "def add(a, b):\n    return a * b + 1\n"
DONE = {"status": "done", "summary": "Mended add()."}


def result(content: object) -> None:
    Path(sys.argv[5]).write_text(json.dumps(content))


def write(content: str = GOOD, path: str = "calc.py") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)


def good() -> None:
    write()
    result(DONE)


def mend() -> None:
    """Fails the tests at first, and mends when told of it with the whole output at hand."""
    prompt = Path(sys.argv[4]).read_text()
    if sys.argv[3] == "1":
        write(BAD)
    else:
        named = [word.strip("`'\"()[].,:") for word in prompt.split()]
        outputs = [Path(word) for word in named if word.startswith("/") and word.endswith(".txt")]
        assert "7 != 5" in prompt, prompt
        assert any("AssertionError: 7 != 5" in output.read_text() for output in outputs), prompt
        write()
    result(DONE)


def never() -> None:
    write(BAD)
    result(DONE)


def nothing() -> None:
    print("Success! All tests pass.")
    result(DONE)


def secret_far_down() -> None:
    write()
    write("nothing to see\n" * 100_000 + "token = 'ghp_" + "a1B2c3D4e5F6" * 3 + "'\n", "notes/long.txt")
    result(DONE)


def idle() -> None:
    pass


def boast_and_fail() -> None:
    write()
    print("SUCCESS: everything is done")
    sys.exit(3)


def hang() -> None:
    write()
    print("thinking", flush=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def flood() -> None:
    block = b"x" * 1_000_000
    for _ in range(200):
        os.write(1, block)
    result(DONE)


def daemon() -> None:
    write()
    code = "import time, sys; open(sys.argv[1], 'w').write(str(__import__('os').getpid())); time.sleep(600)"
    subprocess.Popen(
        [sys.executable, "-c", code, os.environ["DAEMON_PID_FILE"]],
        start_new_session=True,
        env={},
    )
    while not Path(os.environ["DAEMON_PID_FILE"]).exists():
        time.sleep(0.01)
    result(DONE)


def delete_git() -> None:
    write()
    pointer = Path(".git")
    if pointer.is_dir():
        subprocess.run(["rm", "-rf", ".git"], check=True)
    else:
        pointer.unlink()
    result(DONE)


def other_branch() -> None:
    write()
    name = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "checkout", "-q", "-b", "elsewhere"], check=True)
    subprocess.run(["git", *name, "commit", "-qam", "elsewhere"], check=True)
    result(DONE)


def own_commit() -> None:
    write()
    name = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *name, "commit", "-qam", "mended"], check=True)
    result(DONE)


def blocked() -> None:
    result({"status": "blocked", "summary": "", "blocked_by": "The issue contradicts itself."})


def invalid() -> None:
    write()
    result({"status": "splendid"})


def invalid_once() -> None:
    write()
    prompt = Path(sys.argv[4]).read_text()
    if sys.argv[3] == "1":
        Path(sys.argv[5]).write_text("no JSON")
    else:
        assert "does not fit its schema" in prompt, prompt
        result(DONE)


def out_of_scope() -> None:
    write()
    write("print('hi')\n", "setup.py")
    result(DONE)


def settle() -> None:
    """Writes its change at first, and settles the conflict it is then told of."""
    text = Path("calc.py").read_text()
    if "<<<<<<<" in text:
        write(GOOD + "\n\ndef sub(a, b):\n    return a - b\n")
    elif "sub" not in text:
        write("def add(a, b):\n    return b + a\n")
    result(DONE)


def tool(name: str, *words: str, say: str = "") -> str:
    """Call a tool of the run, which has to do it; returns its answer."""
    return subprocess.run([name, *words], input=say, check=True, capture_output=True, text=True).stdout


def good_by_tools() -> None:
    """Does well, and says so by tools alone."""
    tool("progress", "mending add()")
    write()
    tool("remember", "--kind", "fact", "--path", "calc.py", "The function add() lives in the file calc.py.")
    tool("recommend", "--title", "Test more", "--path", "test_calc.py", "There is one test.")
    tool("ask", "Shall it add floats?")
    tool("submit", "-", say=json.dumps(DONE))


def learn() -> None:
    write()
    result(
        {**DONE, "lessons": [{"unit": "ExecutePlan", "kind": "fact", "text": "The function add() lives in calc.py."}]}
    )


def stop_here() -> None:
    write()
    Path(os.environ["STARTED_FILE"]).write_text(str(os.getpid()))
    while True:
        time.sleep(60)


def plan() -> None:
    result(PLAN)


def plan_and_write() -> None:
    write("print('early')\n", "early.py")
    result(PLAN)


def plan_without_files() -> None:
    result({**PLAN, "files": []})


def needs_information() -> None:
    result({**PLAN, "verdict": "needs_information", "files": [], "steps": [], "reason": "Which add()?"})


def pull_request() -> None:
    result({"title": "Add two numbers right", "body": "Mends add()."})


def look_for_secrets() -> None:
    """Looks where a runner's tokens could be, and writes down what it can read."""
    found = [f"{name}={value}" for name, value in os.environ.items()]
    for path in ("/proc/1/environ", f"/proc/{os.getppid()}/environ", os.environ["RUNNER_HOME"]):
        found += _read_all(Path(path))
    for process in Path("/proc").glob("[0-9]*/environ"):
        found += _read_all(process)
    found += _read_all(Path.cwd())
    write("\n".join(found), "notes/found.txt")
    write()
    result(DONE)


def _read_all(path: Path) -> list[str]:
    files = [p for p in path.rglob("*") if p.is_file() and not p.is_symlink()] if path.is_dir() else [path]
    texts = []
    for file in files:
        try:
            texts.append(file.read_bytes().replace(b"\0", b"\n").decode("utf-8", "replace"))
        except OSError:
            continue
    return texts


def main() -> None:
    behaviour = os.environ.get("PR_BEHAVIOUR", "pull_request") if sys.argv[2] == "CreatePr" else sys.argv[1]
    globals()[behaviour]()


if __name__ == "__main__":
    main()
