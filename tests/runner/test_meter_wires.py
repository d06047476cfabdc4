"""What the readers of the wire formats make of the rarer things that cost money."""

from __future__ import annotations

from typing import Any

import pytest

from runner.agents.base import Call
from runner.meter.wire import WIRES
from runner.meter.wire.base import MOST_OUTPUT, Ask
from runner.meter.wire.chat import SPOKEN
from runner.meter.wire.gemini import SPOKEN as WORDLESS
from runner.meter.wire.gemini import TWICE
from runner.meter.wire.responses import UNCOUNTED
from runner.terms import Api

ASK = Ask("m")
GENERATE = "/v1beta/models/g:generateContent"


def read(api: Api, *events: dict[str, Any]) -> Call:
    reader = WIRES[api].reader()
    for event in events:
        reader.take(event)
    found = reader.call(ASK)
    assert found is not None
    return found


def anthropic(**usage: Any) -> Call:
    counts = {"input_tokens": 10, "output_tokens": 5, **usage}
    return read(Api.ANTHROPIC, {"type": "message", "model": "m", "content": [], "usage": counts})


def test_a_compaction_is_billed_beside_the_message() -> None:
    more = {
        "input_tokens": 48,
        "cache_read_input_tokens": 2615,
        "cache_creation_input_tokens": 50090,
        "output_tokens": 496,
    }
    parts = [{"type": "compaction", **more}, {"type": "message", "input_tokens": 10, "output_tokens": 5}]
    assert anthropic(iterations=parts) == Call("m", 58, 501, 2615, 50090)
    start = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 10, "output_tokens": 1}}}
    delta = {"type": "message_delta", "usage": {"output_tokens": 5, "iterations": parts}}
    assert read(Api.ANTHROPIC, start, delta, delta) == Call("m", 58, 501, 2615, 50090)


def test_another_models_part_and_dearer_places_make_it_at_least() -> None:
    assert anthropic(iterations=[{"type": "advisor_message", "model": "x", "input_tokens": 1}]).extras
    assert anthropic(inference_geo="us").extras
    assert anthropic(server_tool_use={"code_execution_requests": 1}).extras
    assert not anthropic(server_tool_use={"code_execution_requests": 0, "web_fetch_requests": 3}).extras
    assert not anthropic(inference_geo="global", service_tier="standard").extras


def test_searches_caches_of_an_hour_and_speed_are_read() -> None:
    made = anthropic(
        server_tool_use={"web_search_requests": 2},
        cache_creation_input_tokens=100,
        cache_creation={"ephemeral_1h_input_tokens": 60, "ephemeral_5m_input_tokens": 40},
        speed="fast",
    )
    assert made == Call("m", 10, 5, 0, 100, 60, web_searches=2, variant=("speed", "fast"))


def test_the_tools_of_responses_are_read() -> None:
    items = [
        {"type": "web_search_call", "action": {"type": "search", "query": "q"}},
        {"type": "web_search_call", "action": {"type": "open_page"}},
        {"type": "file_search_call"},
        {"type": "code_interpreter_call"},
    ]
    usage = {
        "input_tokens": 100,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 20},
    }
    done = {"object": "response", "model": "m", "status": "completed", "service_tier": "flex", "usage": usage}
    events = [{"type": "response.output_item.done", "item": item} for item in items]
    found = read(Api.RESPONSES, *events, {"type": "response.completed", "response": {**done, "output": items}})
    assert found == Call(
        "m", 50, 5, 30, 20, web_searches=1, file_searches=1, variant=("service_tier", "flex"), extras=True
    )


def test_geminis_searches_are_billed_by_query_and_of_older_models_by_prompt() -> None:
    def searched(model: str) -> Call:
        grounding = {"webSearchQueries": ["", "a", "b", "a"]}
        candidate = {"content": {"parts": []}, "finishReason": "STOP", "groundingMetadata": grounding}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "toolUsePromptTokenCount": 7}
        return read(Api.GEMINI, {"modelVersion": model, "candidates": [candidate], "usageMetadata": usage})

    assert searched("gemini-3.8-flash") == Call("gemini-3.8-flash", 17, 5, web_searches=2)
    assert searched("gemini-2.5-pro").web_searches == 1


def adding(tool: str) -> dict[str, Any]:
    return {"type": "additional_tools", "tools": [{"type": "namespace", "tools": [{"type": tool}]}]}


def hosted(place: str) -> dict[str, Any]:
    return {"type": "shell", "environment": {"type": place}}


def document(source: str) -> dict[str, Any]:
    return {"messages": [{"content": [{"type": "document", "source": {"type": source}}]}]}


