"""Our assignors give exactly what Apache Kafka 4.3's give, partition by partition and in the same order.

`OTTLA_ASSIGNOR_EXAMPLES` says how many examples are compared.
"""

import json
import os
from pathlib import Path

import pytest

from tests.kafka.peer import require_kafka
from tests.property.client_assignor import example, record

EXAMPLES = int(os.environ.get("OTTLA_ASSIGNOR_EXAMPLES", "600"))


@pytest.mark.long
def test_assignments_are_those_of_java(tmp_path: Path) -> None:
    require_kafka()
    given = [example.draw(seed) for seed in range(EXAMPLES)]
    compared = 0
    for seed, expected in enumerate(record.answers(given, tmp_path)):
        ours = example.solve(given[seed])
        if not isinstance(expected, str):
            compared += 1
            assert ours == expected, f"seed {seed}: {json.dumps(given[seed])}"
    assert compared > EXAMPLES * 0.95


@pytest.mark.parametrize("seed", range(100))
def test_every_partition_has_at_most_one_owner_who_wants_it(seed: int) -> None:
    drawn = example.draw(100_000 + seed)
    owned = [(tuple(partition), member) for member, share in example.solve(drawn).items() for partition in share]
    assert len(dict(owned)) == len(owned)
    for (topic, number), member in owned:
        assert topic in drawn["members"][member]["topics"]
        assert number < len(drawn["topics"][topic])
