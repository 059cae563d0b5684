"""Finds message classes by API key, importing only the module that is asked for."""

import importlib
from functools import cache

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response


@cache
def request_type(api: ApiKey) -> type[Request]:
    """The request class of a call.

    >>> request_type(ApiKey.FETCH).__name__
    'FetchRequest'
    """
    found: type[Request] = _message(api, "Request")
    return found


@cache
def response_type(api: ApiKey) -> type[Response]:
    """The response class of a call."""
    found: type[Response] = _message(api, "Response")
    return found


def _message(api: ApiKey, suffix: str) -> type:
    name = api.name.lower()
    module = importlib.import_module(f"ottla.protocol.messages.{name}")
    title = name.title().replace("_", "")
    message: type = getattr(module, title + suffix)
    return message
