"""OpenAI Responses: ``POST /v1/responses``; the usage comes with the last event, ``response.completed`` as a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.meter.wire import openai
from runner.meter.wire.base import Ask, Reader, limit, name, objects, shown, table
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
OWN_TOOLS = frozenset({"function", "custom", "local_shell", "shell", "apply_patch", "namespace", "tool_search"})
"""Tools that the client runs by itself; any other runs at the provider."""
UNPRICED = frozenset({"code_interpreter_call", "image_generation_call"})
"""Items of an answer that cost money of which the price table knows nothing."""
UNPRICED_TOOLS = frozenset({"code_interpreter", "image_generation"})
"""Tools that bring them: a picture can cost a hundred times the tokens of its call."""
LOCAL = "local"
UNCOUNTED = "This tool of the provider is not passed on, since what it costs beside tokens could not be counted."
STORED = ("previous_response_id", "conversation", "prompt")
"""Fields by which a request takes input that it does not show."""
ENDLESS = "background: true is not passed on, since what it costs could not be counted. Ask for the answer at once."


class Responses:
    """The format of ``/v1/responses``."""

    api: Api = Api.RESPONSES
    first = "/v1"
    headers: tuple[str, ...] = openai.HEADERS

    def is_call(self, method: str, path: str) -> bool:
        """Return whether this is a call to a model."""
        return (method, path) == ("POST", "/v1/responses")

    def is_free(self, method: str, path: str) -> bool:
        """Return whether this is the list of models."""
        return openai.is_models(method, path)

    def ask(self, path: str, body: dict[str, Any]) -> Ask:  # noqa: ARG002 - the model is in the body
        """Return what a call asks for."""
        tools = list(_tools(body))
        unpriced = any(map(_is_unpriced, tools))
        kept = any(body.get(field) for field in STORED) or any(map(_is_reference, objects(body.get("input"))))
        pictures, files = shown(body)
        return Ask(
            model=name(body.get("model")),
            output=limit(body, "max_output_tokens"),
            hidden=any(tool.get("type") not in OWN_TOOLS for tool in tools),
            stored=kept or files,
            pictures=pictures,
            variant=openai.asked_tier(body.get("service_tier")),
            refusal=ENDLESS if body.get("background") else UNCOUNTED if unpriced else None,
        )

    def prepare(self, body: dict[str, Any]) -> None:
        """Return None: the usage is always told."""

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        return _Reader()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal."""
        return openai.error(status, sentence)


def _tools(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tools of a request: its own, those that its input adds, and those within namespaces."""
    waiting = [body, *objects(body.get("input"))]
    while waiting:
        found = objects(waiting.pop().get("tools"))
        yield from found
        waiting += found


def _is_unpriced(tool: dict[str, Any]) -> bool:
    """Return whether a tool costs beside its tokens what nobody tells; a shell does where it runs at the provider."""
    place = table(tool, "environment").get("type", LOCAL)
    return tool.get("type") in UNPRICED_TOOLS or (tool.get("type") == "shell" and place != LOCAL)


def _is_reference(item: dict[str, Any]) -> bool:
    """Return whether an item of the input stands for one that the provider keeps."""
    return item.get("type") == "item_reference" or item.keys() <= {"id", "type"}


class _Reader(Reader):
    def take(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "response.created":
            self.named(table(event, "response").get("model"))
        elif kind == "response.output_item.done":
            self._item(table(event, "item"))
        elif kind in LAST:
            self._whole(table(event, "response"))
        elif kind == "error":
            self.failed = True
        elif event.get("object") == "response":
            for item in objects(event.get("output")):
                self._item(item)
            self._whole(event)

    def _whole(self, response: dict[str, Any]) -> None:
        self.named(response.get("model"))
        self.failed |= response.get("status") == "failed"
        openai.learn_tier(self, response.get("service_tier"))
        openai.learn(self, table(response, "usage"), "input_tokens", "output_tokens")

    def _item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        self.say("tool", item.get("name"))
        self.say("arguments", item.get("arguments") or item.get("input"))
        self.say("action", str(item["action"]) if item.get("action") else None)
        for part in objects(item.get("content")) if kind == "message" else ():
            self.say("text", part.get("text"))
        if kind == "web_search_call" and table(item, "action").get("type", "search") == "search":
            self.counts["web_searches"] = self.counts.get("web_searches", 0) + 1
        elif kind == "file_search_call":
            self.counts["file_searches"] = self.counts.get("file_searches", 0) + 1
        self.extras |= kind in UNPRICED
