"""Formatting writes what a node needs to start, and refuses what would mix up clusters."""

from random import Random
from typing import Any

import pytest

from ottla.base.ids import Uuid
from ottla.metadata.errors import FormatError
from ottla.metadata.metadata_version import MetadataVersion
from ottla.metadata.store.bootstrap_file import read_bootstrap
from ottla.metadata.store.format import FormatOptions, Formatted, QuorumKind, Standalone, format_directories
from ottla.metadata.store.initial_controller import parse_initial_controllers
from ottla.metadata.store.metadata_store import METADATA_DIRECTORY, MetadataStore, NotFormattedError
from ottla.metadata.store.scram_argument import parse_scram_argument
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.raft.endpoint import NO_ENDPOINTS
from ottla.raft.identity import ReplicaKey
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import NO_VOTERS, VoterSet
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from ottla.storage.meta_properties import MetaProperties, read_meta_properties
from tests.unit.metadata.store.node import CLUSTER_ID, ENDPOINTS, LISTENER, START_MS, TestClock

VOTERS = "1@127.0.0.1:9093:AAAAAAAAAAAAAAAAAAAB9A,2@h2:9093:AAAAAAAAAAAAAAAAAAAB9Q"


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def run(disk: SimulatedDisk, **changes: Any) -> Formatted:
    values: dict[str, Any] = {
        "cluster_id": CLUSTER_ID,
        "node_id": 1,
        "directories": ["/a", "/b"],
        "metadata_directory": "/a",
        "controllers": Standalone(ENDPOINTS),
        **changes,
    }
    return format_directories(disk, FormatOptions(**values), random_bytes=Random(5).randbytes, now_ms=START_MS)


def history(store: MetadataStore) -> VoterHistory:
    history = VoterHistory(NO_VOTERS, store.log, store.snapshots)
    history.update()
    return history


def levels(disk: SimulatedDisk, directory: str) -> dict[str, int]:
    records = [record for record, _ in read_bootstrap(disk, directory)]
    return {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}


def test_standalone(disk: SimulatedDisk) -> None:
    done = run(disk)
    assert str(done.version) == "4.3-IV0"
    assert [(path, what) for path, what, _ in done.directories] == [
        ("/a", "dynamic metadata voter directory"),
        ("/b", "data directory"),
    ]
    store = MetadataStore.open(disk, "/a", TestClock())
    directory_id = done.directories[0].directory_id
    assert store.properties == MetaProperties(CLUSTER_ID, 1, directory_id)
    voters = history(store)
    assert voters.kraft_version == 1
    assert list(voters.last_set.keys) == [ReplicaKey(1, directory_id)]
    assert voters.last_set.endpoints(1) == ENDPOINTS
    assert levels(disk, "/a") == levels(disk, "/b")
    assert levels(disk, "/a") == {
        "metadata.version": 30,
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "share.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
    }
    assert disk.status(f"/b/{METADATA_DIRECTORY}") is None


@pytest.mark.parametrize("kind", QuorumKind)
def test_without_first_voters(disk: SimulatedDisk, kind: QuorumKind) -> None:
    done = run(disk, controllers=kind)
    assert done.directories[0].description == "metadata directory"
    assert disk.status(f"/a/{METADATA_DIRECTORY}") is None
    voters = history(MetadataStore.open(disk, "/a", TestClock()))
    assert (voters.kraft_version, voters.last_set) == (0, NO_VOTERS)


@pytest.mark.parametrize(("node_id", "what"), [(2, "voter "), (3, "")])
def test_initial_controllers(disk: SimulatedDisk, node_id: int, what: str) -> None:
    wanted = parse_initial_controllers(VOTERS, LISTENER)
    done = run(disk, controllers=wanted, node_id=node_id)
    assert done.directories[0].description == f"dynamic metadata {what}directory"
    if node_id == 2:
        assert str(done.directories[0].directory_id) == "AAAAAAAAAAAAAAAAAAAB9Q"
    assert history(MetadataStore.open(disk, "/a", TestClock())).last_set == wanted


