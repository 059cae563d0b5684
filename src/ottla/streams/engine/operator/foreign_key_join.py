"""Joins of two tables by a foreign key, in five steps with two repartitionings between.

Left rows subscribe to their foreign keys (Subscribe); where the foreign table lies, the subscription is kept
(Receive) and answered (Answer); an update of a foreign row is sent to all who subscribed (Publish); back at the
left row the answer is joined if the row is still the one that asked (Resolve).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import TableDefinition, View
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.store.subscription import Instruction, Response, Subscription, hash_of
from ottla.streams.record import Headers
from ottla.streams.serde import Serde


@dataclass
class ForeignKeyDefinition(TableDefinition):
    """The definition that all steps of the join share."""

    extractor: Callable[[Any, Any], Any] = max
    joiner: Callable[[Any, Any], Any] = max
    left_join: bool = False
    key_serde: Serde[Any] | None = None
    value_serde: Serde[Any] | None = None
    foreign_key_serde: Serde[Any] | None = None
    foreign_value_serde: Serde[Any] | None = None
    subscriptions: StoreSpec | None = None
    foreign: TableDefinition = field(default_factory=lambda: TableDefinition(None))
    """Whether updates of the foreign table are those of a versioned one."""


class _Step(Operator):
    """A step of the join."""

    def __init__(self, definition: ForeignKeyDefinition, view: View | None = None) -> None:
        self.definition = definition
        self.view = view

    def open(self, context: OperatorContext) -> None:
        """Finds the table that the step looks into, and the subscriptions."""
        self.context = context
        self.getter = None if self.view is None else self.view.open(context)
        self.find_store(context)

    def find_store(self, context: OperatorContext) -> None:
        """Finds the subscriptions, where the step needs them."""


class _SubscriptionStep(_Step):
    def find_store(self, context: OperatorContext) -> None:
        """Finds the subscriptions."""
        assert self.definition.subscriptions is not None
        self.store = context.store(self.definition.subscriptions.name)


class Subscribe(_Step):
    """At the left row: (un)subscribes when the row changes."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """A changed foreign key unsubscribes without a tombstone: the new result follows."""
        new, old, latest = value
        definition = self.definition
        if definition.versioned_semantics and not latest:
            self.context.drop()
            return
        old_key = None if old is None else definition.extractor(key, old)
        new_key = None if new is None else definition.extractor(key, new)
        row_hash = hash_of(self.context.encode_value(definition.value_serde, new))
        primary = self.context.encode_key(definition.key_serde, key) or b""

        def send(foreign_key: Any, instruction: Instruction) -> None:
            request = Subscription(row_hash, instruction, primary, self.context.partition())
            self.forward(foreign_key, request.encoded(), timestamp, headers)

        moved = old_key is not None and self._bytes(old_key) != self._bytes(new_key)
        if definition.left_join:
            if new is None and old is None:
                return
            if moved:
                send(old_key, Instruction.DELETE_KEY_NO_PROPAGATE)
            send(new_key, Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE)
        elif new_key is None:
            if new is not None:
                self.context.drop()
            if old_key is not None:
                send(old_key, Instruction.DELETE_KEY_AND_PROPAGATE)
        elif moved:
            send(old_key, Instruction.DELETE_KEY_NO_PROPAGATE)
            send(new_key, Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE)
        else:
            send(new_key, Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE)

    def _bytes(self, foreign_key: Any) -> bytes | None:
        if foreign_key is None:
            return None
        return self.context.encode_key(self.definition.foreign_key_serde, foreign_key)


class Receive(_SubscriptionStep):
    """At the foreign table: keeps the subscription."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Only a left join subscribes without a foreign key; it is answered and not kept."""
        subscription = Subscription.decoded(value)
        if key is not None:
            if subscription.instruction <= Instruction.DELETE_KEY_AND_PROPAGATE:
                self.store.delete(key, subscription.primary_key)
            else:
                self.store.put(key, subscription)
        self.forward(key, subscription, timestamp, headers)


class Answer(_Step):
    """At the foreign table: answers a subscription with the present row."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Answers as the subscription's instruction says: with the row, with null, or not at all."""
        assert self.getter is not None
        found = None if key is None else self.getter.get(key)
        if found is not None:
            timestamp = max(timestamp, found[1])
        instruction = value.instruction
        if instruction is Instruction.DELETE_KEY_NO_PROPAGATE:
            return
        if instruction is Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE and found is None:
            return
        if instruction is Instruction.DELETE_KEY_AND_PROPAGATE:
            found = None
        row = None
        if found is not None:
            row = self.context.encode_value(self.definition.foreign_value_serde, found[0])
        answer = Response(value.value_hash, row, value.partition)
        self.forward(value.primary_key, answer.encoded(), timestamp, headers)


class Publish(_SubscriptionStep):
    """At the foreign table: sends an update to all subscribers."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Sends one answer to each subscriber, in the order of their keys."""
        if key is None:
            self.context.drop()
            return
        new, _, latest = value
        if self.definition.foreign.versioned_semantics and not latest:
            self.context.drop()
            return
        row = self.context.encode_value(self.definition.foreign_value_serde, new)
        for subscription in self.store.subscribers(key):
            answer = Response(subscription.value_hash, row, subscription.partition).encoded()
            self.forward(subscription.primary_key, answer, timestamp, headers)


class Resolve(_Step):
    """At the left row: joins the answer, if the row is still the one that asked."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """An answer to an older row is left out: another one is under way."""
        assert self.getter is not None
        response = Response.decoded(value)
        found = self.getter.get(key)
        row = None if found is None else found[0]
        definition = self.definition
        if response.value_hash != hash_of(self.context.encode_value(definition.value_serde, row)):
            return
        foreign = response.foreign_value
        if foreign is None and (not definition.left_join or row is None):
            self.forward(key, None, timestamp, headers)
            return
        serde = definition.foreign_value_serde
        foreign_row = None if foreign is None or serde is None else serde.deserialize("", (), foreign)
        self.forward(key, definition.joiner(row, foreign_row), timestamp, headers)
