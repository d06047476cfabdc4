"""GraphQL documents against GitHub's own schema."""

from __future__ import annotations

import functools

from graphql import GraphQLError, GraphQLSchema, build_schema, parse, validate


@functools.cache
def _schema(text: str) -> GraphQLSchema:
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)


def check_document(schema: str, document: str) -> list[str]:
    """What GitHub would refuse in a document."""
    try:
        return [error.message for error in validate(_schema(schema), parse(document))]
    except GraphQLError as error:
        return [error.message]
