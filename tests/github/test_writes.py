"""Writing verbs: nothing twice, nothing that is not needed, nothing that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import Permanent, RetryAt, Transient
from bot.github.client import connect
from bot.github.clients import OLD_VERSION, App
from bot.github.ensure import SETTLE_SECONDS, marked, marker
from bot.github.gateway import CheckAction, CheckRun, Missing
from bot.github.tokens import seconds
from tests.github.canned import Answer, Canned

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import Clock, World

AFTER = ["error_after", "reset_after"]
"""The write is done, and its answer is lost."""
CHECK = CheckRun(
    name="Twogate: diff",
    title="Waiting for a decision",
    summary="All gates passed.",
    conclusion="action_required",
    external_id="twogate:1:2:ab:cd",
    actions=(CheckAction("Approve", "Open the pull request", "approve"),),
)
WORKFLOW = """
name: Twogate
run-name: twogate ${{ inputs.job }}
on: {workflow_dispatch: {inputs: {job: {required: true, type: string}}}}
jobs: {run: {runs-on: [self-hosted, nowhere], steps: [{run: "true"}]}}
"""


@pytest.mark.parametrize("fault", AFTER)
def test_a_comment_whose_answer_was_lost_is_not_posted_again(world: World, fault: str) -> None:
    number = world.issue()
    world.gateway.identity()
    world.fault(fault, method="POST", path=".*/comments$")
    with pytest.raises(Transient):
        world.gateway.ensure_comment(world.repo, number, "ab-1", "The plan", first=True)
    found = world.gateway.ensure_comment(world.repo, number, "ab-1", "The plan", first=False)
    assert found.body == "<!-- twogate:ab-1 -->\nThe plan"
    assert [c.id for c in world.gateway.comments(world.repo, number)] == [found.id]


@pytest.mark.parametrize("fault", ["error", "reset"])
def test_a_comment_that_was_not_posted_is_posted_by_the_next_try(world: World, fault: str) -> None:
    number = world.issue()
    world.gateway.identity()
    world.fault(fault, method="POST", path=".*/comments$")
    with pytest.raises(Transient):
        world.gateway.ensure_comment(world.repo, number, "ab-1", "The plan", first=True)
    made = world.gateway.ensure_comment(world.repo, number, "ab-1", "The plan", first=False)
    assert [c.id for c in world.gateway.comments(world.repo, number)] == [made.id]


def test_a_mark_in_somebody_elses_comment_or_inside_our_own_is_none(world: World) -> None:
    number = world.issue()
    world.ask("mia", "POST", f"/issues/{number}/comments", {"body": marked("ab-1", "forged")})
    world.gateway.ensure_comment(world.repo, number, "ab-0", f"quotes {marker('ab-1')}", first=True)
    made = world.gateway.ensure_comment(world.repo, number, "ab-1", "ours", first=False)
    assert made.by_app
    assert made.body.endswith("ours")
    assert len(world.gateway.comments(world.repo, number)) == 3


def test_an_own_comment_is_found_past_the_first_hundred(world: World) -> None:
    number = world.issue()
    world.say(number, 100)
    made = world.gateway.ensure_comment(world.repo, number, "ab-1", "ours", first=True)
    assert world.gateway.ensure_comment(world.repo, number, "ab-1", "ours", first=False) == made


@pytest.mark.parametrize("key", ["", "a-->b", "a b", "a\nb", "x" * 201, "a--b"])
def test_an_unfit_key_is_a_fault_of_ours(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        marker(key)


@pytest.mark.parametrize("fault", AFTER)
def test_a_pull_request_whose_answer_was_lost_is_not_opened_again(world: World, fault: str) -> None:
    world.commit("plan/1", {"a.txt": "a"})
    wanted: dict[str, Any] = {"branch": "plan/1", "base": "main", "title": "Fix", "body": "It"}
    world.gateway.find_pull(world.repo, "plan/1")
    world.fault(fault, method="POST", path=".*/pulls$")
    with pytest.raises(Transient):
        world.gateway.ensure_pull(world.repo, **wanted, first=True)
    found = world.gateway.ensure_pull(world.repo, **wanted, first=False)
    assert world.gateway.find_pull(world.repo, "plan/1") == found
    assert [w[1] for w in world.written()].count("pulls/create") == 1
    assert world.gateway.ensure_pull(world.repo, **wanted, first=True) == found, "a refused second one is the first"


def test_a_pull_request_reads_the_same_everywhere(world: World) -> None:
    world.commit("plan/1", {"a.txt": "a"})
    made = world.gateway.ensure_pull(world.repo, branch="plan/1", base="main", title="Fix", body="It", first=True)
    assert (made.state, made.merged, made.head_repository_id) == ("open", False, world.repo.id)
    assert world.gateway.pull(world.repo, made.number) == made
    world.person("mia", "admin")
    world.ask("mia", "PATCH", f"/pulls/{made.number}", {"state": "closed"})
    closed = world.gateway.find_pull(world.repo, "plan/1")
    assert closed is not None
    assert (closed.number, closed.state, closed.merged) == (made.number, "closed", False)
    again = world.gateway.ensure_pull(world.repo, branch="plan/1", base="main", title="Fix", body="It", first=False)
    assert again.number != made.number
    world.ask("mia", "PUT", f"/pulls/{again.number}/merge", {})
    assert world.gateway.pull(world.repo, again.number).merged
    merged = world.gateway.find_pull(world.repo, "plan/1")
    assert merged is not None
    assert merged.merged


def test_a_pull_request_without_a_change_is_refused_in_githubs_words(world: World) -> None:
    world.commit("plan/1", {"a.txt": "a"})
    with pytest.raises(Permanent, match="No commits between"):
        world.gateway.ensure_pull(world.repo, branch="main", base="plan/1", title="Fix", body="It", first=True)


@pytest.mark.parametrize("fault", AFTER)
def test_a_check_run_whose_answer_was_lost_is_not_made_again(world: World, fault: str) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    world.gateway.repository(world.repo)
    world.fault(fault, method="POST", path=".*/check-runs$")
    with pytest.raises(Transient):
        world.gateway.ensure_check_run(world.repo, head, CHECK, first=True)
    found = world.gateway.ensure_check_run(world.repo, head, CHECK, first=False)
    assert [w[1] for w in world.written()] == ["checks/create"]
    shown = world.standin.control.repo(world.name).checks
    assert list(shown) == [found]


def test_a_check_run_with_the_same_name_for_another_plan_is_not_ours(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    one = world.gateway.ensure_check_run(world.repo, head, CHECK, first=True)
    other = CheckRun(**{**{f: getattr(CHECK, f) for f in CHECK.__slots__}, "external_id": "twogate:1:3:ab:cd"})
    assert world.gateway.ensure_check_run(world.repo, head, other, first=False) != one


def test_a_check_run_shows_buttons_and_then_the_decision(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    number = world.gateway.ensure_check_run(world.repo, head, CHECK, first=True)
    world.person("mia", "admin")
    world.standin.control.press(world.name, number, world.people["mia"].login, "approve")
    waiting = world.ask("mia", "GET", f"/check-runs/{number}")
    assert (waiting["status"], waiting["conclusion"]) == ("completed", "action_required")
    done = CheckRun(CHECK.name, "Approved", "by mia", "success", CHECK.external_id)
    world.gateway.update_check_run(world.repo, number, done)
    shown = world.ask("mia", "GET", f"/check-runs/{number}")
    assert (shown["conclusion"], shown["output"]["title"]) == ("success", "Approved")


def dispatch(world: World, job: str, *, first: bool, gateway: GitHubGateway | None = None) -> int:
    asked = gateway or world.gateway
    return asked.ensure_dispatch(world.repo, "twogate.yml", "main", {"job": job}, marker=job, first=first)


def runs(world: World) -> list[Any]:
    world.tokens or world.person("mia", "admin")
    found: list[Any] = world.ask(next(iter(world.tokens)), "GET", "/actions/runs")["workflow_runs"]
    return found


def with_workflow(world: World) -> None:
    world.commit("main", {".github/workflows/twogate.yml": WORKFLOW})
    world.gateway.identity()
    world.gateway.repository(world.repo)


def test_a_dispatch_returns_its_run(world: World) -> None:
    with_workflow(world)
    made = dispatch(world, "ab-1", first=True)
    run = world.gateway.run(world.repo, made)
    assert (run.id, run.attempt, run.actor_id) == (made, 1, world.app["bot_id"])
    found = world.gateway.find_run(world.repo, "twogate.yml", "ab-1")
    assert found is not None
    assert found.id == made
    assert world.gateway.find_run(world.repo, "twogate.yml", "ab") is None, "only the whole word is the mark"
    world.gateway.cancel_run(world.repo, made)
    world.gateway.cancel_run(world.repo, 999_999)


@pytest.mark.parametrize("fault", AFTER)
def test_a_dispatch_whose_answer_was_lost_is_not_sent_again(world: World, fault: str) -> None:
    with_workflow(world)
    world.fault(fault, method="POST", path=".*/dispatches$")
    with pytest.raises(Transient):
        dispatch(world, "ab-1", first=True)
    found = dispatch(world, "ab-1", first=False)
    assert [run["id"] for run in runs(world)] == [found]


def test_a_dispatch_that_did_not_arrive_is_sent_again_once_the_list_can_be_believed(world: World) -> None:
    with_workflow(world)
    world.fault("error", method="POST", path=".*/dispatches$")
    with pytest.raises(Transient):
        dispatch(world, "ab-1", first=True)
    with pytest.raises(RetryAt) as caught:
        dispatch(world, "ab-1", first=False)
    assert caught.value.at == world.clock.now + SETTLE_SECONDS
    assert caught.value.gate is None, "nothing else waits for it"
    world.clock.now += SETTLE_SECONDS
    assert [run["id"] for run in runs(world)] == []
    assert dispatch(world, "ab-1", first=False) == runs(world)[0]["id"]


def test_the_pace_holds_writes_and_never_reads(world: World) -> None:
    with_workflow(world)
    asked: list[int] = []

    def not_now(installation: int) -> None:
        asked.append(installation)
        raise RetryAt(world.clock.now + 1, "too soon", gate="writes")

    app = App(id=world.app["app_id"], private_key=world.app["private_key"], api_url=world.standin.api_url)
    gateway = connect(app, world.clock, not_now)
    assert gateway.branch_head(world.repo, "main") is not None
    assert asked == []
    with pytest.raises(RetryAt, match="too soon"):
        dispatch(world, "ab-1", first=True, gateway=gateway)
    with pytest.raises(RetryAt, match="too soon"):
        dispatch(world, "ab-1", first=False, gateway=gateway)
    assert asked == [world.app["installation_id"]] * 2
    assert world.written() == []
    gateway.close()


def test_a_persons_run_with_the_same_name_is_not_taken_for_ours(world: World) -> None:
    with_workflow(world)
    world.person("mia", "admin")
    path = "/actions/workflows/twogate.yml/dispatches"
    world.ask("mia", "POST", path, {"ref": "main", "inputs": {"job": "ab-1"}})
    assert world.gateway.find_run(world.repo, "twogate.yml", "ab-1") is None
    assert dispatch(world, "ab-1", first=False) != runs(world)[-1]["id"]


def test_an_old_server_tells_no_run_and_the_next_try_finds_it(
    server: Canned, clock: Clock, private_key: str, repo: Repo
) -> None:
    dispatches = "POST /repos/acme/shop/actions/workflows/twogate.yml/dispatches"
    unknown = {"message": 'Invalid request.\n\n"return_run_details" is not a permitted key.'}
    server.on(dispatches, Answer(422, unknown), Answer(204))
    run = {"id": 3, "display_title": "twogate ab-1", "actor": {"id": 77}, "status": "queued"}
    listed = "GET /repos/acme/shop/actions/workflows/twogate.yml/runs"
    server.on(listed, Answer(200, {"workflow_runs": []}), Answer(200, {"workflow_runs": [run]}))
    gateway = connect(App(id=1, private_key=private_key, api_url=server.url, api_version=OLD_VERSION), clock)
    with pytest.raises(Transient, match="looked for"):
        gateway.ensure_dispatch(repo, "twogate.yml", "main", {"job": "ab-1"}, marker="ab-1", first=True)
    with pytest.raises(RetryAt):
        gateway.ensure_dispatch(repo, "twogate.yml", "main", {"job": "ab-1"}, marker="ab-1", first=False)
    assert gateway.ensure_dispatch(repo, "twogate.yml", "main", {"job": "ab-1"}, marker="ab-1", first=False) == 3
    assert [body for line, _, body in server.seen if line == dispatches] == [
        {"ref": "main", "inputs": {"job": "ab-1"}, "return_run_details": True},
        {"ref": "main", "inputs": {"job": "ab-1"}},
    ]
    gateway.close()


def test_the_older_api_version_tells_the_run_when_asked(world: World) -> None:
    with_workflow(world)
    app = App(
        id=world.app["app_id"],
        private_key=world.app["private_key"],
        api_url=world.standin.api_url,
        api_version=OLD_VERSION,
    )
    gateway = connect(app, world.clock)
    assert dispatch(world, "ab-1", first=True, gateway=gateway) == runs(world)[0]["id"]
    gateway.close()


def test_a_workflow_that_is_not_there_is_missing(world: World) -> None:
    with pytest.raises(Missing):
        dispatch(world, "ab-1", first=True)


def test_a_run_that_has_ended_is_as_wanted(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    cancel = "POST /repos/acme/shop/actions/runs/3/cancel"
    server.on(cancel, Answer(409, {"message": "Cannot cancel a workflow run that is completed."}))
    gateway.cancel_run(repo, 3)
    server.on(cancel, Answer(403, {"message": "Resource not accessible by integration"}))
    with pytest.raises(Permanent):
        gateway.cancel_run(repo, 3)


def test_a_comment_is_edited(world: World) -> None:
    made = world.gateway.ensure_comment(world.repo, world.issue(), "k", "one", first=True)
    edited = world.gateway.edit_comment(world.repo, made.id, marked("k", "two"))
    assert edited.body == marked("k", "two")
    assert world.gateway.comment(world.repo, made.id) == edited


def test_a_branch_is_removed_only_where_it_is_known_to_be(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    assert not world.gateway.delete_branch(world.repo, "plan/1", "f" * 40)
    assert world.gateway.branch_head(world.repo, "plan/1") == head
    assert world.gateway.delete_branch(world.repo, "plan/1", head)
    assert world.gateway.branch_head(world.repo, "plan/1") is None
    assert world.gateway.delete_branch(world.repo, "plan/1", head)


def test_no_other_branch_is_ever_removed(world: World) -> None:
    head = world.gateway.branch_head(world.repo, "main")
    assert head is not None
    for branch in ("main", "plan", "feature/plan/1", "plan/../main"):
        with pytest.raises(Permanent):
            world.gateway.delete_branch(world.repo, branch, head)
    assert world.gateway.branch_head(world.repo, "main") == head
    assert world.written() == []


def test_a_push_token_is_narrow_and_can_be_revoked_twice(world: World) -> None:
    token, ends_at = world.gateway.mint_push_token(world.repo)
    known = world.standin.hub.resolve_token(token)
    assert known is not None
    assert known.repository_ids == frozenset({world.repo.id})
    assert {k: v for k, v in known.permissions.items() if k != "metadata"} == {"contents": "write"}
    assert 3000 < ends_at - world.clock.now < 3700
    world.gateway.revoke_token(token)
    assert world.standin.hub.resolve_token(token) is None
    world.gateway.revoke_token(token)


def test_failed_deliveries_are_asked_for_again(server: Canned, gateway: GitHubGateway) -> None:
    def row(number: int, guid: str, status: str, at: str) -> dict[str, Any]:
        return {"id": number, "guid": guid, "status": status, "delivered_at": at}

    page_one = [
        row(9, "lost", "failed to connect to host", "2026-11-29T12:00:00Z"),
        row(8, "healed", "OK", "2026-11-29T11:00:00Z"),
        row(7, "lost", "timed out", "2026-11-29T10:30:00.125Z"),
    ]
    page_two = [
        row(6, "healed", "timed out", "2026-11-29T10:00:00Z"),
        row(5, "gone", "timed out", "2026-11-29T09:59:00Z"),
        row(1, "old", "timed out", "2026-11-25T00:00:00Z"),
    ]
    link = {"Link": f'<{server.url}/app/hook/deliveries?cursor=v1_6&per_page=100>; rel="next"'}
    server.on("GET /app/hook/deliveries", Answer(200, page_one, link), Answer(200, page_two, link))
    server.on("POST /app/hook/deliveries/9/attempts", Answer(202, {}))
    assert gateway.redeliver_failed(seconds("2026-11-28T00:00:00Z")) == 1
    attempts = [line for line, _headers, _body in server.seen if line.startswith("POST /app/hook")]
    assert attempts == [f"POST /app/hook/deliveries/{n}/attempts" for n in (9, 5)]
    assert server.asked("GET /app/hook/deliveries") == 2, "what is older is not read"


def test_an_app_that_is_installed_nowhere_knows_itself(server: Canned, gateway: GitHubGateway) -> None:
    server.on("GET /app/installations", Answer(200, []))
    assert gateway.identity().bot_user_id == 77
    asked = [headers for line, headers, _ in server.seen if line == "GET /users/twogate%5Bbot%5D"]
    assert "Authorization" not in asked[0]
    assert gateway.identity().slug == "twogate"
    assert server.asked("GET /app") == 1
