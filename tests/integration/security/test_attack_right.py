"""Users who have logged in and reach for what belongs to others: each is refused, and the owner notices nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.end_txn import EndTxnRequest
from ottla.protocol.messages.envelope import EnvelopeRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.metadata import MetadataRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest
from tests.clients.patience import until
from tests.integration.net.served import PATIENCE_S, receive_frame
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_attack import connect
from tests.integration.security.test_authorization import GUARDED, allow
from tests.kafka.wire import Wire
from tests.parity.batch import batch, patched

GROUP, TXN, TOPIC = "payments", "payer", "orders"
OFFSETS = "__consumer_offsets"
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_USERS = 'username="broker" password="x" user_broker="x" user_alice="secret" user_mallory="secret"'


class User:
    """A client that has logged in."""

    def __init__(self, node: SecuredNode, name: str) -> None:
        self.sock = connect(node, "SASL")
        self.sock.settimeout(PATIENCE_S)
        self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        done = self.ask(SaslAuthenticateRequest(auth_bytes=f"\0{name}\0secret".encode()), 2)
        assert done.error_code == 0, done

    def ask(self, request: Request, version: int) -> Any:
        """What is answered."""
        self.sock.sendall(encode_request(request, version, correlation_id=1, client_id="me"))
        return decode_response(receive_frame(self.sock), request.api, version)[1]


@contextmanager
def user(node: SecuredNode, name: str) -> Iterator[User]:
    found = User(node, name)
    with found.sock:
        yield found


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {
        **GUARDED,
        "listener.name.sasl.plain.sasl.jaas.config": f"{_MODULE} {_USERS};",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.min.isr": "1",
        "num.partitions": "1",
        "default.replication.factor": "1",
    }
    assert changes["authorizer.class.name"] == STANDARD_AUTHORIZER
    with SecuredNode(tmp_path_factory.mktemp("hijacked"), **changes) as found:
        allow(found, AclOperation.READ, AclResourceType.GROUP, GROUP)
        allow(found, AclOperation.ALL, AclResourceType.TOPIC, TOPIC)
        allow(found, AclOperation.WRITE, AclResourceType.TRANSACTIONAL_ID, TXN)
        operator = ("127.0.0.1", found.port("PLAINTEXT"))
        with Wire(operator) as wire:
            wire.ask(
                CreateTopicsRequest(topics=[CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)]), 7
            )
        yield found


def coordinator(alice: User, kind: int, key: str) -> None:
    """Returns once the group, or the transactional id, is looked after."""
    find = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    until(0, lambda: alice.ask(find, 4).coordinators[0].error_code)


def join(member: User, member_id: str = "") -> Any:
    """What a joining member is answered."""
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    request = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[protocol],
    )
    return member.ask(request, 9)


def commit(group_id: str, member_id: str, generation: int) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=0, committed_metadata="")
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
    )


def test_a_group_is_its_owners(node: SecuredNode) -> None:
    """One who knows the id of a member, and even the generation, is told nothing and changes nothing."""
    with user(node, "alice") as alice, user(node, "mallory") as mallory:
        coordinator(alice, 0, GROUP)
        until(ErrorCode.MEMBER_ID_REQUIRED, lambda: join(alice).error_code)
        member_id = join(alice).member_id
        joined = join(alice, member_id)
        assert joined.error_code == 0
        generation = joined.generation_id
        attacks = (
            (JoinGroupRequest(group_id=GROUP, member_id=member_id, protocol_type="consumer"), 9),
            (SyncGroupRequest(group_id=GROUP, member_id=member_id, generation_id=generation), 3),
            (HeartbeatRequest(group_id=GROUP, member_id=member_id, generation_id=generation), 4),
            (LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(member_id=member_id)]), 4),
        )
        for request, version in attacks:
            assert mallory.ask(request, version).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
        [topic] = mallory.ask(commit(GROUP, member_id, generation), 8).topics
        assert topic.partitions[0].error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
        synced = alice.ask(SyncGroupRequest(group_id=GROUP, member_id=member_id, generation_id=generation), 3)
        assert synced.error_code == 0
        beat = HeartbeatRequest(group_id=GROUP, member_id=member_id, generation_id=generation)
        assert alice.ask(beat, 4).error_code == 0


def test_a_transactional_id_is_its_owners(node: SecuredNode) -> None:
    """One who knows the producer's id and epoch cannot fence it, write as it, or end what it has begun."""
    begin = InitProducerIdRequest(transactional_id=TXN, transaction_timeout_ms=60_000)
    with user(node, "alice") as alice, user(node, "mallory") as mallory:
        coordinator(alice, 1, TXN)
        until(0, lambda: alice.ask(begin, 4).error_code)
        producer = alice.ask(begin, 4)
        identity = {"transactional_id": TXN, "producer_id": producer.producer_id}
        topics = [AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])]
        add = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=TXN,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=topics,
        )
        end = EndTxnRequest(**identity, producer_epoch=producer.producer_epoch, committed=True)
        refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert mallory.ask(begin, 4).error_code == refused
        assert mallory.ask(end, 3).error_code == refused
        added = mallory.ask(add, 3).results_by_topic_v3_and_below
        assert [each.partition_error_code for topic in added for each in topic.results_by_partition] == [refused]
        stolen = produce(TOPIC, _transactional(producer.producer_id, producer.producer_epoch), TXN)
        assert mallory.ask(stolen, 9).responses[0].partition_responses[0].error_code == refused
        added = alice.ask(add, 3).results_by_topic_v3_and_below
        assert [each.partition_error_code for topic in added for each in topic.results_by_partition] == [0]
        assert alice.ask(end, 3).error_code == 0


