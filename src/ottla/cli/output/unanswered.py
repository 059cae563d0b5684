"""Why a service gave no answer over HTTP, as a part of a sentence for the terminal."""

import http.client


def unanswered(error: OSError | http.client.HTTPException, port: int) -> str:
    """The reason without error numbers.

    >>> unanswered(ConnectionRefusedError(111, "Connection refused"), 8083)
    'nothing listens on port 8083 there'
    >>> unanswered(TimeoutError("timed out"), 8083)
    'no answer came in time'
    """
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on port {port} there"
    if isinstance(error, TimeoutError):
        return "no answer came in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
