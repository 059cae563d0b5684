"""The parts of our clients that live in an event loop check their callers' threads while tests run."""

import inspect

import pytest

from ottla.base.thread_owner import checked
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.node_pool import NodePool
from ottla.client.consumer.fetch.fetcher import Fetcher
from ottla.client.consumer.offset.committer import Committer
from ottla.client.producer.send.sender import Sender
from ottla.client.producer.transaction.manager import TransactionManager


@pytest.mark.parametrize("part", [ClusterClient, NodePool, Fetcher, Committer, Sender, TransactionManager])
def test_the_check_is_active(part: type) -> None:
    methods = [name for name, member in vars(part).items() if inspect.isfunction(member) and not name.startswith("_")]
    assert any(hasattr(getattr(part, name), "__wrapped__") for name in methods)


def test_what_users_threads_call_is_not_checked() -> None:
    for method in (Sender.is_available, Committer.is_due, TransactionManager.check_may_send):
        assert not hasattr(method, "__wrapped__")


def test_a_class_without_public_methods_stays_as_it_is() -> None:
    class Empty:
        def _private(self) -> None:
            """Not checked."""

    assert not hasattr(checked(Empty)._private, "__wrapped__")
