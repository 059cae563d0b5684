"""An operator leaves the consumer protocol out: consumer groups are refused, classic ones are served."""

from pathlib import Path

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from ottla.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from tests.clients.server import CLUSTER_ID, kinds_and_peer, make_server
from tests.kafka.wire import Wire


@pytest.mark.parametrize("kind", kinds_and_peer())
def test_the_consumer_protocol_is_left_out(kind: str, tmp_path: Path) -> None:
    server = make_server(kind, tmp_path, group_coordinator_rebalance_protocols="classic")
    server.format(CLUSTER_ID)
    server.start()
    try:
        with Wire(server.address) as wire:
            joining = ConsumerGroupHeartbeatRequest(
                group_id="g", member_id="m", member_epoch=0, rebalance_timeout_ms=1000,
                subscribed_topic_names=["a"], topic_partitions=[],
            )  # fmt: skip
            joined = wire.ask(joining, 1)
            assert isinstance(joined, ConsumerGroupHeartbeatResponse)
            assert (joined.error_code, joined.error_message) == (ErrorCode.UNSUPPORTED_VERSION, None)
            described = wire.ask(ConsumerGroupDescribeRequest(group_ids=["g", "h"]), 1)
            assert isinstance(described, ConsumerGroupDescribeResponse)
            assert [(group.group_id, group.error_code, group.error_message) for group in described.groups] == [
                ("g", ErrorCode.UNSUPPORTED_VERSION, None),
                ("h", ErrorCode.UNSUPPORTED_VERSION, None),
            ]
    finally:
        server.kill()