def test_features_and_users(disk: SimulatedDisk) -> None:
    user = parse_scram_argument("SCRAM-SHA-512=[name=bob,password=pencil]", bytes)
    run(disk, release_version=MetadataVersion.V4_0_IV3, features={"transaction.version": 1}, scram=[user])
    assert levels(disk, "/a") == {"metadata.version": 25, "group.version": 1, "transaction.version": 1}
    assert read_bootstrap(disk, "/a")[-1] == user


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"node_id": -1}, "non-negative node ID"),
        ({"cluster_id": ""}, "specify the cluster id"),
        ({"directories": []}, "at least one directory"),
        ({"metadata_directory": "/c"}, "/c was not one of the given directories"),
        ({"controllers": VoterSet({})}, "No voters given"),
        ({"controllers": Standalone(NO_ENDPOINTS)}, "controller listener"),
        ({"features": {"kraft.version": 0}}, "Cannot set kraft.version to 0 if"),
        ({"features": {"kraft.version": 1}, "controllers": QuorumKind.STATIC}, "Cannot set kraft.version to 1 unless"),
        ({"features": {"nonsense": 1}}, "Unsupported feature: nonsense. Supported features are: eligible"),
        ({"features": {"group.version": 9}}, "No feature:group.version with feature level 9"),
        ({"features": {"metadata.version": 6}}, "feature level 6"),
        (
            {"features": {"metadata.version": 30}, "release_version": MetadataVersion.V4_3_IV0},
            "Use --release-version instead",
        ),
        (
            {"features": {"eligible.leader.replicas.version": 1}, "release_version": MetadataVersion.V3_9_IV0},
            "could not be set to 1 because it depends on metadata.version level 23",
        ),
        (
            {
                "scram": [parse_scram_argument("SCRAM-SHA-256=[name=a,password=b]", bytes)],
                "release_version": MetadataVersion.V3_4_IV0,
            },
            "SCRAM is only supported in metadata.version 3.5-IV2 or later",
        ),
    ],
)
def test_refuses_before_it_writes(disk: SimulatedDisk, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(FormatError) as refusal:
        run(disk, **changes)
    assert complaint in str(refusal.value)
    assert disk.operations == 0


def test_refuses_what_is_formatted(disk: SimulatedDisk) -> None:
    run(disk, directories=["/a"])
    before = read_meta_properties(disk, "/a")
    with pytest.raises(FormatError, match=r"^Log directory /a is already formatted\. Use --ignore-formatted"):
        run(disk)
    assert disk.status("/b") is None
    done = run(disk, ignore_formatted=True)
    assert [directory.path for directory in done.directories] == ["/b"]
    assert read_meta_properties(disk, "/a") == before
    assert run(disk, ignore_formatted=True).directories == []


def test_refuses_another_cluster_or_node_in_any_case(disk: SimulatedDisk) -> None:
    run(disk)
    with pytest.raises(
        FormatError, match=rf"^Invalid cluster\.id in: /a/meta\.properties\. Expected other, but read {CLUSTER_ID}$"
    ):
        run(disk, cluster_id="other", ignore_formatted=True)
    with pytest.raises(FormatError, match=r"^Stored node id 1 doesn't match previous node id 2 in /a/meta\.properties"):
        run(disk, node_id=2, ignore_formatted=True)


def test_refuses_a_log_whose_owner_is_unknown(disk: SimulatedDisk) -> None:
    run(disk)
    MetadataStore.open(disk, "/a", TestClock()).close()
    disk.remove("/a/meta.properties")
    with pytest.raises(FormatError, match="holds a metadata log"):
        run(disk, ignore_formatted=True)
    with pytest.raises(NotFormattedError, match="/a"):
        MetadataStore.open(disk, "/a", TestClock())


@pytest.mark.parametrize("seed", range(3))
def test_a_power_cut_leaves_a_directory_formatted_or_to_be_formatted(seed: int) -> None:
    for operations in range(60):
        disk = SimulatedDisk()
        disk.cut_after(operations)
        try:
            run(disk)
            done = True
        except PowerCut:
            done = False
        disk.crash(Random(seed * 100 + operations))
        found = read_meta_properties(disk, "/a")
        assert not done or found is not None
        run(disk, ignore_formatted=True)
        store = MetadataStore.open(disk, "/a", TestClock())
        assert [key.directory_id for key in history(store).last_set.keys] == [store.properties.directory_id]
        assert len(levels(disk, "/a")) == 6


def test_an_interrupted_dynamic_format_leaves_no_voters_for_a_static_one(disk: SimulatedDisk) -> None:
    run(disk)
    disk.remove("/a/meta.properties")
    disk.remove("/b/meta.properties")
    run(disk, controllers=QuorumKind.STATIC)
    assert history(MetadataStore.open(disk, "/a", TestClock())).last_set == NO_VOTERS


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "No voters given."),
        ("1", "No @ found"),
        ("@h:1:AAAAAAAAAAAAAAAAAAAB9A", "Invalid @ at beginning"),
        ("x@h:1:AAAAAAAAAAAAAAAAAAAB9A", "Failed to parse node id"),
        ("-1@h:1:AAAAAAAAAAAAAAAAAAAB9A", "Invalid negative node id -1"),
        ("1@:1:AAAAAAAAAAAAAAAAAAAB9A", "No hostname found"),
        ("1@h", "Expected host:port:directoryId"),
        ("1@h:1", "Expected host:port:directoryId"),
        ("1@h:x:AAAAAAAAAAAAAAAAAAAB9A", "Failed to parse port"),
        ("1@h:65536:AAAAAAAAAAAAAAAAAAAB9A", "Invalid port 65536"),
        ("1@h:1:short", "Failed to parse directory ID"),
        ("1@h:1:AAAAAAAAAAAAAAAAAAAAAQ", "reserved"),
        ("1@h:1:AAAAAAAAAAAAAAAAAAAB9A,1@g:1:AAAAAAAAAAAAAAAAAAAB9Q", "Node id 1 was specified more than once."),
    ],
)
def test_initial_controllers_that_make_no_sense(text: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse_initial_controllers(text, LISTENER)
    assert complaint in str(refusal.value)


def test_scram_keys_are_those_of_kafka() -> None:
    argument = 'SCRAM-SHA-256=[name=alice,password=secret,salt="c2FsdHNhbHQ=",iterations=4096]'
    record: Any = parse_scram_argument(argument, bytes).record
    assert record.salt == b"saltsalt"
    assert record.stored_key.hex() == "bfd731cb85820ed73c50cc5383a2970ad971224bb56d42931ae5845c50b52f9e"
    assert record.server_key.hex() == "af01a94a7ea547dee64842263b4440ec9099e169e90a79ca75d4eddc6fede882"


def test_scram_takes_a_salted_password() -> None:
    argument = "SCRAM-SHA-256=[name=alice,saltedpassword=c2VjcmV0,salt=c2FsdHNhbHQ=,iterations=8192]"
    record: Any = parse_scram_argument(argument, bytes).record
    assert (record.iterations, len(record.server_key)) == (8192, 32)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SCRAM-SHA-256", "Failed to find equals sign"),
        ("SCRAM-SHA-1=[name=a,password=b]", "mechanism SCRAM-SHA-1 is not supported"),
        ("SCRAM-SHA-256=name=a]", "to start with ["),
        ("SCRAM-SHA-256=[name=a", "to end with ]"),
        ("SCRAM-SHA-256=[name]", "No equals sign"),
        ("SCRAM-SHA-256=[password=b]", "You must supply 'name'"),
        ("SCRAM-SHA-256=[name=a]", "one of 'password' or 'saltedpassword'"),
        ("SCRAM-SHA-256=[name=a,saltedpassword=c2Vj]", "'salt' with 'saltedpassword'"),
        ("SCRAM-SHA-256=[name=a,password=b,salt=!]", "Failed to decode given salt"),
        ("SCRAM-SHA-256=[name=a,password=b,iterations=x]", "Failed to parse iterations"),
        ("SCRAM-SHA-256=[name=a,password=b,iterations=5]", "must be >= 4096"),
        ("SCRAM-SHA-256=[name=a,password=b,iterations=16385]", "must be <= 16384"),
        ("SCRAM-SHA-256=[name=a,password=b,colour=red]", "Unknown SCRAM configurations: colour"),
    ],
)
def test_scram_arguments_that_make_no_sense(text: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse_scram_argument(text, bytes)
    assert complaint in str(refusal.value)


def test_directory_ids_differ(disk: SimulatedDisk) -> None:
    found = {directory.directory_id for directory in run(disk).directories}
    assert len(found) == 2
    assert all(isinstance(directory_id, Uuid) for directory_id in found)
