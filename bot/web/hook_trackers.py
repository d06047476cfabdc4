"""Messages of trackers in their own shape, brought into the one that ``/hooks/issue`` documents.

Each is recognised by what its sender always writes, and only what tells of a new report is one:

- Linear (developers/webhooks): ``type: Issue``, ``action: create``, the issue in ``data``;
- Jira (platform/webhooks): ``webhookEvent: jira:issue_created``, the issue in ``issue.fields``;
- Sentry (integration-platform/webhooks): an issue alert (``data.event``), or ``action: created`` with ``data.issue``.

Fields are read tolerantly, as everywhere: what is missing or of another shape is absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

JIRA_CREATED = "jira:issue_created"


def ours(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return a message in our shape, as it is where it is in no other; None where it tells of no new report."""
    data = body.get("data")
    if isinstance(body.get("webhookEvent"), str):
        return _jira(_object(body.get("issue"))) if body["webhookEvent"] == JIRA_CREATED else None
    if not isinstance(data, dict) or not isinstance(body.get("action"), str):
        return body
    if isinstance(body.get("type"), str):
        return _linear(data) if (body["type"], body["action"]) == ("Issue", "create") else None
    if body["action"] == "triggered":
        return _sentry_event(_object(data.get("event")))
    return _sentry_issue(_object(data.get("issue"))) if body["action"] == "created" else None


def _linear(issue: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": _named("linear", issue.get("id")),
        "title": issue.get("title"),
        "body": issue.get("description"),
        "url": issue.get("url"),
    }


def _jira(issue: Mapping[str, Any]) -> dict[str, Any]:
    fields = _object(issue.get("fields"))
    return {
        "id": _named("jira", issue.get("id")),
        "title": fields.get("summary"),
        "body": fields.get("description"),
        "environment": fields.get("environment"),
        "url": _browsed(issue.get("self"), issue.get("key")),
    }


def _browsed(api: Any, key: Any) -> str:
    """Return where people see an issue of Jira, of whose address a message holds that of the API alone."""
    try:
        parts = urlsplit(api if isinstance(api, str) else "")
    except ValueError:
        return ""
    path = parts.path.partition("/rest/")[0]
    return f"{parts.scheme}://{parts.netloc}{path}/browse/{key}" if parts.netloc and isinstance(key, str) else ""


def _sentry_event(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an event for which an alert was raised: one report an issue of Sentry's, however many events it has."""
    if not event:
        return None
    contexts, request = _object(event.get("contexts")), _object(event.get("request"))
    used = [_object(contexts.get(name)) for name in ("browser", "os")]
    return {
        "id": _named("sentry", event.get("issue_id")),
        "title": event.get("title"),
        "body": "\n\n".join(each for each in (event.get("culprit"), event.get("message")) if isinstance(each, str)),
        "console": [line for line in map(_raised, _list(_object(event.get("exception")).get("values"))) if line],
        "page": request.get("url"),
        "environment": ", ".join(
            f"{each['name']} {each.get('version', '')}".strip() for each in used if "name" in each
        ),
        "url": event.get("web_url"),
    }


def _sentry_issue(issue: Mapping[str, Any]) -> dict[str, Any] | None:
    if not issue:
        return None
    return {
        "id": _named("sentry", issue.get("id")),
        "title": issue.get("title"),
        "body": issue.get("culprit"),
        "url": issue.get("permalink") or issue.get("web_url"),
    }


def _raised(exception: Any) -> str:
    said = _object(exception)
    return f"{said.get('type', '')}: {said.get('value', '')}" if said else ""


def _named(tracker: str, name: Any) -> str | None:
    """Return an id that is the tracker's alone; None without one."""
    return f"{tracker}:{name}" if isinstance(name, str | int) and name != "" else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
