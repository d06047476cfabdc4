"""What every page is made with: who looks, what they may see, and the templates."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flask import Response, g, request, url_for
from jinja2 import Environment, PackageLoader, StrictUndefined

from bot.lifecycle.wording.escape import visible
from bot.web import files
from bot.web.dashboard import shown
from bot.web.people import NOT_VISIBLE
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bot.lifecycle.permission import Permission
    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store
    from bot.web.books import Books
    from bot.web.catalogue import Catalogue
    from bot.web.limits import Limiter
    from bot.web.login import Login
    from bot.web.people import Onlooker, People

WAYS = (
    ("dashboard.queue", "Queue"),
    ("dashboard.ideas", "Ideas"),
    ("dashboard.costs", "Costs"),
    ("dashboard.runners", "Runners"),
    ("dashboard.audit", "Audit log"),
)
"""The pages that every page leads to."""


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("bot.web.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_shown,
    )
    made.filters |= shown.FILTERS
    made.globals |= {**shown.WORDS, "ways": WAYS, "file": files.address, "key": key}
    return made


def _shown(value: object) -> object:
    """Show by its number what can't be seen in text, wherever a template writes any."""
    return visible(value) if type(value) is str else value


@dataclass(frozen=True, slots=True)
class House:
    """What the pages are made of."""

    store: Store
    catalogue: Catalogue
    books: Books
    people: People
    login: Login
    looking: Limiter
    """How often one person may load a page."""
    doing: Limiter
    """How often one person may do something."""
    github: str
    """The address under which GitHub shows repositories, without a slash at its end."""
    now: Callable[[], float]
    templates: Environment = field(default_factory=_environment)

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page. ``values`` are what its template asks for beside who looks."""
        visit: Visit | None = g.get("visit")
        frame = {
            "now": self.now(),
            "github": self.github,
            "person": visit.onlooker.person if visit else None,
            "csrf": self.login.csrf() if visit else "",
            "repositories": visit.names if visit else [],
            "url_for": url_for,
            "request": request,
        }
        html = self.templates.get_template(template).render(**frame, **values)
        return Response(html, status, mimetype="text/html")


@dataclass(frozen=True, slots=True)
class Visit:
    """Who looks at a page, and what GitHub lets them see: repositories by number, and what they may do there."""

    onlooker: Onlooker
    permissions: Mapping[int, Permission]
    known: Mapping[int, Repo]

    @property
    def seen(self) -> set[int]:
        """The numbers of the repositories that they see."""
        return set(self.permissions)

    @property
    def names(self) -> list[str]:
        """The repositories that they see, as people write them."""
        return sorted(f"{r.owner}/{r.name}" for r in self.known.values() if r.id in self.permissions)

    def chosen(self) -> set[int]:
        """Return the repositories that the address asks for, of those seen. Raises ``Refused`` 404 for any other."""
        wanted = request.args.get("repository", "")
        if not wanted:
            return self.seen
        found = {r.id for r in self.known.values() if f"{r.owner}/{r.name}".casefold() == wanted.casefold()}
        if not found & self.seen:
            raise Refused(404, NOT_VISIBLE)
        return found & self.seen


def visit() -> Visit:
    """Return who looks at the page that is being made."""
    found: Visit = g.visit
    return found


def key() -> str:
    """Return a random name for what a form does, so that sending it twice does it once."""
    return secrets.token_urlsafe(12)
