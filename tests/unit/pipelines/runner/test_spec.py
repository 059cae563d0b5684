"""Specs of pipelines as anybody may write them."""

import pytest

from ottla.pipelines.runner.spec import InvalidSpecError, Isolation, PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State


def test_a_short_spec_has_defaults() -> None:
    spec = PipelineSpec.from_json("orders", b'{"kind": "copy"}')
    assert spec == PipelineSpec(name="orders", kind="copy")
    assert (spec.place, spec.wanted, spec.isolation) == ("orders/1", Wanted.RUNNING, Isolation.SHARED)


def test_a_spec_is_read_as_it_was_written() -> None:
    spec = PipelineSpec(
        name="zürich", kind="m:C", definition={"a": [1]}, version=3, wanted=Wanted.PAUSED, isolation=Isolation.OWN,
        checkpoint="zürich/7", restart=2,
    )  # fmt: skip
    assert PipelineSpec.from_json("zürich", spec.to_json()) == spec


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("p", b"{", "not JSON"),
        ("p", b"[]", "JSON object"),
        ("p", b"{}", "'kind' has to be a text"),
        ("p", b'{"kind": ""}', "'kind' has to be a text"),
        ("p", b'{"kind": "copy", "definition": 1}', "'definition' has to be a JSON object"),
        ("p", b'{"kind": "copy", "version": true}', "'version' has to be a whole number"),
        ("p", b'{"kind": "copy", "wanted": "gone"}', "'wanted' has to be one of running, paused, stopped"),
        ("p", b'{"kind": "copy", "checkpoint": "../../etc"}', "no directory below the root"),
        ("p", b'{"kind": "copy", "checkpoint": "/etc"}', "no directory below the root"),
        ("..", b'{"kind": "copy", "checkpoint": ""}', "no directory below the root"),
        ("", b'{"kind": "copy"}', "can't be a pipeline's name"),
        ("a\n", b'{"kind": "copy"}', "can't be a pipeline's name"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(name: str, value: bytes, words: str) -> None:
    with pytest.raises(InvalidSpecError, match=words):
        PipelineSpec.from_json(name, value)


def test_a_status_is_read_as_it_was_written_and_newer_fields_are_passed_over() -> None:
    status = PipelineStatus(state=State.FAILED, version=2, trace="no", progress={"rows": 1}, parts=({"id": 0},))
    assert PipelineStatus.from_json(status.to_json()) == status
    assert PipelineStatus.from_json(b'{"state": "running", "colour": "red"}').state is State.RUNNING
