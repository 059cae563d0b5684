"""Names of a package that are imported when they are first used: who wants one part does not wait for the others."""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping


def lazy_names(package: str, places: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package (PEP 562), given where each name lives, as a module below the package.

    >>> find = lazy_names("ottla.base", {"Uuid": "ids"})
    >>> find("Uuid").__module__
    'ottla.base.ids'
    >>> find("Guid")
    Traceback (most recent call last):
    AttributeError: module 'ottla.base' has no attribute 'Guid'
    """

    def find(name: str) -> object:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(f"{package}.{place}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def all_names(package: str, names: Iterable[str]) -> Callable[[], list[str]]:
    """The `__dir__` of such a package: also what is not imported yet, so that a prompt can complete it.

    >>> "Uuid" in all_names("ottla.base", ["Uuid"])()
    True
    """

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return listed
