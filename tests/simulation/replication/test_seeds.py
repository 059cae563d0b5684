"""Whatever happens, what was acknowledged stays. `OTTLA_REPLICATION_SEEDS=500` runs more; a failure names its seed."""

import os
from random import Random

import pytest

from ottla.metadata.image.partition import NO_LEADER
from ottla.protocol.records.reader import read_tuples
from ottla.replication.partition.leadership import Leadership
from tests.simulation.replication.world import BROKERS, PARTITIONS, World

SEEDS = int(os.environ.get("OTTLA_REPLICATION_SEEDS", "12"))
STEPS = 250


def run(seed: int) -> World:
    """A run of trouble, then peace until all is well."""
    world = World(seed)
    random = Random(seed)
    world.pass_time(200)
    for _ in range(STEPS):
        step(world, random)
    settle(world)
    return world


def step(world: World, random: Random) -> None:
    broker_id, index = random.choice(BROKERS), random.randrange(PARTITIONS)
    dice = random.random()
    if dice < 0.45:
        world.produce(world.partition(index).leader if random.random() < 0.8 else broker_id, index)
    elif dice < 0.6:
        world.consume(broker_id, index)
    elif dice < 0.64:
        world.cut = set() if world.cut else {broker_id}
    elif dice < 0.67:
        world.kill(broker_id, power=random.random() < 0.5)
    elif dice < 0.72:
        world.revive(broker_id)
    elif dice < 0.75:
        world.elect(index)
    elif dice < 0.8 and world.partition(index).leader != NO_LEADER:
        world.delete(world.partition(index).leader, index)
    for machine in world.machines.values():
        if random.random() < 0.6:
            machine.learn(random.randint(1, 3))
    world.pass_time(random.choice((5, 10, 20, 50)))


def settle(world: World) -> None:
    world.cut = set()
    for broker_id in BROKERS:
        world.revive(broker_id)
    for _ in range(40):
        for machine in world.machines.values():
            machine.learn(100)
        world.pass_time(250)


def check(world: World) -> None:
    """All replicas are in sync, the same, and have what was acknowledged and read."""
    assert world.acknowledged
    for index in range(PARTITIONS):
        assert sorted(world.partition(index).isr) == list(BROKERS)
        starts = [log.log_start_offset for machine in world.machines.values() if (log := machine.log(index))]
        assert min(starts) >= world.deleted[index]
        # A leader that was deposed before it could confirm a deletion begins later than the others.
        start = max(starts)
        contents = [records(world, broker_id, index, start) for broker_id in BROKERS]
        assert contents[0] == contents[1] == contents[2]
        for known in (world.acknowledged, world.consumed):
            for (partition, offset), value in known.items():
                if partition == index and offset >= start:
                    assert contents[0].get(offset) == value, f"offset {offset} of {index} is lost"


def records(world: World, broker_id: int, index: int, start: int) -> dict[int, bytes]:
    log = world.machines[broker_id].log(index)
    assert log is not None
    found: dict[int, bytes] = {}
    position = start
    while position < log.log_end_offset:
        data = log.read(position, 1 << 20, log.log_end_offset).records
        assert data is not None
        for offset, _, _, value, _ in read_tuples(data.read()):
            found[offset] = value or b""
        position = max(found) + 1
    return {offset: value for offset, value in found.items() if offset >= start}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_acknowledged_is_lost(seed: int) -> None:
    try:
        check(run(seed))
    except Exception as error:
        error.add_note(f"replay: check(run({seed}))")
        raise


def test_a_leader_that_commits_alone_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker itself is checked: a high watermark that waits for nobody must lose something."""
    monkeypatch.setattr(Leadership, "high_watermark", lambda self, log_end_offset, min_insync_replicas: log_end_offset)
    assert any(fails(seed) for seed in range(20))


def test_a_deletion_that_is_confirmed_at_once_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A low watermark that waits for nobody must bring something back."""
    monkeypatch.setattr(Leadership, "low_watermark", lambda self, log_start_offset: log_start_offset)
    assert any(fails(seed) for seed in range(20))


def fails(seed: int) -> bool:
    """Whether the run finds something."""
    try:
        check(run(seed))
    except AssertionError:
        return True
    return False
