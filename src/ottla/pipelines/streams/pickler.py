"""Pickles what a user's program has made: functions and classes of a script travel by value, those of modules by name.

Spark's own pickler does that, but cannot make a `TypedDict` of a script again on the other side: annotations of
functions name them. Here they travel as name and keys.
"""

import io
import typing
from typing import Any

from pyspark import cloudpickle


class ProgramPickler(cloudpickle.CloudPickler):
    """Spark's pickler, for typed programs as well."""

    def reducer_override(self, obj: Any) -> Any:
        """The reduction of an object; `NotImplemented` leaves it to pickle."""
        if typing.is_typeddict(obj) and _is_of_script(obj):
            return typed_dict, (obj.__name__, dict(obj.__annotations__), obj.__total__)
        return super().reducer_override(obj)  # type: ignore[no-untyped-call]  # Spark's pickler has no types


def dumped(value: object) -> bytes:
    """The value's bytes, for `pickle.loads`."""
    with io.BytesIO() as data:
        pickler: Any = ProgramPickler
        pickler(data).dump(value)
        return data.getvalue()


def typed_dict(name: str, keys: dict[str, Any], total: bool) -> Any:
    """A `TypedDict` with these keys; what it was derived from is in there."""
    return typing.TypedDict(name, keys, total=total)  # type: ignore[operator]  # its keys are not known before


def _is_of_script(kind: Any) -> bool:
    by_value: Any = cloudpickle.list_registry_pickle_by_value
    return kind.__module__ == "__main__" or kind.__module__ in by_value()