@pytest.mark.parametrize(
    ("api", "path", "body", "expected"),
    [
        (Api.ANTHROPIC, "", {"model": "m", "max_tokens": 9}, Ask("m", 9)),
        (Api.ANTHROPIC, "", {"tools": [{"name": "x"}, {"type": "bash_20250124"}]}, Ask(None)),
        (Api.ANTHROPIC, "", {"tools": [{"type": "web_search_20250305"}]}, Ask(None, hidden=True)),
        (Api.ANTHROPIC, "", {"system": [{"cache_control": {"ttl": "1h"}}]}, Ask(None, long_cache=True)),
        (Api.ANTHROPIC, "", {"speed": "fast"}, Ask(None, variant=("speed", "fast"))),
        (Api.RESPONSES, "", {"previous_response_id": "r"}, Ask(None, stored=True)),
        (Api.RESPONSES, "", {"input": [{"id": "rs_1"}]}, Ask(None, stored=True)),
        (
            Api.RESPONSES,
            "",
            {"input": [{"content": [{"type": "input_file", "file_url": "u"}]}]},
            Ask(None, stored=True),
        ),
        (Api.RESPONSES, "", {"input": [{"content": [{"type": "input_image"}] * 2}]}, Ask(None, pictures=2)),
        (Api.RESPONSES, "", {"service_tier": "flex"}, Ask(None)),
        (Api.RESPONSES, "", {"tools": [{"type": "function"}, {"type": "custom"}]}, Ask(None)),
        (Api.RESPONSES, "", {"tools": [{"type": "web_search"}]}, Ask(None, hidden=True)),
        (Api.RESPONSES, "", {"tools": [{"type": "image_generation"}]}, Ask(None, hidden=True, refusal=UNCOUNTED)),
        (Api.RESPONSES, "", {"input": [adding("web_search")]}, Ask(None, hidden=True)),
        (Api.RESPONSES, "", {"input": [adding("code_interpreter")]}, Ask(None, hidden=True, refusal=UNCOUNTED)),
        (Api.RESPONSES, "", {"input": [adding("function")]}, Ask(None)),
        (Api.RESPONSES, "", {"tools": [hosted("container_auto")]}, Ask(None, refusal=UNCOUNTED)),
        (Api.RESPONSES, "", {"tools": [hosted("local")]}, Ask(None)),
        (Api.GEMINI, GENERATE, {"tools": [{"googleMaps": {}}]}, Ask("g", hidden=True, extras=True)),
        (Api.RESPONSES, "", {"service_tier": "priority"}, Ask(None, variant=("service_tier", "priority"))),
        (Api.CHAT, "", {"max_tokens": 10, "n": 3}, Ask(None, 30, answers=3)),
        (Api.CHAT, "", {"max_tokens": True}, Ask(None, MOST_OUTPUT)),
        (Api.CHAT, "", {"max_tokens": 0}, Ask(None, MOST_OUTPUT)),
        (Api.CHAT, "", {"max_completion_tokens": 5, "max_tokens": 50}, Ask(None, 50)),
        (Api.CHAT, "", {"max_completion_tokens": 5, "max_tokens": "900"}, Ask(None, MOST_OUTPUT)),
        (Api.CHAT, "", {"max_tokens": 10, "n": "3"}, Ask(None, 1280, answers=128)),
        (Api.CHAT, "", {"max_tokens": 10, "n": 1.0}, Ask(None, 1280, answers=128)),
        (Api.CHAT, "", {"modalities": ["text", "audio"]}, Ask(None, refusal=SPOKEN)),
        (Api.CHAT, "", {"messages": [{"content": [{"type": "input_audio"}]}]}, Ask(None, stored=True)),
        (Api.ANTHROPIC, "", document("url"), Ask(None, stored=True)),
        (Api.ANTHROPIC, "", document("text"), Ask(None)),
        (Api.GEMINI, "/v1beta/models/g:generateContent", {"cachedContent": "c"}, Ask("g", stored=True)),
        (Api.GEMINI, GENERATE, {"tools": {"googleSearch": {}}}, Ask("g", hidden=True)),
        (Api.GEMINI, GENERATE, {"contents": {"parts": {"fileData": {"fileUri": "u"}}}}, Ask("g", stored=True)),
        (
            Api.GEMINI,
            GENERATE,
            {"contents": {"parts": [{"inlineData": {"mimeType": "image/png"}}]}},
            Ask("g", pictures=1),
        ),
        (
            Api.GEMINI,
            GENERATE,
            {"contents": {"parts": [{"inlineData": {"mimeType": "audio/mp3"}}]}},
            Ask("g", stored=True),
        ),
        (
            Api.GEMINI,
            GENERATE,
            {"generationConfig": {"maxOutputTokens": 5, "candidateCount": "8"}},
            Ask("g", 40, answers=8),
        ),
        (Api.GEMINI, GENERATE, {"generationConfig": {"responseModalities": ["IMAGE"]}}, Ask("g", refusal=WORDLESS)),
        (Api.GEMINI, GENERATE, {"generationConfig": {"a": 1}, "generation_config": {"a": 1}}, Ask("g", refusal=TWICE)),
        (Api.GEMINI, "/v1beta/models/g:streamGenerateContent", {"tools": [{"functionDeclarations": []}]}, Ask("g")),
        (Api.GEMINI, "/v1beta/models/g:generateContent", {"generationConfig": {"maxOutputTokens": 7}}, Ask("g", 7)),
    ],
)
def test_what_a_request_can_cost_is_read_from_it(api: Api, path: str, body: dict[str, Any], expected: Ask) -> None:
    assert WIRES[api].ask(path, body) == expected


@pytest.mark.parametrize("asked", [("service_tier", "flex"), ("service_tier", "priority")])
def test_the_tier_that_an_answer_names_is_the_one_that_is_billed(asked: tuple[str, str]) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    reader = WIRES[Api.CHAT].reader()
    reader.take({"choices": [], "service_tier": "default", "usage": usage})
    assert reader.call(Ask("m", variant=asked)) == Call("m", 10, 5)


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize("junk", [{}, {"usage": []}, {"type": "message_delta", "usage": 3}, {"choices": [None, 1, {}]}])
def test_nonsense_is_passed_over(api: Api, junk: dict[str, Any]) -> None:
    reader = WIRES[api].reader()
    for event in (junk, {**junk, "candidates": [{"content": 1}], "response": "x", "message": [], "delta": "y"}):
        reader.take(event)
    assert (reader.call(ASK), reader.complete, reader.digest()) == (None, False, None)
