"""Workflow runs carried out by real act: what GitHub promises of them, and what it refuses."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import psutil  # type: ignore[import-untyped]
import pytest
from githubkit_schemas.v2026_03_10 import models

from tests.standin import actions, git_remote, oidc
from tests.standin.parts import Parts, serving, wait_for
from tests.standin.run_plan import PROJECT
from tests.standin.runs_service import Actions

JOB = "job_01"
Start = Callable[..., int]
HEAD = """\
name: Try
run-name: try ${{ inputs.job }}
on:
  workflow_dispatch:
    inputs:
      job: {required: true, type: string}
"""


def workflow(
    script: str, permissions: str = "{contents: read, id-token: write}", extra: str = "", more: str = ""
) -> str:
    body = "".join(f"          {line}\n" for line in script.splitlines())
    return f"""{HEAD}permissions: {permissions}
{extra}
jobs:
  run:
    runs-on: [self-hosted, twogate]
    timeout-minutes: 10
    steps:
      - env: {{JOB: "${{{{ inputs.job }}}}", TOKEN: "${{{{ github.token }}}}", WHERE: "${{{{ vars.WHERE }}}}"}}
        run: |
{body}
{more}
"""


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    with serving(tmp_path, git_remote.blueprint, oidc.blueprint, actions.blueprint) as running:
        service = running.hub.service(Actions)
        service.settings.interrupt = service.settings.terminate = 1.0
        try:
            yield running
        finally:
            service.close()


@pytest.fixture
def start(parts: Parts) -> Start:
    """Commit a workflow and dispatch it; the run's id."""

    def begin(text: str, file: str = "try.yml", job: str = JOB) -> int:
        parts.commit({f".github/workflows/{file}": text})
        return dispatch(parts, file, {"job": job})

    return begin


def dispatch(parts: Parts, file: str, inputs: dict[str, str]) -> int:
    path = f"/actions/workflows/{file}/dispatches"
    answer = parts.api("POST", path, {"ref": "main", "inputs": inputs})
    assert answer.status_code == 200, answer.text
    number: int = answer.json()["workflow_run_id"]
    return number


def run_of(parts: Parts, run: int) -> dict[str, Any]:
    shown: dict[str, Any] = parts.api("GET", f"/actions/runs/{run}").json()
    return shown


def ended(parts: Parts, run: int) -> str:
    """Wait for the end of a run; its conclusion."""
    wait_for(lambda: run_of(parts, run)["status"] == "completed")
    return str(run_of(parts, run)["conclusion"])


def log(parts: Parts, run: int) -> str:
    return parts.http.get(f"/_control/actions/runs/{run}/log").text


def printed(parts: Parts, run: int, text: str) -> None:
    wait_for(lambda: text in log(parts, run))


REPORT = "python3 -c 'import json,os; print(\"SEEN\", json.dumps(dict(os.environ)), flush=True)'"


def seen(parts: Parts, run: int) -> dict[str, str]:
    line = next(line for line in log(parts, run).splitlines() if "| SEEN " in line)
    found: dict[str, str] = json.loads(line.partition("| SEEN ")[2])
    return found


def test_a_run_sees_what_github_would_tell_it(parts: Parts, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "1")
    parts.http.put("/_control/actions/variables/acme/shop", json={"WHERE": "there"})
    parts.http.patch("/_control/actions/settings", json={"machine": {"MACHINE": "yes"}})
    run = start(workflow(REPORT))
    assert ended(parts, run) == "success", log(parts, run)
    env, bot = seen(parts, run), parts.installation.app.bot
    assert (env["JOB"], env["WHERE"], env["MACHINE"]) == (JOB, "there", "yes")
    assert (env["GITHUB_RUN_ID"], env["GITHUB_RUN_ATTEMPT"]) == (str(run), "1")
    assert (env["GITHUB_REPOSITORY"], env["GITHUB_REPOSITORY_ID"]) == ("acme/shop", str(parts.repo.id))
    assert env["GITHUB_SERVER_URL"] == parts.hub.base_url
    assert env["GITHUB_API_URL"] == f"{parts.hub.base_url}/api/v3"
    assert (env["GITHUB_ACTOR"], env["GITHUB_ACTOR_ID"]) == (bot.login, str(bot.id))
    assert env["TOKEN"] == env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] == "***"
    assert "SECRET_OF_THE_PARENT" not in env
    shown = run_of(parts, run)
    assert (shown["display_title"], shown["actor"]["login"]) == (f"try {JOB}", bot.login)
    assert parts.actions_of("workflow_run") == ["requested", "in_progress", "completed"]
    assert parts.actions_of("workflow_job") == ["queued", "in_progress", "completed"]
    attempt = parts.hub.service(Actions).attempts[0]
    assert env["RUNNER_TRACKING_ID"] == attempt.runner
    assert sorted(path.name for path in attempt.folder.iterdir()) == ["event.json", "log.txt"]


