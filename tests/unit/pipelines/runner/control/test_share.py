"""What follows from the records of one partition."""

from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.pipelines.runner.control.share import Share
from ottla.pipelines.runner.spec import PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State
from ottla.pipelines.runner.supervision import event as e

NUMBER, COUNT = partition_of_key(b"p", 4), 4


def share() -> Share:
    return Share(NUMBER, COUNT, "me", "")


def test_nothing_follows_before_everything_is_read() -> None:
    found = share()
    stopped = PipelineSpec(name="p", kind="copy", wanted=Wanted.STOPPED)
    assert found.read_spec(b"p", PipelineSpec(name="p", kind="copy").to_json()) == []
    assert found.read_spec(b"p", stopped.to_json()) == []
    status = PipelineStatus(state=State.RUNNING, control="other")
    assert found.read_status(b"p", status.to_json()) == []
    assert found.loaded() == [e.PipelineGained(stopped, status)]


def test_what_was_deleted_while_nobody_looked_is_found() -> None:
    found = share()
    status = PipelineStatus(state=State.RUNNING)
    found.read_status(b"p", status.to_json())
    assert found.loaded() == [e.RemainsFound("p", status)]


def test_changes_are_told_and_repetitions_are_not() -> None:
    found = share()
    found.loaded()
    spec = PipelineSpec(name="p", kind="copy")
    assert found.read_spec(b"p", spec.to_json()) == [e.SpecChanged(spec)]
    assert found.read_spec(b"p", spec.to_json()) == []
    assert found.read_spec(b"p", None) == [e.SpecDeleted("p")]
    assert found.read_spec(b"p", None) == []


def test_what_makes_no_sense_is_passed_over() -> None:
    found = share()
    found.loaded()
    assert found.read_spec(b"p", b"{") == []
    assert found.read_status(b"p", b"{") == []
    other = next(key for key in (b"a", b"b", b"c", b"d", b"e") if partition_of_key(key, COUNT) != NUMBER)
    assert found.read_spec(other, PipelineSpec(name=other.decode(), kind="copy").to_json()) == []


def test_a_status_of_another_control_process_is_noticed() -> None:
    found = share()
    found.loaded()
    for control, wanted in (("me", []), ("", []), ("other", [e.StatusOverwritten("p")])):
        assert found.read_status(b"p", PipelineStatus(state=State.PAUSED, control=control).to_json()) == wanted


def test_pipelines_of_another_owner_are_for_its_control_processes() -> None:
    found = Share(NUMBER, COUNT, "me", "connect-a")
    ours = PipelineSpec(name="p", kind="connect", owner="connect-a")
    theirs = PipelineSpec(name="p", kind="connect", owner="connect-b")
    running = PipelineStatus(state=State.RUNNING, control="other", owner="connect-b")
    found.read_status(b"p", running.to_json())
    found.read_spec(b"p", theirs.to_json())
    assert found.loaded() == []
    assert found.read_spec(b"p", None) == []
    assert found.read_status(b"p", running.to_json()) == []
    assert found.read_spec(b"p", ours.to_json()) == [e.SpecChanged(ours)]
    assert found.read_spec(b"p", theirs.to_json()) == [e.PipelineLost("p")], "its query ends, its checkpoint stays"
