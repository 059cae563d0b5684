"""Groups of both protocols and transactional producers, each with a name of its own, that come once and never again."""

import time
from typing import Any

from confluent_kafka import Consumer, Producer

from tests.soak.worker import Worker
from tests.torture.client.task import SOURCES
from tests.torture.ending import admin_client

_PROTOCOLS: tuple[dict[str, Any], ...] = (
    {"session.timeout.ms": 6_000},
    {"session.timeout.ms": 6_000, "partition.assignment.strategy": "cooperative-sticky"},
    {"group.protocol": "consumer"},
)
_QUIET = {"log_level": 0, "socket.timeout.ms": 5_000, "metadata.recovery.strategy": "none"}
_JOIN_SECONDS = 8.0
_ASK_SECONDS = 15.0


class Groups(Worker):
    """A new group, what it reads and commits; some are deleted, the others are left to expire."""

    name = "groups"

    def step(self) -> None:
        """One group, of one to three members."""
        group = f"soak-group-{self.number}"
        settings = self.dice.choice(_PROTOCOLS) | _QUIET
        settings |= {"bootstrap.servers": self.bootstrap, "group.id": group, "enable.auto.commit": False}
        settings |= {"auto.offset.reset": "earliest"}
        members = [Consumer(settings) for _ in range(self.dice.randrange(1, 4))]
        for member in members:
            member.subscribe(list(SOURCES))
        self._read(members)
        for member in members:
            self.attempt("groups that were left", member.close)
        if self.dice.random() < 0.3:
            admin = admin_client(self.bootstrap)
            self.attempt("groups deleted", admin.delete_consumer_groups([group])[group].result)

    def _read(self, members: list[Consumer]) -> None:
        deadline = time.monotonic() + _JOIN_SECONDS
        found = 0
        while found < len(members) * 10 and time.monotonic() < deadline:
            for member in members:
                found += sum(message.error() is None for message in member.consume(10, timeout=0.1))
        for member in members:
            if member.assignment() and found:
                self.attempt("offsets committed", lambda member=member: member.commit(asynchronous=False))


class Transactions(Worker):
    """A new transactional id; its transactions end both ways, or not at all."""

    name = "transactions"

    def step(self) -> None:
        """One id, one to four transactions."""
        own = {"transactional.id": f"soak-{self.number}", "transaction.timeout.ms": 5_000, "message.timeout.ms": 5_000}
        client = Producer({"bootstrap.servers": self.bootstrap} | _QUIET | own)
        if not self.attempt("transactional ids", lambda: client.init_transactions(_ASK_SECONDS)):
            return
        for _ in range(self.dice.randrange(1, 4)):
            # On a busy machine records of the one before may have timed out, and it is to be aborted first.
            if not self.attempt("transactions begun", client.begin_transaction):
                return
            for _ in range(self.dice.randrange(1, 30)):
                client.produce(self.dice.choice(SOURCES), b"soak")
            client.flush(_ASK_SECONDS)
            chance = self.dice.random()
            if chance < 0.1:
                self.count("transactions left open")
                return
            if chance < 0.3:
                self.attempt("transactions aborted", lambda: client.abort_transaction(_ASK_SECONDS))
            else:
                self.attempt("transactions committed", lambda: client.commit_transaction(_ASK_SECONDS))