def test_a_step_gets_an_oidc_token_that_verifies(parts: Parts, start: Start) -> None:
    script = (
        'curl -sSf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" '
        '"$ACTIONS_ID_TOKEN_REQUEST_URL&audience=https://bot.example" > "$MACHINE_FILE"'
    )
    target = parts.hub.home / "token.json"
    parts.http.patch("/_control/actions/settings", json={"machine": {"MACHINE_FILE": str(target)}})
    run = start(workflow(script))
    assert ended(parts, run) == "success", log(parts, run)
    token = json.loads(target.read_text())["value"]
    key = jwt.PyJWKClient(f"{parts.hub.base_url}/_oidc/.well-known/jwks").get_signing_key_from_jwt(token)
    claims = jwt.decode(token, key, ["RS256"], audience="https://bot.example", issuer=f"{parts.hub.base_url}/_oidc")
    assert (claims["run_id"], claims["ref"]) == (str(run), "refs/heads/main")
    assert claims["actor_id"] == str(parts.installation.app.bot.id)
    assert claims["workflow_ref"] == "acme/shop/.github/workflows/try.yml@refs/heads/main"


def test_without_the_permission_there_is_no_oidc(parts: Parts, start: Start) -> None:
    run = start(workflow(REPORT, "{contents: read}"))
    assert ended(parts, run) == "success", log(parts, run)
    assert not [name for name in seen(parts, run) if name.startswith("ACTIONS_ID_TOKEN")]


def test_the_token_clones_and_cannot_push_and_ends_with_the_run(parts: Parts, start: Start) -> None:
    script = """\
url="http://x:$TOKEN@${GITHUB_SERVER_URL#http://}/$GITHUB_REPOSITORY.git"
git clone -q "$url" work && cd work
git push -q "$url" HEAD:refs/heads/x || echo "PUSH REFUSED"
echo "$TOKEN" > "$HOME/token"
"""
    run = start(workflow(script))
    assert ended(parts, run) == "success", log(parts, run)
    assert "PUSH REFUSED" in log(parts, run)
    assert parts.hub.pushes == []
    kept = (parts.hub.home / "machine" / "token").read_text().strip()
    assert kept.startswith("ghs_")
    assert parts.hub.resolve_token(kept) is None


def test_no_secret_stands_in_a_command_line(parts: Parts, start: Start) -> None:
    run = start(workflow('echo "READY $TOKEN"; for f in /proc/[0-9]*/cmdline; do tr "\\0" " " < $f; done; sleep 60'))
    printed(parts, run, "READY")
    tokens = [token.raw for token in parts.hub.tokens.values() if token.kind == "workflow"]
    lines = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    assert tokens
    assert not [line for line in lines if tokens[0] in line]


def test_a_dispatch_is_checked(parts: Parts) -> None:
    parts.commit({".github/workflows/try.yml": workflow("true"), ".github/workflows/push.yml": "on: push\njobs: {}\n"})
    parts.commit({".github/workflows/side.yml": workflow("true")}, branch="side")

    def answer(file: str, inputs: dict[str, str], ref: str = "main", **sent: Any) -> tuple[int, str]:
        path = f"/actions/workflows/{file}/dispatches"
        got = parts.api("POST", path, {"ref": ref, "inputs": inputs}, **sent)
        return got.status_code, got.json()["message"]

    assert answer("try.yml", {}) == (422, "Required input 'job' not provided")
    assert answer("try.yml", {"job": "1", "x": "2"}) == (422, 'Unexpected inputs provided: ["x"]')
    assert answer("try.yml", {"job": "1"}, "nowhere") == (422, "No ref found for: nowhere")
    assert answer("push.yml", {}) == (422, "Workflow does not have 'workflow_dispatch' trigger")
    assert answer("none.yml", {"job": "1"})[0] == 404
    assert answer("side.yml", {"job": "1"}, "side")[0] == 404
    assert answer("try.yml", {"job": "1"}, token=parts.token(actions="read"))[0] == 403
    assert parts.repo.runs == {}


