"""Apache Kafka and Ottla are asked the same and must answer the same, but for what may differ (see `parity.shape`).

A step that has a `deviation` must be answered otherwise, so that the list of them stays true. A broker of ours under
a controller of Apache Kafka's must answer as Apache Kafka does, too.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import OttlaServer
from tests.integration.broker.parity import cluster_case, config_case, security_case, topic_case
from tests.integration.broker.parity.step import Step, answers_of
from tests.integration.broker.split_server import ApacheController, SplitServer
from tests.kafka.peer import KafkaServer, require_kafka

pytestmark = pytest.mark.long

SUBJECTS = {
    "topics": topic_case.STEPS,
    "configs": config_case.STEPS,
    "cluster": cluster_case.STEPS,
    "security": security_case.STEPS,
}


@pytest.fixture(scope="module")
def apache_answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What Apache Kafka answers, by subject."""
    require_kafka()
    return {
        subject: answers_of(KafkaServer(tmp_path_factory.mktemp(subject)), steps) for subject, steps in SUBJECTS.items()
    }


@pytest.mark.parametrize("subject", SUBJECTS)
def test_both_answer_the_same(subject: str, apache_answers: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    expected = apache_answers[subject]
    found = answers_of(OttlaServer(tmp_path), SUBJECTS[subject])
    deviations = _deviations(SUBJECTS[subject])
    wrong = [name for name in expected if (expected[name] == found[name]) is (name in deviations)]
    assert not wrong, _report(wrong, expected, found)


@pytest.mark.parametrize("subject", ["topics", "configs", "security"])
def test_under_a_controller_of_apache_kafkas(
    subject: str, apache_answers: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    expected = apache_answers[subject]
    found = answers_of(SplitServer(tmp_path, ApacheController), SUBJECTS[subject])
    deviations = _deviations(SUBJECTS[subject])
    wrong = [name for name in expected if expected[name] != found[name] and name not in deviations]
    assert not wrong, _report(wrong, expected, found)


def _deviations(steps: list[Step]) -> set[str]:
    return {f"{step.name} v{version}" for step in steps if step.deviation for version in step.versions}


def _report(wrong: list[str], expected: dict[str, Any], found: dict[str, Any]) -> str:
    lines = [f"{name}\n  Apache Kafka: {_line(expected[name])}\n  Ottla:        {_line(found[name])}" for name in wrong]
    return f"{len(wrong)} of {len(expected)} answers:\n" + "\n".join(lines)


def _line(answer: Any) -> str:
    return json.dumps(answer, default=str)
