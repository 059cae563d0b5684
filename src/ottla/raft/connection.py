"""One request at a time to each node: which are in flight, which failed lately, and which to ask without a leader."""

from collections.abc import Sequence

from ottla.raft.config import NEVER_MS, QuorumConfig
from ottla.raft.identity import Node
from ottla.raft.ports import RandomPort


class _Connection:
    """A node that a request is in flight to, or that we give a moment after a failure."""

    __slots__ = ("correlation_id", "until_ms")

    def __init__(self, correlation_id: int | None, until_ms: int) -> None:
        self.correlation_id = correlation_id
        self.until_ms = until_ms


class Connections:
    """Nodes without an entry are ready; an entry that is past its time is as good as none."""

    def __init__(self, bootstrap_servers: Sequence[Node], config: QuorumConfig, random: RandomPort) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._config = config
        self._random = random
        self._by_id: dict[int, _Connection] = {}
        self._last_correlation_id = 0

    def sent(self, node: Node, now_ms: int) -> int:
        """A request goes out; its correlation id."""
        self._last_correlation_id += 1
        self._by_id[node.id] = _Connection(self._last_correlation_id, now_ms + self._config.request_timeout_ms)
        return self._last_correlation_id

    def is_expected(self, node_id: int, correlation_id: int) -> bool:
        """Whether an answer is to the last request and not given up."""
        connection = self._by_id.get(node_id)
        return connection is not None and connection.correlation_id == correlation_id

    def answered(self, node_id: int, correlation_id: int, now_ms: int, *, is_success: bool) -> None:
        """An answer was dealt with; after a failure the node gets a rest."""
        if not self.is_expected(node_id, correlation_id):
            return
        if is_success:
            del self._by_id[node_id]
        else:
            self._by_id[node_id] = _Connection(None, now_ms + self._config.retry_backoff_ms)

    def is_ready(self, node: Node, now_ms: int) -> bool:
        """Whether a request may go out."""
        return self._live(node.id, now_ms) is None

    def is_backing_off(self, node: Node, now_ms: int) -> bool:
        """Whether the node gets a rest after a failure."""
        connection = self._live(node.id, now_ms)
        return connection is not None and connection.correlation_id is None

    def has_timed_out(self, node: Node, now_ms: int) -> bool:
        """Whether the last request to the node was never answered."""
        connection = self._by_id.get(node.id)
        return connection is not None and connection.correlation_id is not None and now_ms >= connection.until_ms

    def is_any_in_flight(self, now_ms: int) -> bool:
        """Whether a request is in flight."""
        for connection in self._by_id.values():
            if connection.correlation_id is not None and now_ms < connection.until_ms:
                return True
        return False

    def deadline_ms(self, now_ms: int) -> int:
        """The time at which the next node is ready again; a backoff from now if all are."""
        deadline_ms = NEVER_MS
        for connection in self._by_id.values():
            if now_ms < connection.until_ms < deadline_ms:
                deadline_ms = connection.until_ms
        return now_ms + self._config.retry_backoff_ms if deadline_ms == NEVER_MS else deadline_ms

    def ready_bootstrap_server(self, now_ms: int) -> Node | None:
        """Any bootstrap server, by chance, while no other request is under way."""
        if not self._bootstrap_servers or self.is_any_in_flight(now_ms):
            return None
        first = self._random.randrange(len(self._bootstrap_servers))
        ring = [*self._bootstrap_servers[first:], *self._bootstrap_servers[:first]]
        return next((node for node in ring if self.is_ready(node, now_ms)), None)

    def reset(self, node: Node) -> None:
        """Forgets what is in flight to a node."""
        self._by_id.pop(node.id, None)

    def reset_all(self) -> None:
        """Forgets everything: a new role asks new questions."""
        self._by_id.clear()

    def _live(self, node_id: int, now_ms: int) -> _Connection | None:
        connection = self._by_id.get(node_id)
        return connection if connection is not None and now_ms < connection.until_ms else None