def test_older_api_versions_and_servers_answer_without_the_run(parts: Parts, start: Start) -> None:
    start(workflow("true"))
    path, body = "/actions/workflows/try.yml/dispatches", {"ref": "main", "inputs": {"job": "2"}}
    old = {"X-GitHub-Api-Version": "2022-11-28"}
    assert parts.api("POST", path, body, **old).status_code == 204
    assert parts.api("POST", path, body | {"return_run_details": True}, **old).status_code == 200
    parts.http.patch("/_control/actions/settings", json={"old_server": True})
    assert parts.api("POST", path, body).status_code == 204
    titles = [run["display_title"] for run in parts.api("GET", "/actions/runs").json()["workflow_runs"]]
    assert titles == ["try 2", "try 2", "try 2", f"try {JOB}"]


def test_runs_are_listed_by_event_actor_and_branch(parts: Parts, start: Start) -> None:
    run = start(workflow("true"))

    def ids(query: str) -> list[int]:
        return [found["id"] for found in parts.api("GET", f"/actions/runs?{query}").json()["workflow_runs"]]

    assert ids("event=workflow_dispatch&actor=twogate[bot]&branch=main&created=>=2020-01-01") == [run]
    assert ids("actor=mia") == ids("branch=x") == ids("event=push") == ids("created=<2020-01-01") == []
    jobs = parts.api("GET", f"/actions/runs/{run}/jobs").json()["jobs"]
    assert [job["name"] for job in jobs] == ["run"]


TRAP = "trap 'echo STOPPING; exit 0' INT; echo READY; while true; do sleep 0.05; done"
AFTER = """\
      - if: always()
        run: echo CLEANED
      - run: echo NEVER
"""


def test_a_cancelled_run_may_tidy_up(parts: Parts, start: Start) -> None:
    run = start(workflow(TRAP.replace("exit 0", "exit 9"), more=AFTER))
    printed(parts, run, "| READY")
    assert parts.api("POST", f"/actions/runs/{run}/cancel").status_code == 202
    assert ended(parts, run) == "cancelled"
    text = log(parts, run)
    assert "| STOPPING" in text
    assert "| CLEANED" in text
    assert "| NEVER" not in text
    assert parts.api("POST", f"/actions/runs/{run}/cancel").status_code == 409


def test_a_step_that_ignores_signals_is_killed_with_its_children(parts: Parts, start: Start) -> None:
    script = "trap '' INT TERM; setsid sleep 4711 & sleep 4712 & echo READY; wait; sleep 4713"
    run = start(workflow(script))
    printed(parts, run, "| READY")
    parts.api("POST", f"/actions/runs/{run}/cancel")
    assert ended(parts, run) == "cancelled"
    left = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in left if line and line[0] == "sleep" and line[-1] in {"4711", "4712", "4713"}]


def test_what_a_step_leaves_behind_is_ended(parts: Parts, start: Start) -> None:
    run = start(workflow("(setsid sleep 4715 &) ; echo READY"))
    assert ended(parts, run) == "success", log(parts, run)
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "4715"]]


def test_a_job_ends_at_its_time_out(parts: Parts, start: Start) -> None:
    parts.http.patch("/_control/actions/settings", json={"seconds_per_minute": 0.1})
    run = start(workflow("sleep 60"))
    assert ended(parts, run) == "timed_out"


def test_a_failing_step_fails_the_run(parts: Parts, start: Start) -> None:
    assert ended(parts, start(workflow("exit 3"))) == "failure"


def test_one_run_of_a_group_goes_on_and_one_waits(parts: Parts, start: Start) -> None:
    group = "concurrency: {group: 'g-${{ inputs.job }}'}"
    first = start(workflow("echo READY; sleep 60", extra=group))
    printed(parts, first, "| READY")
    second, third, other = (dispatch(parts, "try.yml", {"job": job}) for job in (JOB, JOB, "other"))
    assert run_of(parts, second)["conclusion"] == "cancelled"
    assert run_of(parts, third)["status"] == "pending"
    printed(parts, other, "| READY")
    parts.api("POST", f"/actions/runs/{first}/cancel")
    printed(parts, third, "| READY")


def test_no_more_runs_go_on_than_there_are_machines(parts: Parts, start: Start) -> None:
    parts.http.patch("/_control/actions/settings", json={"slots": 1})
    first = start(workflow("echo READY; sleep 60"))
    second = dispatch(parts, "try.yml", {"job": "2"})
    printed(parts, first, "| READY")
    assert run_of(parts, second)["status"] == "queued"
    parts.api("POST", f"/actions/runs/{first}/force-cancel")
    printed(parts, second, "| READY")
    assert ended(parts, first) == "cancelled"


def test_a_cancelled_queued_run_never_starts(parts: Parts, start: Start) -> None:
    parts.http.patch("/_control/actions/settings", json={"start_delay": 60})
    run = start(workflow("echo STARTED"))
    parts.api("POST", f"/actions/runs/{run}/cancel")
    assert ended(parts, run) == "cancelled"
    assert log(parts, run) == ""


