"""Interactive queries while the owner of a key is killed: a refusal with the reason, then another one answers."""

import json
import urllib.error
import urllib.request
from pathlib import Path

from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counts, expected, produce, wait_until
from tests.integration.streams.test_local_kill import Member
from tests.kafka.port import free_port
from tests.kafka.server import Server

VALUES = [f"v{number % 10}" for number in range(50)]


def asked(place: str, path: str) -> tuple[int, str]:
    """Status and text; 0 while no process listens there."""
    try:
        with urllib.request.urlopen(f"http://{place}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error as answer:
            return answer.code, answer.read().decode()
    except OSError:
        return 0, ""


def owner_of(place: str, key: str) -> str | None:
    status, text = asked(place, f"/streams/stores/counts/keys/{key}/metadata")
    found: str | None = json.loads(text)["activeHost"] if status == 200 else None
    return found


def test_a_key_is_answered_for_again_when_its_owner_was_killed(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    produce(broker.bootstrap, source, VALUES)
    places = [f"localhost:{free_port()}" for _ in range(2)]
    settings = ("application_id=owner-killed", "session_timeout_ms=6000", "commit_interval_ms=50")
    found = [
        Member(
            (broker.bootstrap, source, target, *settings, f"query_listeners=http://{place}"),
            tmp_path / f"member{number}",
        )
        for number, place in enumerate(places)
    ]
    keys = [f"v{number}" for number in range(10)]
    try:
        wait_until(lambda: {owner_of(places[1], key) for key in keys} == set(places))
        wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES))
        far = next(key for key in keys if owner_of(places[1], key) == places[0])
        path = f"/streams/stores/counts/keys/{far}"
        wait_until(lambda: asked(places[1], path)[0] == 200)
        before = json.loads(asked(places[1], path)[1])
        assert before == {"store": "counts", "key": far, "value": 5}
        found[0].end()
        answers = [asked(places[1], path)]
        assert answers[0][0] == 503
        assert places[0] in answers[0][1]

        def is_answered() -> bool:
            answers.append(asked(places[1], path))
            return answers[-1][0] == 200

        wait_until(is_answered)
        assert json.loads(answers[-1][1]) == before
        assert {status for status, _ in answers} == {200, 503}
        assert owner_of(places[1], far) == places[1]
    finally:
        for one in found:
            one.end()
