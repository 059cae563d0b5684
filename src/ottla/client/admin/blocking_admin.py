"""`Admin`: the admin client for programs without an event loop.

Every method is the one of `AsyncAdmin`, run on a thread of the client's own: same arguments, same results.
"""

import functools
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ottla.client import other_client
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.facade.loop_thread import LoopThread

P = ParamSpec("P")
R = TypeVar("R")


def _blocking(
    method: Callable[Concatenate[AsyncAdmin, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate["Admin", P], R]:
    """The method that waits for the coroutine."""

    @functools.wraps(method)
    def call(self: "Admin", /, *arguments: P.args, **keywords: P.kwargs) -> R:
        return self._thread.run(method(self._admin, *arguments, **keywords))

    return call


class Admin:
    """Everything that can be asked of a cluster or changed in it. Thread-safe.

        with Admin(bootstrap_servers="localhost:9092") as admin:
            admin.create_topics([NewTopic("orders", partitions=3)])
            print(admin.list_topics())

    Settings, results and errors are those of `AsyncAdmin`. It connects at once: `NoBrokersAvailableError` says what
    was tried.
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        self._admin: Final = AsyncAdmin(config, **settings)
        self._thread: Final = LoopThread("ottla-admin")
        try:
            self._thread.run(self._admin.start())
        except BaseException:
            self._thread.close()
            raise

    def close(self) -> None:
        """Ends all connections and the thread. May be called again."""
        if self._thread.is_usable:
            self._thread.run(self._admin.close())
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.ADMIN)

    list_topics = _blocking(AsyncAdmin.list_topics)
    create_topics = _blocking(AsyncAdmin.create_topics)
    delete_topics = _blocking(AsyncAdmin.delete_topics)
    delete_topics_by_id = _blocking(AsyncAdmin.delete_topics_by_id)
    create_partitions = _blocking(AsyncAdmin.create_partitions)

    describe_topics = _blocking(AsyncAdmin.describe_topics)
    describe_topics_by_id = _blocking(AsyncAdmin.describe_topics_by_id)

    list_offsets = _blocking(AsyncAdmin.list_offsets)
    delete_records = _blocking(AsyncAdmin.delete_records)

    describe_configs = _blocking(AsyncAdmin.describe_configs)
    incremental_alter_configs = _blocking(AsyncAdmin.incremental_alter_configs)
    list_config_resources = _blocking(AsyncAdmin.list_config_resources)
    list_client_metrics_resources = _blocking(AsyncAdmin.list_client_metrics_resources)

    describe_cluster = _blocking(AsyncAdmin.describe_cluster)
    describe_api_versions = _blocking(AsyncAdmin.describe_api_versions)
    describe_features = _blocking(AsyncAdmin.describe_features)
    update_features = _blocking(AsyncAdmin.update_features)
    unregister_broker = _blocking(AsyncAdmin.unregister_broker)

    describe_metadata_quorum = _blocking(AsyncAdmin.describe_metadata_quorum)
    add_raft_voter = _blocking(AsyncAdmin.add_raft_voter)
    remove_raft_voter = _blocking(AsyncAdmin.remove_raft_voter)

    elect_leaders = _blocking(AsyncAdmin.elect_leaders)
    replica_end = _blocking(AsyncAdmin.replica_end)
    list_partition_reassignments = _blocking(AsyncAdmin.list_partition_reassignments)
    alter_partition_reassignments = _blocking(AsyncAdmin.alter_partition_reassignments)

    describe_log_dirs = _blocking(AsyncAdmin.describe_log_dirs)
    alter_replica_log_dirs = _blocking(AsyncAdmin.alter_replica_log_dirs)

    list_groups = _blocking(AsyncAdmin.list_groups)
    delete_groups = _blocking(AsyncAdmin.delete_groups)
    remove_members = _blocking(AsyncAdmin.remove_members)

    describe_consumer_groups = _blocking(AsyncAdmin.describe_consumer_groups)
    describe_classic_groups = _blocking(AsyncAdmin.describe_classic_groups)

    list_consumer_group_offsets = _blocking(AsyncAdmin.list_consumer_group_offsets)
    alter_consumer_group_offsets = _blocking(AsyncAdmin.alter_consumer_group_offsets)
    delete_consumer_group_offsets = _blocking(AsyncAdmin.delete_consumer_group_offsets)

    list_transactions = _blocking(AsyncAdmin.list_transactions)
    describe_transactions = _blocking(AsyncAdmin.describe_transactions)
    describe_producers = _blocking(AsyncAdmin.describe_producers)
    abort_transaction = _blocking(AsyncAdmin.abort_transaction)
    fence_producers = _blocking(AsyncAdmin.fence_producers)
    force_terminate_transaction = _blocking(AsyncAdmin.force_terminate_transaction)

    describe_client_quotas = _blocking(AsyncAdmin.describe_client_quotas)
    alter_client_quotas = _blocking(AsyncAdmin.alter_client_quotas)

    describe_user_scram_credentials = _blocking(AsyncAdmin.describe_user_scram_credentials)
    alter_user_scram_credentials = _blocking(AsyncAdmin.alter_user_scram_credentials)

    describe_acls = _blocking(AsyncAdmin.describe_acls)
    create_acls = _blocking(AsyncAdmin.create_acls)
    delete_acls = _blocking(AsyncAdmin.delete_acls)

    create_delegation_token = _blocking(AsyncAdmin.create_delegation_token)
    renew_delegation_token = _blocking(AsyncAdmin.renew_delegation_token)
    expire_delegation_token = _blocking(AsyncAdmin.expire_delegation_token)
    describe_delegation_tokens = _blocking(AsyncAdmin.describe_delegation_tokens)
