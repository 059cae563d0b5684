"""Splitting a stream: each record goes to the first branch whose predicate accepts it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.engine.operator.stateless import Branch, PassThrough
from ottla.streams.option import Branched, Named, name_of
from ottla.streams.record import K, V

S = TypeVar("S")
"""The type of the stream that is split."""


class BranchedKStream(Generic[K, V, S]):
    """The branches of a stream, as they are named. The result is a dictionary of the streams by their names."""

    def __init__(self, step: Step, named: Named | None, stream_of: Callable[[Step], S]) -> None:
        self._step = step
        self._stream_of = stream_of
        self._predicates: list[tuple[Callable[[K, V], Any], str]] = []
        self._default: str | None = None
        self._streams: dict[str, S] = {}
        self._name = step.graph.name_or(name_of(named), "KSTREAM-BRANCH-")
        self._node = processor_node(self._name, lambda: Branch(self._predicates, self._default))
        step.graph.add(step.node, self._node)

    def branch(self, predicate: Callable[[K, V], Any], branched: Branched | None = None) -> "BranchedKStream[K, V, S]":
        """A branch for the records that the predicate accepts."""
        name = self._child_name(branched, len(self._predicates) + 1)
        self._predicates.append((predicate, name))
        self._add(name, branched)
        return self

    def default_branch(self, branched: Branched | None = None) -> dict[str, S]:
        """A branch for all other records; the streams by name."""
        self._default = self._child_name(branched, 0)
        self._add(self._default, branched)
        return self._streams

    def no_default_branch(self) -> dict[str, S]:
        """All other records end here; the streams by name."""
        return self._streams

    def _child_name(self, branched: Branched | None, index: int) -> str:
        suffix = str(index) if branched is None or branched.name is None else branched.name
        return self._name + suffix

    def _add(self, name: str, branched: Branched | None) -> None:
        graph = self._step.graph
        graph.processor_name(name)
        node = processor_node(name, PassThrough)
        graph.add(self._node, node)
        stream = self._stream_of(replace(self._step, node=node, name=name))
        if branched is not None and branched.chain is not None:
            changed = branched.chain(stream)
            if changed is not None:
                self._streams[name] = changed
        elif branched is not None and branched.consumer is not None:
            branched.consumer(stream)
        else:
            self._streams[name] = stream
