from ottla.replication.partition.follower_progress import FollowerFetch, FollowerProgress


def fetch(offset: int) -> FollowerFetch:
    return FollowerFetch(2, 1, offset, 0)


def test_reaching_the_end_of_before_is_catching_up_as_of_then() -> None:
    follower = FollowerProgress(2)
    follower.fetched(fetch(100), leader_end_offset=110, now_ms=1000)
    assert follower.last_caught_up_ms == 0
    follower.fetched(fetch(110), leader_end_offset=120, now_ms=2000)
    assert follower.last_caught_up_ms == 1000
    follower.fetched(fetch(120), leader_end_offset=120, now_ms=3000)
    assert follower.last_caught_up_ms == 3000


def test_falling_further_behind_is_no_catching_up() -> None:
    follower = FollowerProgress(2)
    follower.fetched(fetch(100), leader_end_offset=100, now_ms=1000)
    follower.fetched(fetch(105), leader_end_offset=200, now_ms=2000)
    follower.fetched(fetch(110), leader_end_offset=300, now_ms=3000)
    assert follower.last_caught_up_ms == 1000
    assert not follower.is_caught_up(300, 3000, 1000)
    assert follower.is_caught_up(110, 3000, 1000)
