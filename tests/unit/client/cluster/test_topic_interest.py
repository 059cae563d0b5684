import pytest

from ottla.client.cluster.topic_interest import TopicInterest


def asked(interest: TopicInterest) -> list[str | None] | None:
    topics = interest.question().topics
    return None if topics is None else [topic.name for topic in topics]


def test_only_news_are_news() -> None:
    interest = TopicInterest(may_create=True)
    assert interest.add(["a", "b"])
    assert not interest.add(["a"])
    assert asked(interest) == ["a", "b"]
    interest.remove(["a"])
    assert asked(interest) == ["b"]
    assert interest.set(["c"])
    assert not interest.set(["c"])
    assert asked(interest) == ["c"]


def test_nothing_is_not_everything() -> None:
    interest = TopicInterest(may_create=True)
    assert asked(interest) == []
    assert interest.add_all()
    assert not interest.add_all()
    assert asked(interest) is None
    assert interest.names is None
    interest.set(["a"])
    assert interest.names == {"a"}


def test_all_topics_are_never_created() -> None:
    for may_create in (True, False):
        interest = TopicInterest(may_create=may_create)
        interest.add(["a"])
        assert interest.question().allow_auto_topic_creation is may_create
        interest.add_all()
        assert interest.question().allow_auto_topic_creation is False


@pytest.mark.parametrize("wrong", [None, b"orders", 7])
def test_what_is_no_name_is_refused_and_not_asked_for(wrong: object) -> None:
    interest = TopicInterest(may_create=True)
    interest.add(["a"])
    for want in (interest.add, interest.set):
        with pytest.raises(TypeError, match=f"named by a str, not by {type(wrong).__name__}"):
            want(["b", wrong])  # type: ignore[list-item]
    assert asked(interest) == ["a"]
