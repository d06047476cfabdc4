"""A GitHub on loopback for tests: REST, GraphQL, webhooks, git, OIDC and Actions over real HTTP, with state.

Start it::

    with StandIn(home, clock=time.time, seed=0, conformance=True) as standin:   # or .start(port) and .stop()
        standin.url              http://127.0.0.1:PORT; git at /owner/name.git, pages at /owner/name/issues/1, /pull/2
        standin.api_url          .../api/v3: the ``base_url`` of githubkit; GraphQL is at /api/graphql
        standin.control          everything a person or GitHub's own pages do: ``control.Control``
        standin.faults           ``add(kind, ...)``: see ``faults``
        standin.journal          every API request: ``entries``, ``counters()`` (reads and writes by actor)
        standin.problems         what was unlike GitHub's own descriptions; must stay empty
        standin.hub              the state: ``model.Hub``, records in ``entities``

or as a process: ``python -m tests.standin --home DIR [--port N] [--webhook-url URL] [--conformance]``, which prints one
JSON line. The control API over HTTP is ``POST /_control/<method of Control>`` with the arguments as a JSON object, for
what only looks also ``GET``: log, counters, threads, deliveries, faults, problems. A usual start::

    control.create_organization("acme")
    control.create_repository("acme/shop", source="/path/to/repo")      # or without source: one first commit
    mia = control.create_user("mia")                                    # {"id", "login", "token"}
    control.set_role("acme/shop", "mia", "write")
    app = control.create_app("twogate", "acme", webhook_url=url)
    # {"app_id", "client_id", "slug", "bot_id", "private_key", "webhook_secret", "installation_id"}

    httpx.post(f"{standin.api_url}/repos/acme/shop/issues", headers={"Authorization": f"token {mia['token']}"}, ...)
    control.press("acme/shop", check_run_id, "mia", "approve")          # a check run's button
    control.add_fault("error_after", method="POST", path="/comments$", count=1, status=502)
    control.add_fault("duplicate", event="issues.labeled", count=None, probability=0.3)
    control.drain()                                                     # until all queued webhooks are sent
    control.page("acme/shop", 1, "thread.html")                         # what a person would see

Building blocks for the parts of this package::

    hub.lock                                    re-entrant; API handlers hold it; hold it while you change records
    hub.repo(owner, name), hub.repo_by_id(id)   Repo | None
    hub.git_dir(repo)                           the bare repository (named by id)
    hub.resolve_token(raw)                      Token | None (unknown, expired, revoked, suspended)
    hub.token_covers(token, repo)               reaches the repository at all; if not, the answer is 404
    hub.token_allows(token, repo, "contents", "write", role=None)
    hub.create_workflow_token(repo, {"contents": "read"}).raw
    hub.emit(event, payload, repo, sender=user) queues a signed webhook; fills in repository, sender, installation
    hub.listeners.append(f)                     f(event, payload, repo) on every emit
    pushes.announce(hub, repo, ref, before, after, sender)
                                                call after a ref moved: push, pull_request.synchronize or .closed
    http.Api(name, hub).route(method, rule, operation)
                                                decorator: authenticates, finds the repository, locks, renders refusals

What it cannot know (GitHub does not say): see ``conformance.EXPLAINED`` for differences that are meant. Comment and
issue ids lie above 2**31 as GitHub's do, so GraphQL's ``databaseId`` (an Int) of these is an error: use ``id`` or
``fullDatabaseId``.
"""

from tests.standin.server import StandIn

__all__ = ["StandIn"]
