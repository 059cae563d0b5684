"""The collaborators of the handlers of both versions, and their answers to Kafka's refusals."""

from collections.abc import Awaitable, Callable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.web.http.answer import Answer
from ottla.web.http.content import ContentTypes
from ottla.web.http.errors import ClientGoneError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.config import RestConfig
from ottla.web.rest.errors import from_kafka
from ottla.web.rest.record.schema import SchemaBook
from ottla.web.rest.sending import RecordSender


class RestContext:
    """The clients that all requests share."""

    def __init__(self, config: RestConfig, admin: AsyncAdmin, sender: RecordSender, book: SchemaBook) -> None:
        self.config: Final = config
        self.admin: Final = admin
        self.sender: Final = sender
        self.book: Final = book
        self.cluster_id = ""
        """Known once the cluster has answered."""

    def base_url(self, request: Request) -> str:
        """The address that links begin with."""
        advertised = self.config.settings.list("advertised.listeners")
        return advertised[0].rstrip("/") if advertised else request.base_url


class Routes:
    """Collects the routes of one part of the API, which have one content type."""

    def __init__(self, content: ContentTypes) -> None:
        self._content: Final = content
        self.found: Final[list[Route]] = []

    def add(
        self,
        method: str,
        template: str,
        handler: Callable[[Request], Awaitable[Answer]],
        content: ContentTypes | None = None,
    ) -> None:
        """A route whose failures of Kafka's clients become answers."""

        async def answer(request: Request) -> Answer:
            try:
                return await handler(request)
            except ClientGoneError:
                raise
            except OttlaError as error:
                raise from_kafka(error) from error

        answer.__doc__ = handler.__doc__
        self.found.append(Route(method, template, answer, content=content or self._content))
