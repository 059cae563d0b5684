"""Apache Kafka and Ottla are asked the same and must answer the same, but for what may differ (see `parity.shape`).

A step that has a `deviation` must be answered otherwise: the list of them can only shrink by itself.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import APACHE, OTTLA, make_server
from tests.integration.broker.parity import cluster_case, config_case, security_case, topic_case
from tests.integration.broker.parity.step import Served, Step, answers

CLUSTER_ID = "QUFBQUFBQUFBQUFBQUFBQQ"
SUBJECTS = {
    "topics": topic_case.STEPS,
    "configs": config_case.STEPS,
    "cluster": cluster_case.STEPS,
    "security": security_case.STEPS,
}


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> list[Step]:
    return SUBJECTS[request.param]


def answers_of(kind: str, directory: Path, steps: list[Step]) -> dict[str, Any]:
    server = make_server(kind, directory)
    server.format(CLUSTER_ID)
    server.start()
    try:
        return answers(Served(server), steps)
    finally:
        server.stop()


def test_both_answer_the_same(subject: list[Step], tmp_path: Path) -> None:
    expected = answers_of(APACHE, tmp_path / APACHE, subject)
    found = answers_of(OTTLA, tmp_path / OTTLA, subject)
    deviations = {f"{step.name} v{version}" for step in subject if step.deviation for version in step.versions}
    wrong = [
        f"{name}\n  Apache Kafka: {_line(expected[name])}\n  Ottla:        {_line(found[name])}"
        for name in expected
        if (expected[name] == found[name]) is (name in deviations)
    ]
    assert not wrong, f"{len(wrong)} of {len(expected)} answers:\n" + "\n".join(wrong)


def _line(answer: Any) -> str:
    return json.dumps(answer, default=str)
