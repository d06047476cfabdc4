"""A GitHub on loopback: state, REST, GraphQL, git and webhooks over real HTTP, for tests.

Building blocks for the other modules of this package (``git_remote``, ``oidc``, ``actions``)::

    hub.lock                                    re-entrant; held by API handlers; hold it while you change records
    hub.repo(owner, name) / hub.repo_by_id(id)  Repo | None
    hub.git_dir(repo)                           Path of the bare repository (named by id)
    hub.resolve_token(raw)                      Token | None (None: unknown, expired, revoked, suspended)
    hub.token_covers(token, repo)               reaches the repository at all; False is a 404
    hub.token_allows(token, repo, "contents", "write", role=None)
    hub.create_workflow_token(repo, {"contents": "read"}).raw
    hub.emit(event, payload, repo, sender=user) queues a signed webhook; fills in repository, sender, installation
    hub.listeners.append(f)                     f(event, payload, repo) on every emit, e.g. to start workflows on push
    pushes.announce(hub, repo, ref, before, after, sender)
                                                call after a ref moved: push event, pull_request.synchronize, mergeability
    http.Api(blueprint, hub)                    route decorator: authenticates, locks, maps ApiError to GitHub's JSON
"""

from tests.standin.server import StandIn

__all__ = ["StandIn"]
