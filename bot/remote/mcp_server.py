"""An MCP server that tells agents in sentences why a call was not carried out, and what to do next."""

from __future__ import annotations

import inspect
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations

NAME, TITLE = "twogate", "Twogate"


class Server(MCPServer[Any]):
    """Serves tools; the docstring of each is its description. Arguments that no tool has are refused, not passed over.

    A tool refuses by raising :class:`ToolError` with a sentence.
    """

    def __init__(self, tools: Mapping[Callable[..., Any], ToolAnnotations], instructions: str) -> None:
        self._known = {fn.__name__: _tool(fn, hints) for fn, hints in tools.items()}
        super().__init__(
            NAME,
            title=TITLE,
            version=version(NAME),
            instructions=instructions,
            tools=list(self._known.values()),
            log_level="WARNING",
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises :class:`ToolError`."""
        tool = self._known.get(name)
        if tool is None:
            raise ToolError(f"There is no tool {name!r} here. There are: {', '.join(self._known)}.")
        strange = arguments.keys() - tool.parameters["properties"].keys()
        if strange:
            raise ToolError(_misfit(tool, [f"`{each}` is no argument of it" for each in sorted(strange)]))
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise UnexpectedToolError(
                f"`{name}` failed by a fault of this server, which wrote down the details. Whether it did anything is "
                "not known: look with `plan_status` before you call it again, and tell the person."
            ) from error
        except ToolError as error:
            raise ToolError(_sentence(tool, error.__cause__)) from error


def _tool(fn: Callable[..., Any], hints: ToolAnnotations) -> Tool:
    made = Tool.from_function(fn, title=hints.title, description=inspect.getdoc(fn), annotations=hints)
    made.parameters["additionalProperties"] = False
    return made


def _sentence(tool: Tool, cause: BaseException | None) -> str:
    if isinstance(cause, ValidationError):
        return _misfit(tool, [_fault(tool, each["loc"], each["msg"]) for each in cause.errors(include_url=False)])
    return str(cause)


def _fault(tool: Tool, place: tuple[int | str, ...], why: str) -> str:
    name = str(place[0]) if place else ""
    means = tool.parameters["properties"].get(name, {}).get("description", "")
    return f"`{name}`: {why} ({means.rstrip('.')})" if means else f"`{name}`: {why}"


def _misfit(tool: Tool, faults: list[str]) -> str:
    """Return what is wrong with arguments, and which there are."""
    needed = tool.parameters.get("required", [])
    taken = [f"`{name}`{'' if name in needed else ' (optional)'}" for name in tool.parameters["properties"]]
    return f"`{tool.name}` was not called. {'; '.join(faults)}. It takes {', '.join(taken)}: call it again with these."
