"""What a bucket measures, and how long it has its clients wait: Kafka's rates."""

from ottla.broker.quota.bucket import Bucket


def bucket(limit: float = 1_000, throttle_ms_max: int | None = None) -> Bucket:
    return Bucket(limit, windows=11, window_ms=1_000, throttle_ms_max=throttle_ms_max)


def test_ten_seconds_worth_at_once_is_free() -> None:
    used = bucket()
    assert used.left(0) == 10_000
    used.record(10_000, 0)
    assert used.throttle_ms(0) == 0
    assert used.left(0) == 0
    used.record(1_000, 0)
    assert used.throttle_ms(0) == 1_000


def test_a_client_that_waits_as_told_keeps_to_its_rate() -> None:
    used, now_ms, sent = bucket(), 0, 0
    while now_ms < 120_000:
        used.record(2_500, now_ms)
        sent += 2_500
        now_ms += 10 + used.throttle_ms(now_ms)
    assert 0.9 < (sent - 10_000) * 1_000 / now_ms / 1_000 < 1.1


def test_a_wait_can_be_bounded() -> None:
    used = bucket(throttle_ms_max=1_000)
    used.record(1_000_000, 0)
    assert used.throttle_ms(0) == 1_000


def test_another_limit_acts_at_once_on_what_was_used() -> None:
    used = bucket()
    used.record(9_000, 0)
    assert used.throttle_ms(0) == 0
    used.limit = 450
    assert used.throttle_ms(0) == 10_000
    used.limit = 1_000
    assert used.throttle_ms(0) == 0
