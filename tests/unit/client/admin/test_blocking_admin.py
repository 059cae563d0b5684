"""The blocking client has everything that the asyncio one has, with the same words."""

import inspect

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.blocking_admin import Admin

_LIFE = {"start"}


def _public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_no_method_is_missing() -> None:
    assert _public(AsyncAdmin) - _LIFE == _public(Admin)


def test_signatures_and_docstrings_are_the_same() -> None:
    for name in _public(Admin) - {"close"}:
        blocking, other = getattr(Admin, name), getattr(AsyncAdmin, name)
        assert inspect.signature(blocking) == inspect.signature(other), name
        assert blocking.__doc__ == other.__doc__, name
        assert other.__doc__, name
