"""A broker whose controller is in another process answers as one whose controller is its own."""

from pathlib import Path

import pytest

from tests.clients.server import OttlaServer
from tests.integration.broker.parity import config_case, security_case, topic_case
from tests.integration.broker.parity.step import Step, answers_of
from tests.integration.broker.split_server import SplitServer


@pytest.mark.parametrize(
    "steps", [topic_case.STEPS, config_case.STEPS, security_case.STEPS], ids=["topics", "configs", "security"]
)
def test_both_answer_the_same(steps: list[Step], tmp_path: Path) -> None:
    expected = answers_of(OttlaServer(tmp_path / "one"), steps)
    assert answers_of(SplitServer(tmp_path / "two"), steps) == expected
