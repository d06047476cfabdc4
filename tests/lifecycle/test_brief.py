"""A plan in brief says what the plan says."""

from __future__ import annotations

from bot.lifecycle.brief import LONGEST_SENTENCE, Brief
from bot.lifecycle.plan import Failure, Hold, Recommended, Revision, repository_of
from bot.lifecycle.states import Gate, HoldCause, State, WaitingOn
from runner.contract import JobKind, Outcome
from runner.results import Recommendation
from tests.lifecycle.makers import ALICE, REPO, document, new_plan


def test_a_plan_that_is_only_asked_for_has_the_issues_title_and_asks_nobody() -> None:
    brief = Brief.of(new_plan())
    assert (brief.title, brief.repo, brief.requester, brief.state) == ("Greet in French", REPO, ALICE, State.DRAFT)
    assert (brief.revision, brief.asked, brief.asked_since, brief.held, brief.failure, brief.ideas) == (
        None,
        None,
        None,
        (),
        "",
        (),
    )
    assert brief.agent == "claude"


def test_a_plan_at_its_gate_says_since_when_and_what_else_was_recommended() -> None:
    idea = Recommended(what=Recommendation(title="Tidy up", reason="Untidy."))
    shown = Revision(number=1, document=document(title="Say bonjour"), sha256="f" * 64, posted_at=150.0)
    plan = new_plan().model_copy(
        update={
            "revisions": (shown,),
            "waiting_on": WaitingOn.PLAN_DECISION,
            "recommended": (idea.model_copy(update={"issue": 8}), idea),
            "hold": Hold(causes=(HoldCause.LABEL_PAUSED,), at=1.0),
            "failure": Failure(outcome=Outcome.LOST, sentence="x" * 400, during=JobKind.PLAN),
        }
    )
    brief = Brief.of(plan)
    assert (brief.title, brief.revision, brief.asked, brief.asked_since) == ("Say bonjour", 1, Gate.PLAN, 150.0)
    assert [(each.number, each.title) for each in brief.ideas] == [(2, "Tidy up")]
    assert (brief.held, len(brief.failure)) == ((HoldCause.LABEL_PAUSED,), LONGEST_SENTENCE)


def test_a_lane_names_its_repository_where_it_belongs_to_one() -> None:
    assert [repository_of(lane) for lane in ("500:12", "pull:500:7", "installation:7")] == [500, 500, None]
