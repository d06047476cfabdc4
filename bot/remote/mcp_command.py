"""``twogate mcp``: the MCP server, over stdio for one person, or over HTTP for everybody who brings a token."""

from __future__ import annotations

import argparse
import os

from bot.arguments import WELL
from bot.remote import where
from bot.remote.client import Client

MOST_PORTS = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--url", help="the bot's address (TWOGATE_URL)")
    parser.add_argument(
        "--no-decide", dest="decide", action="store_false", help="leave out the tool that approves and rejects"
    )
    parser.add_argument(
        "--http", type=_listen, metavar="HOST:PORT", help="serve HTTP under /mcp there; without it, stdin and stdout"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the other side ends, or until SIGTERM."""
    from bot.remote import mcp_http, mcp_tools  # noqa: PLC0415 - seconds to load, and no other command needs them

    if arguments.http is None:
        access = where.access(os.environ, arguments.url)
        mcp_tools.server(lambda _: Client(access, via="mcp"), decides=arguments.decide).run("stdio")
    else:
        mcp_http.serve(
            where.address(arguments.url or os.environ.get("TWOGATE_URL", "")), *arguments.http, decides=arguments.decide
        )
    return WELL


def _listen(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) <= MOST_PORTS):
        raise argparse.ArgumentTypeError(f"{text!r} is no address to listen at: write it as 127.0.0.1:8090")
    return host.strip("[]"), int(port)
