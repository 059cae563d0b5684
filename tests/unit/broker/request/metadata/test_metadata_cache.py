"""What a broker knows of the cluster, as clients of each listener may use it."""

from ottla.broker.request.metadata.metadata_cache import PREPARED_BYTES_MAX, MetadataCache
from ottla.protocol.messages.broker_registration import Listener
from tests.unit.broker.small_broker import StillConnection
from tests.unit.metadata.cluster import Cluster, directory_of, uuid_of


def two_listeners(broker_id: int, *names: str) -> list[Listener]:
    return [Listener(name=name, host=f"{name.lower()}-{broker_id}", port=9000 + broker_id) for name in names]


def cluster_of(cache: MetadataCache, *brokers: int) -> Cluster:
    cluster = Cluster()
    cluster.loader.add_listener(cache)
    cluster.start(*brokers)
    return cluster


def test_every_listener_has_its_own_addresses() -> None:
    cache = MetadataCache(1)
    cluster = cluster_of(cache)
    cluster.start(1, listeners=two_listeners(1, "INSIDE", "OUTSIDE"), rack="a")
    cluster.start(2, listeners=two_listeners(2, "INSIDE"))
    assert cache.endpoint(1, "OUTSIDE") == ("outside-1", 9001)
    assert cache.endpoint(2, "OUTSIDE") is None
    assert cache.endpoint(2, "INSIDE") == ("inside-2", 9002)
    assert [(broker.id, broker.rack) for broker in cache.alive_brokers("INSIDE")] == [(1, "a"), (2, None)]
    assert [broker.id for broker in cache.alive_brokers("OUTSIDE")] == [1]


def test_a_fenced_broker_is_registered_and_not_alive() -> None:
    cache = MetadataCache(1)
    cluster = cluster_of(cache, 1, 2)
    cluster.fence(2)
    assert [broker.id for broker in cache.alive_brokers("PLAINTEXT")] == [1]
    registered = cache.registered_brokers("PLAINTEXT")
    assert [(broker.id, is_fenced) for broker, is_fenced in registered] == [(1, False), (2, True)]
    assert cache.endpoint(2, "PLAINTEXT") is None
    assert not cache.is_alive(2)
    assert not cache.is_alive(99)


def test_the_own_address_follows_what_a_client_dialled() -> None:
    cache = MetadataCache(1, follow_dialled_address=True)
    cluster_of(cache, 1, 2)
    dialled = StillConnection(local=("192.168.1.5", 19_092))
    assert cache.endpoint(1, "PLAINTEXT", dialled) == ("192.168.1.5", 19_092)
    assert cache.endpoint(2, "PLAINTEXT", dialled) == ("127.0.0.1", 9094)
    assert [broker.port for broker in cache.alive_brokers("PLAINTEXT", dialled)] == [19_092, 9094]
    assert MetadataCache(1).prepared_key(9, b"", dialled).dialled is None
    assert cache.prepared_key(9, b"", dialled).dialled == ("192.168.1.5", 19_092)


def test_the_controller_is_some_live_broker() -> None:
    cache = MetadataCache(1, choose=max)
    assert cache.controller_id == -1
    cluster = cluster_of(cache, 1, 2, 3)
    assert cache.controller_id == 3
    cluster.fence(3)
    assert cache.controller_id == 2


def test_replicas_are_offline_with_their_broker_their_listener_or_their_directory() -> None:
    cache = MetadataCache(1)
    cluster = cluster_of(cache, 1, 2, 3)
    cluster.create("t", [1, 2, 3])
    assert cache.view("PLAINTEXT").offline_replicas(cluster.partition("t")) == []
    cluster.fence(2)
    assert cache.view("PLAINTEXT").offline_replicas(cluster.partition("t")) == [2]
    assert cache.view("ELSE").offline_replicas(cluster.partition("t")) == [1, 2, 3]
    moved = cluster.partition("t")._replace(directories=(directory_of(1), directory_of(2), uuid_of(5)))
    assert cache.view("PLAINTEXT").offline_replicas(moved) == [2, 3]


def test_topics_are_found_by_name_and_by_id() -> None:
    cache = MetadataCache(1)
    cluster = cluster_of(cache, 1)
    cluster.create("b", [1])
    cluster.create("a", [1], [1])
    assert cache.topic_names() == ["a", "b"]
    assert cache.topic_name(cache.topic_id("a")) == "a"
    assert not any(cache.topic_id("nowhere"))
    assert cache.topic_name(uuid_of(1)) is None
    assert cache.partition("a", 1) is not None
    assert cache.partition("a", 2) is None
    assert cache.partition("nowhere", 0) is None
    cluster.create("c", [1])
    assert cache.topic_names() == ["a", "b", "c"]


def test_answers_are_kept_until_a_broker_or_a_topic_changes() -> None:
    cache = MetadataCache(1)
    cluster = cluster_of(cache, 1)
    key = cache.prepared_key(9, b"request", StillConnection())
    assert cache.prepared(key) is None
    cache.prepare(key, b"answer")
    cluster.pass_time(1_000)
    assert cache.image.provenance.offset > 0
    assert cache.prepared(key) == b"answer", "a NoOpRecord changes nothing"
    cluster.create("t", [1])
    assert cache.prepared(key) is None
    cache.prepare(key, b"answer")
    cluster.start(2)
    assert cache.prepared(key) is None


def test_answers_that_are_kept_have_a_bound() -> None:
    cache = MetadataCache(1)
    connection = StillConnection()
    size = PREPARED_BYTES_MAX // 4
    keys = [cache.prepared_key(9, bytes([place]), connection) for place in range(5)]
    for key in keys:
        cache.prepare(key, bytes(size - 100))
    assert cache.prepared(keys[4]) is not None
    assert sum(cache.prepared(key) is not None for key in keys) <= 4
    cache.prepare(keys[0], bytes(PREPARED_BYTES_MAX + 1))
    assert cache.prepared(keys[0]) is None
