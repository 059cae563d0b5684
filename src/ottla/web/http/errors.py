"""The refusal of a request: an HTTP status and the `{"error_code", "message"}` body of Confluent's services."""

from ottla.base.errors import OttlaError


class HttpError(OttlaError):
    """An answer that is no success. `error_code` is the status, or the service's own five digits."""

    def __init__(self, status: int, message: str, error_code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.error_code = status if error_code is None else error_code


class ClientGoneError(OttlaError):
    """The client closed the connection before the request was complete: there is no one to answer."""


NOT_FOUND = "HTTP 404 Not Found"
METHOD_NOT_ALLOWED = "HTTP 405 Method Not Allowed"
NOT_ACCEPTABLE = "HTTP 406 Not Acceptable"
UNSUPPORTED_MEDIA_TYPE = "HTTP 415 Unsupported Media Type"
INTERNAL = "Internal Server Error"
