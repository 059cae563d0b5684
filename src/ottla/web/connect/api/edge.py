"""Routes whose refusals are answers: those of the pure room and of Kafka's clients become HTTP errors in one place."""

from typing import Final

from ottla.base.errors import OttlaError
from ottla.connect.errors import ConnectError
from ottla.connect.worker.refusal import RefusedError
from ottla.web.connect.lead.call import NoAnswerError
from ottla.web.http.answer import Answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Handler, Route

NO_BODY: Final = Answer(204)
ACCEPTED: Final = Answer(202)


def route(method: str, template: str, handler: Handler, *, is_public: bool = False) -> Route:
    """A route that answers refusals."""

    async def guarded(request: Request) -> Answer:
        try:
            return await handler(request)
        except RefusedError as error:
            raise HttpError(error.status, error.message) from None
        except HttpError:
            raise
        except NoAnswerError as error:
            raise HttpError(500, f"Request timed out. {error}") from None
        except ConnectError as error:
            raise HttpError(500, str(error)) from None
        except (OttlaError, TimeoutError) as error:
            raise HttpError(
                500, f"The Kafka cluster did not do what the request needs: {error or 'it took too long'}"
            ) from None

    return Route(method, template, guarded, is_public)


def task_number(request: Request) -> int:
    """The number of a task in the path; 404 if it is none, as JAX-RS has it."""
    text = request.parameters["task"]
    number = text.removeprefix("-")
    if not number.isascii() or not number.isdecimal() or len(number) > 10:
        raise HttpError(404, "HTTP 404 Not Found")
    return int(text)
