"""What the stand-in reads in a workflow file before it runs it."""

import pytest

from tests.standin.workflow_file import DEFAULT_PERMISSIONS, WorkflowError, evaluate, parse

PATH = ".github/workflows/x.yml"


def text(permissions: str = "", first: str = "", second: str = "") -> str:
    jobs = f"jobs:\n  a: {{runs-on: x, {first}}}\n  b: {{runs-on: [x, y], {second}}}\n"
    return f"on: workflow_dispatch\n{permissions}\n{jobs}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (text(), DEFAULT_PERMISSIONS),
        (text("permissions: {}"), {}),
        (text("permissions: {id-token: write}"), {"id-token": "write"}),
        (text("permissions: {issues: write, contents: read}", "permissions: {contents: write}"), {"contents": "read"}),
        (text("", "permissions: write-all", "permissions: {actions: read}"), {"actions": "read"}),
    ],
)
def test_one_token_may_what_every_job_declares(source: str, expected: dict[str, str]) -> None:
    assert parse(PATH, source).permissions == expected


def test_defaults_and_choices_of_inputs() -> None:
    inputs = "on: {workflow_dispatch: {inputs: {a: {default: x}, b: {type: choice, options: [p, q]}}}}\njobs: {}\n"
    workflow = parse(PATH, inputs)
    assert workflow.checked_inputs({"b": "p"}) == {"a": "x", "b": "p"}
    with pytest.raises(WorkflowError, match="not in the list of allowed values"):
        workflow.checked_inputs({"b": "z"})


def test_expressions_are_dotted_names_alone() -> None:
    context = {"inputs": {"x": "${{ inputs.y }}", "y": "never"}}
    assert evaluate("a ${{ inputs.x }}${{inputs.none}}", context) == "a ${{ inputs.y }}"
    with pytest.raises(WorkflowError, match="does not evaluate"):
        evaluate("${{ inputs.x || 'y' }}", {})


@pytest.mark.parametrize("source", ["[", "just text", "on: push\n"])
def test_what_is_no_workflow_is_refused(source: str) -> None:
    with pytest.raises(WorkflowError, match="Invalid workflow file"):
        parse(PATH, source)
