"""The supervision, step by step."""

from dataclasses import replace

from ottla.pipelines.runner.spec import Isolation, PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State
from ottla.pipelines.runner.supervision import command as c
from ottla.pipelines.runner.supervision import event as e
from ottla.pipelines.runner.supervision.machine import Supervision
from ottla.pipelines.runner.supervision.option import SupervisionOptions


def spec(name: str = "p", **fields: object) -> PipelineSpec:
    return replace(PipelineSpec(name=name, kind="copy"), **fields)  # type: ignore[arg-type]


class Story:
    """A supervision, what it was told and what it asked for."""

    def __init__(self, **options: int) -> None:
        self.machine = Supervision("c", SupervisionOptions(**options))
        self.now_ms = 0
        self.told: dict[str, PipelineStatus] = {}

    def tell(self, told: e.Event, after_ms: int = 0) -> list[c.Command]:
        """The commands that follow, without statuses."""
        self.now_ms += after_ms
        commands = self.machine.apply(told, self.now_ms)
        self.told |= {each.name: each.status for each in commands if isinstance(each, c.PublishStatus)}
        return [each for each in commands if not isinstance(each, c.PublishStatus)]

    def wait(self, ms: int) -> list[c.Command]:
        return self.tell(e.TimePassed(), ms)

    def running(self, *names: str) -> dict[str, c.StartQuery]:
        """Pipelines that run in one runner, with how each was started."""
        [start] = [each for name in names for each in self.tell(e.PipelineGained(spec(name)))]
        assert isinstance(start, c.StartRunner)
        [query] = self.tell(e.RunnerConnected(start.runner))
        queries = {}
        while isinstance(query, c.StartQuery):
            queries[query.spec.name] = query
            [query] = self.tell(e.QueryStarted(query.runner, query.spec.name, query.run)) or [None]
        return queries


def test_small_pipelines_share_a_runner_and_start_one_after_the_other() -> None:
    story = Story()
    queries = story.running("a", "b", "c")
    assert list(queries) == ["a", "b", "c"]
    assert {status.state for status in story.told.values()} == {State.RUNNING}
    [own] = story.tell(e.PipelineGained(spec("d", isolation=Isolation.OWN)))
    assert isinstance(own, c.StartRunner)


def test_a_full_runner_gets_a_neighbour() -> None:
    story = Story(runner_pipelines_max=2)
    story.running("a", "b")
    [start] = story.tell(e.PipelineGained(spec("c")))
    assert isinstance(start, c.StartRunner)


def test_a_failure_is_told_and_tried_again_later_each_time_until_it_is_given_up() -> None:
    story = Story(restarts_max=2, backoff_ms=1_000)
    query = story.running("p")["p"]
    for failures in (1, 2):
        assert story.tell(e.QueryEnded(query.runner, "p", query.run, "a bad record")) == []
        assert (story.told["p"].state, story.told["p"].failures) == (State.RESTARTING, failures)
        assert story.told["p"].trace == "a bad record"
        assert story.wait(400 * failures) == []
        [again] = story.wait(1_600 * failures)
        assert isinstance(again, c.StartQuery)
        query = again
    story.tell(e.QueryEnded(query.runner, "p", query.run, "a bad record"))
    assert (story.told["p"].state, story.told["p"].trace) == (State.FAILED, "a bad record")
    assert story.wait(10_000) == []
    [again] = story.tell(e.SpecChanged(spec(restart=1)))
    assert isinstance(again, c.StartQuery)


def test_what_can_never_work_is_given_up_at_once() -> None:
    story = Story()
    query = story.running("p")["p"]
    story.tell(e.QueryEnded(query.runner, "p", query.run, "no such option", is_permanent=True))
    assert story.told["p"].state is State.FAILED
    assert story.wait(20_000) == []
    # It stays so under the next control process, and in a pause.
    other = Supervision("d")
    commands = other.apply(e.PipelineGained(spec(), story.told["p"]), story.now_ms)
    assert [each.status.state for each in commands if isinstance(each, c.PublishStatus)] == [State.FAILED]
    story.tell(e.SpecChanged(spec(wanted=Wanted.PAUSED)))
    story.tell(e.SpecChanged(spec()))
    assert story.told["p"].state is State.FAILED


