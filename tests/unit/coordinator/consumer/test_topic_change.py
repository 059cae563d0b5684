"""The names of topics that changed: known for a while, and not kept for ever."""

from ottla.coordinator.group.consumer.assignment.topic_change import NAMES_MAX, TopicChanges


def test_the_topics_that_changed_since_are_named() -> None:
    changes = TopicChanges()
    changes.note({"a"})
    changes.note({"b", "c"})
    changes.note({"a"})
    assert changes.since(0, ["a", "b", "d"]) == ["a", "b"]
    assert changes.since(2, ["a", "b", "c"]) == ["a"]
    assert changes.since(3, ["a", "b", "c"]) == []


def test_only_the_last_ones_are_kept() -> None:
    changes = TopicChanges()
    for number in range(3 * NAMES_MAX):
        changes.note({f"t{number}", "always"})
    assert len(changes) == NAMES_MAX
    assert changes.count == 3 * NAMES_MAX
    newest = f"t{3 * NAMES_MAX - 1}"
    assert changes.since(0, ["t0", "always", newest]) == ["always", newest]


def test_a_change_of_very_many_topics_is_kept_in_part() -> None:
    changes = TopicChanges()
    changes.note({f"t{number}" for number in range(3 * NAMES_MAX)})
    assert len(changes) == NAMES_MAX
