"""The repository's policy file: a text -> its keys and values, or the first line with a fault.

The keys are in :mod:`.policy_keys`, their limits in :mod:`.policy_values`, the faults in words in
:mod:`.policy_faults`; :mod:`.policy` makes the resolved policy of it.
A key that this release does not honour is an error that says so, never silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bot.lifecycle.policy_faults import PolicyError, contradictions, in_words, named, without_value
from bot.lifecycle.policy_keys import PolicyFile
from bot.lifecycle.strict_yaml import Document, YamlError, load

if TYPE_CHECKING:
    from bot.lifecycle.policy_faults import Fault
    from bot.lifecycle.strict_yaml import Data


def read(text: str, defaults: str = "") -> PolicyFile:
    """Return the file's content; raises :class:`PolicyError` for the first line with a fault. Empty means defaults.

    ``defaults`` is the text of a valid file: each of its keys holds where this one does not have that key.
    """
    document = _document(text)
    faults: list[Fault] = [
        (path, "has no value; take the key out to keep the default") for path in without_value(document.data)
    ]
    if not faults:
        try:
            file = PolicyFile.model_validate(_over(document.data, _document(defaults).data))
        except ValidationError as error:
            faults = [in_words(e) for e in error.errors(include_url=False)]
        else:
            faults = list(contradictions(file))
            if not faults:
                return file
    path, reason = min(faults, key=lambda fault: document.line(fault[0]))
    elsewhere = "" if not path or path[:1] in document.lines else ", which the organisation's defaults set,"
    raise PolicyError(document.line(path), f"{named(path)}{elsewhere} {reason}")


def _over(data: Data, defaults: Data) -> Data:
    """Return the keys of both; a key that both have is the first one's, whole."""
    return {**defaults, **data} if isinstance(data, dict) and isinstance(defaults, dict) else data


def _document(text: str) -> Document:
    try:
        document = load(text)
    except YamlError as error:
        raise PolicyError(error.line, error.reason) from None
    return Document({} if document.data is None else document.data, document.lines)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the file, for editors."""
    schema = PolicyFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Twogate policy"}
