"""However members come and go, each task has one member, loads are even, and nothing moves that need not."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.streams.host.task_share import Claim, Share, TaskId, shared, without_moving

TASKS = st.dictionaries(st.builds(TaskId, st.integers(0, 3), st.integers(0, 11)), st.booleans(), max_size=30)
MEMBERS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


def claims_of(shares: dict[str, Share], members: list[str]) -> dict[str, Claim]:
    """What members say that are left, or new, after an assignment."""
    kept = {member: share for member, share in shares.items() if member in members}
    claims = {
        member: Claim(frozenset(share.active), frozenset(share.active + share.standby))
        for member, share in kept.items()
    }
    return {member: claims.get(member, Claim()) for member in members}


@given(TASKS, MEMBERS, st.lists(MEMBERS, max_size=4), st.integers(0, 2))
def test_all_tasks_are_shared_evenly_through_all_changes(
    tasks: dict[TaskId, bool], members: list[str], changes: list[list[str]], replicas: int
) -> None:
    shares = shared(tasks, {member: Claim() for member in members}, replicas)
    for following in [members, *changes]:
        before, shares = shares, shared(tasks, claims_of(shares, following), replicas)
        assert sorted(task for share in shares.values() for task in share.active) == sorted(tasks)
        loads = [len(share.active) for share in shares.values()]
        assert max(loads) - min(loads) <= 1
        stateful = [sum(tasks[task] for task in share.active) for share in shares.values()]
        assert max(stateful) - min(stateful) <= 1
        for share in shares.values():
            assert not set(share.active) & set(share.standby)
            assert all(tasks[task] for task in share.standby)
        copies = [task for share in shares.values() for task in share.standby]
        assert len(copies) == min(replicas, len(following) - 1) * sum(tasks.values())
        if set(before) == set(following):
            assert {member: share.active for member, share in shares.items()} == {
                member: share.active for member, share in before.items()
            }


@given(TASKS, MEMBERS, MEMBERS)
def test_a_task_is_given_out_once_its_owner_has_let_go(
    tasks: dict[TaskId, bool], members: list[str], following: list[str]
) -> None:
    claims = claims_of(shared(tasks, {member: Claim() for member in members}), following)
    running = {member: sorted(claim.running) for member, claim in claims.items()}
    wanted = shared(tasks, claims)
    first = without_moving(wanted, running)
    for member, given_out in first.items():
        others = {task for other, owned in running.items() if other != member for task in owned}
        assert not others & set(given_out)
    let_go = {member: sorted(set(owned) & set(first[member])) for member, owned in running.items()}
    second = without_moving(wanted, let_go)
    assert second == {member: share.active for member, share in wanted.items()}
