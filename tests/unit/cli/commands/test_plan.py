"""The figures of a plan, and how rates, sizes and times are written."""

import pytest

from ottla.cli.commands.plan_figure import Network, Wish, disk_total, network_of, partitions_for, plan_of
from ottla.cli.commands.plan_quantity import rate_of, seconds_of, size_of
from ottla.cli.output.advice import CommandError

WISH = Wish(target=100e6, produce=10e6, consume=20e6, retention_s=3600, segment_bytes=10**9)


@pytest.mark.parametrize(
    ("target", "produce", "consume", "partitions"),
    [
        (100e6, 10e6, 20e6, 10),
        (100e6, 50e6, 9e6, 12),
        (100e6, 100e6, 100e6, 1),
        (1, 1e9, 1e9, 1),
        (10.1e6, 10e6, 99e6, 2),
    ],
)
def test_partitions(target: float, produce: float, consume: float, partitions: int) -> None:
    assert partitions_for(target, produce, consume) == partitions


def test_all_figures_of_one_plan() -> None:
    plan = plan_of(WISH._replace(headroom=0.0))
    assert (plan.partitions, plan.partitions_even, plan.leaders_per_broker, plan.replicas_per_broker) == (10, 12, 4, 12)
    # 100 MB/s for an hour are 360 GB, and a segment of 1 GB for each of 12 partitions, three times.
    assert plan.disk_total == 3 * (360e9 + 12e9)
    assert plan.disk_per_broker == plan.disk_total / 3
    assert plan.network == Network(100e6, 100e6)
    # 360 GB in 12 partitions are 30 segments each, and one that is written to.
    assert plan.open_files == 12 * 31 * 3 + 1000
    assert plan.memory_maps == 12 * 31 * 2
    assert (plan.failover_s, plan.stop_s) == (9.02, 0.02)


def test_what_is_kept_free_is_added() -> None:
    assert disk_total(WISH._replace(headroom=0.5), 12) == 2 * disk_total(WISH._replace(headroom=0.0), 12)


@pytest.mark.parametrize(
    ("replicas", "brokers", "readers", "network"),
    [
        (1, 1, 1, Network(100e6, 100e6)),
        (3, 3, 1, Network(100e6, 100e6)),
        (3, 3, 0, Network(100e6, 100e6 / 3 * 2)),
        # With one of three down there are two copies to make.
        (3, 2, 1, Network(100e6, 100e6)),
        (2, 4, 3, Network(50e6, 100e6)),
    ],
)
def test_network(replicas: int, brokers: int, readers: int, network: Network) -> None:
    found = network_of(WISH._replace(replicas=replicas, readers=readers), brokers)
    assert found == pytest.approx(network)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("200MB/s", 200e6), ("200 MB/s", 200e6), ("1GiB/s", 2**30), ("80Mbit/s", 10e6), ("5000", 5000), ("1.5k/s", 1500)],
)
def test_rates(text: str, rate: float) -> None:
    assert rate_of(text, "--target") == rate


@pytest.mark.parametrize("text", ["", "fast", "0", "10MB/h", "-5MB/s", "MB/s", "10 apples/s"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(CommandError, match="--target"):
        rate_of(text, "--target")


def test_times_and_sizes() -> None:
    assert [seconds_of(text, "--retention") for text in ("7d", "12h", "30m", "90s", "5ms")] == [
        604_800, 43_200, 1800, 90, 0.005,
    ]  # fmt: skip
    for text in ("7", "d", "7 weeks"):
        with pytest.raises(CommandError, match="--retention"):
            seconds_of(text, "--retention")
    assert size_of("512MiB", "--segment") == 512 * 2**20
