"""One request of an agent: read within bounds, known by its key, understood."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from runner.meter.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedIOBase

PAGES = ("after_id", "before_id", "limit", "pageSize", "pageToken")
"""Names in a query that page through a list of models."""
MAX_BODY = 32_000_000
"""Bytes of one request, unpacked; as Anthropic has it, which takes the most."""
MAX_VALUES = 500_000
"""Values in the JSON of one request: more than any conversation holds, and little memory."""
MAX_CHUNK_LINE = 1_024
"""Bytes of a line that gives the size of a chunk."""
HEX = b"0123456789abcdefABCDEF"
"""Of what a chunk's size is made."""
GZIP = 31
"""Window bits by which zlib takes gzip and nothing else."""
QUERIES = frozenset({"api-version", "beta", *PAGES})
"""Names in a query that go on. Others could hide what a call uses: Google's ``fields`` leaves parts of an answer out,
its ``$httpMethod`` and ``$httpHeaders`` make another request of it."""
FORMATS = (("alt", "sse"), ("alt", "json"))
"""Forms of an answer that the meter reads."""
BAD, TOO_LARGE, WRONG_ENCODING = 400, 413, 415


@dataclass(frozen=True, slots=True)
class Request:
    """A request without its key."""

    method: str
    path: str
    """Without the name of the API and the query."""
    query: str
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes

    def parsed(self) -> dict[str, Any]:
        """Return the body as an object; raises :class:`Refusal` where it is none, or could be read in two ways."""
        if sum(map(self.body.count, (b",", b"[", b"{"))) > MAX_VALUES:
            raise Refusal(BAD, f"The request has more than {MAX_VALUES:,} values.")
        try:
            value = json.loads(self.body.decode(), object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            raise Refusal(BAD, f"The request is no JSON that can be metered: {str(error)[:200]}.") from error
        if not isinstance(value, dict):
            raise Refusal(BAD, "The request is no JSON object.")
        return value


def split_query(query: str) -> tuple[str | None, str]:
    """Return the key that a query carries, and what of the query goes on."""
    pairs = parse_qsl(query, keep_blank_values=True)
    key = next((value for name, value in pairs if name == "key"), None)
    return key, urlencode([(name, value) for name, value in pairs if name in QUERIES or (name, value) in FORMATS])


def key_of(headers: Mapping[str, str], in_query: str | None) -> str | None:
    """Return the key of a request, in whichever of the ways it is sent."""
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    sent = (headers.get("x-api-key"), headers.get("x-goog-api-key"), bearer if kind.lower() == "bearer" else None)
    return next((key for key in (*sent, in_query) if key), None)


def read_body(headers: Mapping[str, str], stream: BufferedIOBase) -> bytes:
    """Return the body, unpacked; raises :class:`Refusal` where it is too large or malformed."""
    chunked = headers.get("transfer-encoding", "").lower() == "chunked"
    body = _chunks(stream) if chunked else _counted(headers.get("content-length", "0"), stream)
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise Refusal(WRONG_ENCODING, f"The meter reads gzip or plain requests, not {encoding[:40]!r}.")
    unpack = zlib.decompressobj(GZIP)
    try:
        plain = unpack.decompress(body, MAX_BODY)
    except zlib.error as error:
        raise Refusal(BAD, "The request is no valid gzip.") from error
    if not unpack.eof:
        raise _too_large()
    return plain


def _counted(length: str, stream: BufferedIOBase) -> bytes:
    if not length.isascii() or not length.isdigit():
        raise Refusal(BAD, "Content-Length is no number.")
    if int(length) > MAX_BODY:
        raise _too_large()
    body = stream.read(int(length))
    if len(body) < int(length):
        raise ConnectionError("the client hung up")
    return body


def _chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    while size := _size(stream.readline(MAX_CHUNK_LINE)):
        if len(body) + size > MAX_BODY:
            raise _too_large()
        body += stream.read(size)
        stream.readline(MAX_CHUNK_LINE)
    while stream.readline(MAX_CHUNK_LINE).strip():
        pass
    return bytes(body)


def _size(line: bytes) -> int:
    """Return the size that a chunk's first line gives; a sign, which int() would take, is none."""
    digits = line.split(b";")[0].strip()
    if not digits or digits.strip(HEX):
        raise ConnectionError("the client hung up within a chunk, or gave no size of it")
    return int(digits, 16)


def _too_large() -> Refusal:
    return Refusal(TOO_LARGE, f"A request may have {MAX_BODY // 1_000_000} MB.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found