def _transactional(producer_id: int, epoch: int) -> bytes:
    marked = 1 << 4
    return patched(batch(producer=(producer_id, epoch, 0)), ">h", 21, marked)


def produce(topic: str, records: bytes, transactional_id: str | None = None) -> ProduceRequest:
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])]
    return ProduceRequest(transactional_id=transactional_id, acks=1, timeout_ms=10_000, topic_data=data)


def test_internal_topics_are_the_clusters(node: SecuredNode) -> None:
    fetch = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic(topic=OFFSETS, partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)])],
    )
    with user(node, "alice") as alice, user(node, "mallory") as mallory:
        coordinator(alice, 0, GROUP)
        for one in (alice, mallory):
            [topic] = one.ask(fetch, 12).responses
            assert topic.partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            assert not topic.partitions[0].records
        [topic] = alice.ask(produce(OFFSETS, batch()), 9).responses
        assert topic.partition_responses[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    # A super user may read them, and write them only as coordinators do.
    with Wire(("127.0.0.1", node.port("PLAINTEXT"))) as wire:
        [topic] = wire.ask(produce(OFFSETS, batch()), 9).responses  # type: ignore[attr-defined]
    assert topic.partition_responses[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("replica_id", [1, 99])
def test_a_client_that_says_it_is_a_broker(node: SecuredNode, replica_id: int) -> None:
    fetch = FetchRequest(
        replica_id=replica_id,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic(topic=TOPIC, partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)])],
    )
    with user(node, "alice") as alice:
        answer = alice.ask(fetch, 12)
    codes = {answer.error_code, *(each.error_code for topic in answer.responses for each in topic.partitions)} - {0}
    assert codes == {ErrorCode.TOPIC_AUTHORIZATION_FAILED}


def test_an_envelope_from_a_client(node: SecuredNode) -> None:
    """It would let its sender be anybody: brokers do not serve it, whoever sends it."""
    inner = encode_request(MetadataRequest(topics=None), 12, correlation_id=1, client_id="me")[4:]
    request = EnvelopeRequest(request_data=inner, request_principal=b"", client_host_address=bytes(4))
    for listener in ("SASL", "PLAINTEXT"):
        with connect(node, listener) if listener == "PLAINTEXT" else User(node, "mallory").sock as sock:
            sock.sendall(encode_request(request, 0, correlation_id=1, client_id="me"))
            assert sock.recv(1) == b""


def test_a_user_does_not_become_another_on_the_way(node: SecuredNode) -> None:
    """A second log-in where no session ends is refused, and leaves who was there."""
    with user(node, "mallory") as mallory:
        again = mallory.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE
        answer = mallory.ask(produce(TOPIC, batch()), 9)
        code = answer.responses[0].partition_responses[0].error_code
        assert code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with connect(node, "SASL") as sock:
        sock.sendall(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, correlation_id=1, client_id="me"))
        receive_frame(sock)
        other = SaslAuthenticateRequest(auth_bytes=b"alice\0mallory\0secret")
        sock.sendall(encode_request(other, 2, correlation_id=1, client_id="me"))
        response = decode_response(receive_frame(sock), ApiKey.SASL_AUTHENTICATE, 2)[1]
        assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED  # type: ignore[attr-defined]