def test_a_vanished_machine_says_nothing(parts: Parts, start: Start) -> None:
    run = start(workflow("setsid sleep 4714 & echo READY; sleep 60"))
    printed(parts, run, "| READY")
    parts.http.post(f"/_control/actions/runs/{run}/vanish")
    attempt = parts.hub.service(Actions).attempts[0]
    wait_for(lambda: attempt.phase == "lost")
    assert run_of(parts, run)["status"] == "in_progress"
    assert parts.actions_of("workflow_run") == ["requested", "in_progress"]
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "4714"]]
    parts.http.post(f"/_control/actions/runs/{run}/give-up")
    assert ended(parts, run) == "failure"


def test_a_re_run_is_another_attempt(parts: Parts, start: Start) -> None:
    run = start(workflow(REPORT))
    ended(parts, run)
    mia = parts.hub.create_user_token(parts.maintainer)
    assert parts.api("POST", f"/actions/runs/{run}/rerun", token=mia).status_code == 201
    assert ended(parts, run) == "success"
    shown = run_of(parts, run)
    assert (shown["run_attempt"], shown["actor"]["login"], shown["triggering_actor"]["login"]) == (
        2,
        "twogate[bot]",
        "mia",
    )
    assert parts.api("GET", f"/actions/runs/{run}/attempts/1").json()["run_attempt"] == 1
    assert parts.actions_of("workflow_run").count("requested") == 1
    assert [claims["run_attempt"] for claims in parts.hub.service(oidc.Issuer).minted] == []


def test_secrets_arrive_unchanged_and_masked(parts: Parts, start: Start) -> None:
    secret = "two\nlines \"quoted\" $HOME \\n 'x' #end"
    parts.repo.secrets["ODD"] = secret
    step = "      - env: {ODD: '${{ secrets.ODD }}'}\n        run: printf %s \"$ODD\" | base64 -w0\n"
    run = start(workflow("true", more=step))
    assert ended(parts, run) == "success", log(parts, run)
    assert base64.b64encode(secret.encode()).decode() in log(parts, run)


def test_a_workflow_may_check_out_its_commit_and_use_its_own_actions(parts: Parts, start: Start) -> None:
    runs = "runs: {using: composite, steps: [{shell: bash, run: 'echo LOCAL; cat src/code.txt'}]}\n"
    parts.commit({".github/actions/own/action.yml": f"name: Own\n{runs}", "src/code.txt": "CODE\n"})
    steps = "      - uses: actions/checkout@v5\n      - uses: ./.github/actions/own\n"
    run = start(workflow("ls", more=steps))
    assert ended(parts, run) == "success", log(parts, run)
    assert "| LOCAL" in log(parts, run)
    assert "| CODE" in log(parts, run)


def test_answers_and_events_fit_the_published_models(parts: Parts, start: Start) -> None:
    run = start(workflow("true"))
    ended(parts, run)
    models.WorkflowRun.model_validate(run_of(parts, run))
    models.Workflow.model_validate(parts.api("GET", "/actions/workflows/try.yml").json())
    for job in parts.api("GET", f"/actions/runs/{run}/jobs").json()["jobs"]:
        models.Job.model_validate(job)
    kinds = {"requested": "Requested", "queued": "Queued", "in_progress": "InProgress", "completed": "Completed"}
    for event, payload in parts.events:
        name = "Webhook" + event.title().replace("_", "") + kinds[payload["action"]]
        getattr(models, name).model_validate(json.loads(json.dumps(payload)))


def test_the_users_workflow_runs_the_machines_runner(parts: Parts, start: Start) -> None:
    program = parts.hub.home / "runner.sh"
    program.write_text('#!/bin/sh\necho "ARGS $* URL $TWOGATE_URL TOKEN ${GITHUB_TOKEN:-none}"\n')
    program.chmod(0o755)
    parts.http.patch("/_control/actions/settings", json={"machine": {"TWOGATE_RUNNER": str(program)}})
    parts.http.put("/_control/actions/variables/acme/shop", json={"TWOGATE_URL": "http://bot.example"})
    run = start((PROJECT / ".github" / "workflows" / "twogate.yml").read_text(), "twogate.yml")
    assert ended(parts, run) == "success", log(parts, run)
    assert run_of(parts, run)["display_title"] == f"twogate {JOB}"
    assert f"| ARGS run --job {JOB} URL http://bot.example TOKEN ***" in log(parts, run)
    assert f"| ARGS clean --job {JOB} URL http://bot.example TOKEN none" in log(parts, run)
