"""XXH3 and the hashes of topics; the values are those of hash4j 0.22, which Kafka 4.3 hashes with."""

import pytest

from ottla.base.ids import Uuid
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes, topic_hash
from ottla.coordinator.group.consumer.assignment.xxh3 import xxh3_64
from ottla.coordinator.ports import TopicView
from tests.unit.coordinator.consumer.cluster import Cluster

HASHES = {
    0: 3244421341483603138,
    1: 5502495245947142431,
    3: 1582743943441612892,
    4: -2549016526957988167,
    7: 8458189580353027099,
    8: -2394039629164210130,
    9: -3754995788605292611,
    16: 9099606716676871632,
    17: 2345212530088924167,
    31: -6253418322204177903,
    32: 278953543771952198,
    63: 8562731308270388351,
    64: -2508381663727503547,
    65: -381843323958800864,
    96: -3295001992457868926,
    97: 6981672134384256435,
    128: -492175581222641016,
    129: -506823097681485574,
    160: -3960614606909185566,
    239: -3843338885400213691,
    240: -3690920546649497853,
    241: 809349449570470400,
    255: -8533440102264939110,
    256: -1403514104434996620,
    512: -1170120971253711958,
    1023: -1093476622474739461,
    1024: 2575082683865311686,
    1025: -4566685497618039422,
    1088: -6815162950983329211,
    2048: 1870957339171033971,
    4096: -6646856196662894405,
    5000: 6169931020318013678,
}
"""Length of the input → its hash, with a sign."""


@pytest.mark.parametrize("length", HASHES)
def test_xxh3(length: int) -> None:
    data = bytes((place * 31 + 7) % 256 for place in range(length))
    assert xxh3_64(data) == HASHES[length] % 2**64


def test_the_hash_of_a_topic() -> None:
    topic_id = Uuid(bytes.fromhex("01020304050607081112131415161718"))
    racks = [("rack2", "rack1"), ()]
    assert topic_hash(TopicView("foo", topic_id, 2), racks) == -4118081700255328296


def test_a_group_s_hash_follows_its_topics() -> None:
    cluster = Cluster({"t": 2, "u": 1})
    hashes = TopicHashes(cluster)
    first = hashes.of_group(["t", "u"])
    assert first == hashes.of_group(["u", "t", "missing"])
    assert hashes.of_group(["missing"]) == 0
    cluster.grow("t", 3)
    hashes.forget(frozenset({"t", "of no group"}))
    assert hashes.of_group(["t", "u"]) != first