def test_a_change_stops_the_query_before_it_starts_the_new_one() -> None:
    story = Story()
    query = story.running("p")["p"]
    changed = spec(version=2)
    assert story.tell(e.SpecChanged(changed)) == [c.StopQuery(query.runner, "p", query.run)]
    [start] = story.tell(e.QueryEnded(query.runner, "p", query.run))
    assert isinstance(start, c.StartQuery)
    assert (start.spec, start.run) == (changed, query.run + 1)


def test_what_is_paused_is_stopped_and_stays_so_whatever_dies() -> None:
    story = Story(empty_ms=1_000)
    query = story.running("p")["p"]
    assert story.tell(e.SpecChanged(spec(wanted=Wanted.PAUSED))) == [c.StopQuery(query.runner, "p", query.run)]
    story.tell(e.RunnerDied(query.runner, "killed"))
    assert story.told["p"].state is State.PAUSED
    assert story.wait(60_000) == []


def test_a_dead_runner_is_replaced_and_all_of_its_pipelines_start_again() -> None:
    story = Story()
    query = story.running("a", "b")["a"]
    assert story.tell(e.RunnerDied(query.runner, "killed by SIGKILL")) == []
    assert {status.state for status in story.told.values()} == {State.RESTARTING}
    [start] = story.wait(1_000)
    assert isinstance(start, c.StartRunner)
    assert start.runner != query.runner
    [first] = story.tell(e.RunnerConnected(start.runner))
    assert isinstance(first, c.StartQuery)
    # What the dead one still had to say is of no interest.
    assert story.tell(e.QueryEnded(query.runner, "b", 2, "late")) == []


def test_silence_kills_and_so_does_a_query_that_neither_starts_nor_stops() -> None:
    story = Story(heartbeat_timeout_ms=5_000)
    query = story.running("p")["p"]
    [kill] = story.wait(5_000)
    assert isinstance(kill, c.KillRunner)
    assert story.wait(60_000) == []
    story = Story(stop_timeout_ms=5_000)
    query = story.running("p")["p"]
    story.tell(e.SpecChanged(spec(wanted=Wanted.STOPPED)))
    [kill] = story.wait(5_000)
    assert isinstance(kill, c.KillRunner)
    assert kill.runner == query.runner


def test_a_runner_without_work_ends() -> None:
    story = Story(empty_ms=1_000)
    query = story.running("p")["p"]
    story.tell(e.SpecChanged(spec(wanted=Wanted.STOPPED)))
    story.tell(e.QueryEnded(query.runner, "p", query.run))
    assert story.wait(1_000) == [c.StopRunner(query.runner)]
    assert story.tell(e.RunnerDied(query.runner, "ended")) == []
    [start] = story.tell(e.SpecChanged(spec()))
    assert isinstance(start, c.StartRunner)


def test_deleted_pipelines_are_forgotten_when_they_have_ended() -> None:
    story = Story()
    query = story.running("p")["p"]
    assert story.tell(e.SpecDeleted("p")) == [c.StopQuery(query.runner, "p", query.run)]
    assert story.tell(e.QueryEnded(query.runner, "p", query.run)) == [c.ForgetPipeline(spec())]
    assert story.machine.pipelines == {}


def test_a_checkpoint_that_is_held_is_no_failure() -> None:
    story = Story(busy_ms=500)
    [start] = story.tell(e.PipelineGained(spec()))
    [query] = story.tell(e.RunnerConnected(start.runner))  # type: ignore[union-attr]
    assert isinstance(query, c.StartQuery)
    story.tell(e.QueryEnded(query.runner, "p", query.run, "held by another", is_busy=True))
    assert story.told["p"].failures == 0
    [again] = story.wait(500)
    assert isinstance(again, c.StartQuery)
