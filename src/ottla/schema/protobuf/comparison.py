"""Finds the changes from one version of a schema to the next.

Messages and enums are matched by name, fields by number over the whole message, in whichever oneof they are. A message
of another file is compared where a field holds it, because that file changes on its own. Such messages may hold each
other at any depth: each pair is compared once, and without recursion.
"""

from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.protobuf.difference import Change, Difference
from ottla.schema.protobuf.element import EnumType, Field, Group, Message
from ottla.schema.protobuf.field_comparison import FieldTypes, Side
from ottla.schema.protobuf.scope import Scope, TypeInfo, package_scope
from ottla.schema.trampoline import Step, run

_REPEATED_MAX: Final = 1000
"""Up to so many differences, those of a message are listed again for each field that holds it, as Confluent does."""


def compare(old: Scope, new: Scope) -> list[Difference]:
    """Every difference, compatible or not."""
    comparison = _Comparison(Side(old, old.root()), Side(new, new.root()), (), _Progress(set(), {}))
    run(comparison.files())
    return comparison.found


@frozen
class _Progress:
    """The messages of the old version that are being compared, further out, where recursion ends; and pairs done."""

    entered: set[int]
    done: dict[tuple[int, int], tuple[list[Difference], bool]]


class _Comparison:
    """Two scopes side by side at one path; the same path on both sides, or they would not be compared."""

    def __init__(self, old: Side, new: Side, path: tuple[str, ...], progress: _Progress) -> None:
        self._old: Final = old
        self._new: Final = new
        self._path: Final = path
        self._progress: Final = progress
        self.found: Final[list[Difference]] = []

    def files(self) -> Step[None]:
        """The two files."""
        old, new = self._old.scope.file, self._new.scope.file
        if (old.package or "") != (new.package or ""):
            self._add(Change.PACKAGE_CHANGED)
        yield self._types(old.messages, old.enums, new.messages, new.enums)

    def _add(self, change: Change, *path: str) -> None:
        self.found.append(Difference(change, "#/" + "/".join((*self._path, *path))))

    def _types(
        self,
        old_messages: tuple[Message, ...],
        old_enums: tuple[EnumType, ...],
        new_messages: tuple[Message, ...],
        new_enums: tuple[EnumType, ...],
    ) -> Step[None]:
        olds = {one.name: (index, one) for index, one in enumerate(old_messages)}
        news = {one.name: (index, one) for index, one in enumerate(new_messages)}
        for name in sorted(olds.keys() | news.keys()):
            if name not in news:
                if not olds[name][1].is_map_entry:
                    self._add(Change.MESSAGE_REMOVED, name)
            elif name not in olds:
                if not news[name][1].is_map_entry:
                    self._add(Change.MESSAGE_ADDED, name)
            else:
                yield self._nested(name, olds[name][1], news[name][1])
                if olds[name][0] != news[name][0]:
                    self._add(Change.MESSAGE_MOVED, name)
        old_by_name = {one.name: one for one in old_enums}
        new_by_name = {one.name: one for one in new_enums}
        for name in sorted(old_by_name.keys() | new_by_name.keys()):
            if name not in new_by_name:
                self._add(Change.ENUM_REMOVED, name)
            elif name not in old_by_name:
                self._add(Change.ENUM_ADDED, name)
            else:
                self._constants(old_by_name[name], new_by_name[name])

    def _nested(self, name: str, old: Message, new: Message) -> Step[None]:
        inner = _Comparison(self._old.within(name), self._new.within(name), (*self._path, name), self._progress)
        yield inner.messages(old, new)
        self.found.extend(inner.found)

    def _constants(self, old: EnumType, new: EnumType) -> None:
        olds = {one.number: one.name for one in old.constants}
        news = {one.number: one.name for one in new.constants}
        for number in sorted(olds.keys() | news.keys()):
            if number not in news:
                self._add(Change.ENUM_CONST_REMOVED, old.name, str(number))
            elif number not in olds:
                self._add(Change.ENUM_CONST_ADDED, old.name, str(number))
            elif olds[number] != news[number]:
                self._add(Change.ENUM_CONST_CHANGED, old.name, str(number))

    def messages(self, old: Message, new: Message) -> Step[None]:
        """Two messages at this path."""
        entered = self._progress.entered
        if id(old) not in entered:
            entered.add(id(old))
            yield self._members(_Members(old), _Members(new))
            entered.discard(id(old))
        yield self._types(old.messages, old.enums, new.messages, new.enums)

    def _members(self, old: "_Members", new: "_Members") -> Step[None]:
        self._exclusions(old, new)
        for name in sorted(old.oneofs.keys() | new.oneofs.keys()):
            if name not in new.oneofs:
                self._add(Change.ONEOF_REMOVED, name)
            elif name not in old.oneofs:
                self._add(Change.ONEOF_ADDED, name)
        gone = {
            name
            for name, numbers in old.oneofs.items()
            if name not in new.oneofs and not any(number in new.fields for number in numbers)
        }
        for number in sorted(old.fields.keys() | new.fields.keys()):
            if number not in new.fields:
                self._removed(old, number, gone)
            elif number not in old.fields:
                self._added(new, number)
            else:
                yield self._kept(old, new, number)

    def _exclusions(self, old: "_Members", new: "_Members") -> None:
        """Fields that could be set together and no longer can: members of one oneof that had different homes."""
        for name, numbers in new.oneofs.items():
            known = [number for number in numbers if number in old.fields]
            homes = {old.oneof_of.get(number) or number for number in known}
            outside = sum(number not in old.oneof_of for number in known)
            if len(homes) > 1:
                several = outside > 1
                change = Change.MULTIPLE_FIELDS_MOVED_TO_ONEOF if several else Change.FIELD_MOVED_TO_EXISTING_ONEOF
                self._add(change, name)

    def _removed(self, old: "_Members", number: int, gone: set[str]) -> None:
        oneof = old.oneof_of.get(number)
        if oneof is None:
            required = old.fields[number].label == "required"
            self._add(Change.REQUIRED_FIELD_REMOVED if required else Change.FIELD_REMOVED, str(number))
        elif oneof not in gone:
            self._add(Change.ONEOF_FIELD_REMOVED, oneof, str(number))

    def _added(self, new: "_Members", number: int) -> None:
        oneof = new.oneof_of.get(number)
        if oneof is None:
            required = new.fields[number].label == "required"
            self._add(Change.REQUIRED_FIELD_ADDED if required else Change.FIELD_ADDED, str(number))
        else:
            self._add(Change.ONEOF_FIELD_ADDED, oneof, str(number))

    def _kept(self, old: "_Members", new: "_Members", number: int) -> Step[None]:
        oneof = new.oneof_of.get(number)
        if oneof is None and number in old.oneof_of:
            self._add(Change.ONEOF_FIELD_MOVED_TO_TOP_LEVEL, str(number))
        path = (str(number),) if oneof is None else (oneof, str(number))
        before, after = old.fields[number], new.fields[number]
        if before.name != after.name:
            self._add(Change.FIELD_NAME_CHANGED, *path)
        types = FieldTypes(self._old, self._new)
        for change in types.changes(before, after):
            self._add(change, *path)
        for first, second in types.to_look_into:
            yield self._referenced(first, second, path)

    def _referenced(self, old: TypeInfo, new: TypeInfo, path: tuple[str, ...]) -> Step[None]:
        """A message of another file. Its differences have its own path, and one at the field sums them up."""
        if not isinstance(old.element, Message) or not isinstance(new.element, Message):
            return
        pair = (id(old.element), id(new.element))
        known = self._progress.done.get(pair)
        if known is None:
            names = tuple(old.local_name.split("."))
            inner = _Comparison(
                Side(self._old.scope, (*package_scope(old.package), *names)),
                Side(self._new.scope, (*package_scope(new.package), *names)),
                names,
                self._progress,
            )
            yield inner.messages(old.element, new.element)
            self.found.extend(inner.found)
            known = (inner.found, any(one.incompatibility() is not None for one in inner.found))
            self._progress.done[pair] = known
        elif len(self.found) + len(known[0]) <= _REPEATED_MAX:
            self.found.extend(known[0])
        if known[1]:
            self._add(Change.FIELD_NAMED_TYPE_CHANGED, *path)


class _Members:
    """A message's fields by number, with the oneofs that they are in."""

    def __init__(self, message: Message | Group) -> None:
        self.fields: Final[dict[int, Field]] = {field.number: field for field in message.fields}
        self.oneofs: Final[dict[str, list[int]]] = {}
        self.oneof_of: Final[dict[int, str]] = {}
        for oneof in message.oneofs if isinstance(message, Message) else ():
            self.oneofs[oneof.name] = [field.number for field in oneof.fields]
            for field in oneof.fields:
                self.fields[field.number] = field
                self.oneof_of[field.number] = oneof.name
