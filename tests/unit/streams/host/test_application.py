"""An application's tasks, topics and layout."""

import pytest

from ottla.streams import (
    Consumed,
    Grouped,
    JoinWindows,
    Materialized,
    Produced,
    Repartitioned,
    Serdes,
    StreamJoined,
    StreamsBuilder,
    TimeWindows,
    Topology,
)
from ottla.streams.errors import TopologyError
from ottla.streams.host.application import Application
from ottla.streams.host.layout import IncompatibleTopologyError, check_layout

TEXT = Serdes.string()


def word_count(store: str = "counts") -> Topology:
    builder = StreamsBuilder()
    words = builder.stream("lines", Consumed.with_(TEXT, TEXT)).flat_map_values(lambda line: line.split())
    counts = words.group_by(lambda key, word: word, Grouped.with_(TEXT, TEXT)).count(
        materialized_as=Materialized.as_(store)
    )
    counts.to_stream().to("counts", Produced.with_(TEXT, Serdes.long()))
    return builder.build()


def planned(topology: Topology, **counts: int) -> Application:
    return Application.planned(topology, {"application.id": "app"}, counts)


def test_internal_topics_have_kafkas_names_partitions_and_settings() -> None:
    application = planned(word_count(), lines=3)
    assert [(plan.name, plan.partitions) for plan in application.repartition_topics] == [("app-counts-repartition", 3)]
    assert application.repartition_topics[0].config["retention.ms"] == "-1"
    changelog = application.changelogs["counts"]
    assert (changelog.name, changelog.partitions) == ("app-counts-changelog", 3)
    assert changelog.config["cleanup.policy"] == "compact"
    assert application.inputs == ("lines", "app-counts-repartition")
    assert [stage.partitions for stage in application.stages] == [3, 3]
    assert application.partitions == 3


def test_a_windowed_changelog_is_deleted_too_a_day_after_its_retention() -> None:
    builder = StreamsBuilder()
    grouped = builder.stream("in", Consumed.with_(TEXT, TEXT)).group_by_key(Grouped.with_(TEXT, TEXT))
    grouped.windowed_by(TimeWindows.of_size_with_no_grace(60_000)).count(materialized_as=Materialized.as_("w"))
    config = planned(builder.build(), **{"in": 1}).changelogs["w"].config
    assert (config["cleanup.policy"], config["retention.ms"]) == ("compact,delete", str(60_000 + 86_400_000))


def joined(*, repartitioned: int | None = None) -> Topology:
    builder = StreamsBuilder()
    left, right = (builder.stream(topic, Consumed.with_(TEXT, TEXT)) for topic in ("left", "right"))
    if repartitioned is not None:
        left = left.repartition(Repartitioned.with_(TEXT, TEXT).with_number_of_partitions(repartitioned))
    windows = JoinWindows.of_time_difference_with_no_grace(10)
    left.join(right, lambda a, b: a + b, windows, StreamJoined.with_(TEXT, TEXT, TEXT)).to("out")
    return builder.build()


def test_topics_that_are_joined_need_the_same_number_of_partitions() -> None:
    assert planned(joined(), left=2, right=2).partitions == 2
    with pytest.raises(TopologyError, match="not co-partitioned: left has 2, right has 3 partitions"):
        planned(joined(), left=2, right=3)
    assert planned(joined(repartitioned=3), left=2, right=3).partitions == 3


def test_a_missing_topic_is_named() -> None:
    with pytest.raises(TopologyError, match="there is no topic lines: create it first"):
        planned(word_count())


def test_old_state_fits_the_same_topology_only() -> None:
    layout = planned(word_count(), lines=3).layout()
    check_layout(layout, planned(word_count(), lines=3).layout())
    with pytest.raises(IncompatibleTopologyError, match="sub-topology 1 had 3 partitions and has 4"):
        check_layout(layout, planned(word_count(), lines=4).layout())
    with pytest.raises(IncompatibleTopologyError, match=r"has lost the store counts; .* has the new store totals"):
        check_layout(layout, planned(word_count("totals"), lines=3).layout())


def test_what_is_changed_without_touching_state_is_allowed() -> None:
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, TEXT)).filter(lambda k, v: True).to("out", Produced.with_(TEXT, TEXT))
    before = planned(builder.build(), **{"in": 1})
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, TEXT)).map_values(str.upper).to("out", Produced.with_(TEXT, TEXT))
    check_layout(before.layout(), planned(builder.build(), **{"in": 1}).layout())
