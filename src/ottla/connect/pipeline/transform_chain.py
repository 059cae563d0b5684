"""The transforms of a connector in their order, each behind its predicate."""

from collections.abc import Mapping
from typing import Final, TypeVar

from ottla.base.frozen import frozen
from ottla.connect.data.column import RowsNeededError, StructColumn
from ottla.connect.errors import ConnectError
from ottla.connect.pipeline.tolerance import Failure, Stage, Tolerance
from ottla.connect.plugin import Plugins
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.predicate import Predicate, RecordIsTombstone
from ottla.connect.transform.transform import Transform

R = TypeVar("R", bound=ConnectRecord)


@frozen
class Link:
    """One transform and for which records it is."""

    transform: Transform
    class_name: str
    predicate: Predicate | None
    negated: bool

    def apply(self, record: R) -> R | None:
        """The record transformed, or as it was where the predicate says so."""
        if self.predicate is not None and self.predicate.test(record) == self.negated:
            return record
        return self.transform.apply(record)


class TransformChain:
    """All of them."""

    def __init__(self, links: list[Link]) -> None:
        self._links: Final = links

    @classmethod
    def of(cls, settings: Mapping[str, str], plugins: Plugins) -> "TransformChain":
        """Reads it from a connector's configuration; raises `ConnectError` if a transform cannot be made."""
        names = [name.strip() for name in settings.get("transforms", "").split(",") if name.strip()]
        try:
            return cls([_link(name, settings, plugins) for name in names])
        except ConnectError as error:
            raise ConnectError(str(error)) from error

    def __bool__(self) -> bool:
        return bool(self._links)

    @property
    def is_uniform(self) -> bool:
        """Whether all records are changed alike that differ only in key, value, timestamp and place."""
        parts = [part for link in self._links for part in (link.transform, link.predicate) if part is not None]
        return all(_own(part, "is_uniform") for part in parts)

    @property
    def is_columnar(self) -> bool:
        """Whether every transform and predicate can work on columns."""
        return all(
            (_own(link.transform, "is_uniform") or _own(link.transform, "apply_columns"))
            and (
                link.predicate is None
                or _own(link.predicate, "is_uniform")
                or type(link.predicate) is RecordIsTombstone
            )
            for link in self._links
        )

    @property
    def keeps_maps(self) -> bool:
        """Whether no transform needs maps as rows, so that it pays to read maps without schema as columns."""
        return all(_own(link.transform, "is_uniform") or _own(link.transform, "takes_maps") for link in self._links)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns | None:
        """The records after the last transform; None if all are dropped. After any error they have to be rows."""
        for link in self._links:
            if not _is_for(link, columns):
                continue
            if _own(link.transform, "apply_columns"):
                columns = link.transform.apply_columns(columns)
                continue
            one = link.transform.apply(columns.one())
            if one is None:
                return None
            columns = columns.like(one)
        return columns

    def apply(self, record: R, tolerance: Tolerance) -> R | Failure | None:
        """The record after the last transform; None if one dropped it."""
        current: R = record
        found: R | Failure | None
        for link in self._links:
            try:
                found = link.apply(current)
            except Exception as error:  # noqa: BLE001 - transforms are anybody's code; what becomes of it is tolerance's
                found = self._failed(link, current, tolerance, error)
            if found is None or isinstance(found, Failure):
                return found
            current = found
        return current

    @staticmethod
    def _failed(link: Link, record: R, tolerance: Tolerance, error: Exception) -> R | Failure | None:
        return tolerance.after(Stage.TRANSFORMATION, link.class_name, lambda: link.apply(record), error)

    def close(self) -> None:
        """Closes them."""
        for link in self._links:
            link.transform.close()
            if link.predicate is not None:
                link.predicate.close()


def _own(part: Transform | Predicate, name: str) -> object:
    """A class's own attribute, not an inherited one: a subclass may behave otherwise."""
    return vars(type(part)).get(name)


def _is_for(link: Link, columns: RecordColumns) -> bool:
    """Whether the transform applies to these records, by its predicate."""
    if link.predicate is None:
        return True
    if type(link.predicate) is not RecordIsTombstone:
        return link.predicate.test(columns.one()) != link.negated
    if isinstance(columns.value, StructColumn):
        return link.negated
    missing = {value is None for value in columns.value.values}
    if len(missing) > 1:
        raise RowsNeededError
    return missing.pop() != link.negated


def _link(name: str, settings: Mapping[str, str], plugins: Plugins) -> Link:
    given = prefixed(settings, f"transforms.{name}.")
    type_name = given.pop("type", None)
    if type_name is None:
        raise ConnectError(f"transforms.{name}.type is missing: it names the class of the transform")
    asked, negated = given.pop("predicate", None), given.pop("negate", "false")
    given.pop("plugin.version", None)
    transform = plugins.transform(type_name)
    transform.configure(given)
    predicate = None if asked is None else _predicate(asked.strip(), settings, plugins)
    return Link(transform, plugins.class_name(transform), predicate, negated.strip().lower() == "true")


def _predicate(name: str, settings: Mapping[str, str], plugins: Plugins) -> Predicate:
    given = prefixed(settings, f"predicates.{name}.")
    type_name = given.pop("type", None)
    given.pop("plugin.version", None)
    if type_name is None:
        raise ConnectError(f"There is no predicate {name}: predicates.{name}.type is missing")
    predicate = plugins.predicate(type_name)
    predicate.configure(given)
    return predicate


def prefixed(settings: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The settings with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}
