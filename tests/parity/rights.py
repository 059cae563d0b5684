"""Asks a server with Kafka's authorizer what it lets through: `python -m tests.parity.rights --record` asks Apache
Kafka and writes `rights.jsonl`; without it, prints where ours answers otherwise (`--peer`: where Apache Kafka does).

Nobody logs in. Who asks is told by the address: each set of rights has one on loopback of its own, which is what its
entries name as the host; a client from any other address has none of them.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclPermissionType, AclResourceType
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.clients.patience import until
from tests.clients.server import APACHE, OTTLA, start_server
from tests.kafka.server import Server
from tests.parity.plain import Masking
from tests.parity.right_question import QUESTIONS, Facts, Grant, Question
from tests.parity.right_question_controller import CONTROLLER_QUESTIONS
from tests.parity.run import SETTINGS, differences
from tests.parity.talk import Talk

RECORDED: Final = Path(__file__).parent / "rights.jsonl"
AUTHORIZED: Final = SETTINGS | {
    "auto_create_topics_enable": "true",
    "authorizer_class_name": STANDARD_AUTHORIZER,
    # Until the first entries are there, which keep everybody out but the operator.
    "allow_everyone_if_no_acl_found": "true",
}
_REFUSED: Final = re.compile(r"Request Request\(.*\) (is not authorized|needs \w+ permission)\.", re.DOTALL)
"""With all fields of a Java object in it, to which ours says no more than the error's code does."""
_OPERATOR: Final = "127.0.0.1"
"""Where the operator and the node itself come from."""
_AT_CONTROLLER: Final = "controller: "
"""What the names of questions to the controller's listener begin with."""
_ANYBODY: Final = "User:*"
_Setting = tuple[tuple[Grant, ...], tuple[Grant, ...]]


def ask_everything(server: Server) -> dict[str, Any]:
    """Every question's name with the answer."""
    masking = Masking(paths={f":{server.port}": ":PORT", str(server.log_directory): "LOGS"})
    talk = Talk(server, "rights", masking)
    seen, other = talk.topic("seen"), talk.topic("other")
    _commit(talk)
    facts = Facts(seen.id, other.id, _producer_id(talk))
    hosts = _hosts()
    talk.quietly(CreateAclsRequest(creations=[*_for_operator(), *_for_all(hosts)]), 3)
    _ask(talk, facts, hosts, QUESTIONS, "")
    with talk.controller():
        _ask(talk, facts, hosts, CONTROLLER_QUESTIONS, _AT_CONTROLLER)
    return talk.answers


def _ask(talk: Talk, facts: Facts, hosts: "Mapping[_Setting, str]", questions: Sequence[Question], prefix: str) -> None:
    for question in questions:
        for name, allowed, denied in question.settings():
            with talk.coming_from(hosts[allowed, denied]):
                talk.ask(f"{prefix}{question.name}: {name}", question.make(facts), question.version)


DIFFERENCES: Final = {
    "describe_user_scram_credentials v0: describe users: nothing": "Kafka never answers",
    "describe_user_scram_credentials v0: describe users: all but denied describe kafka-cluster": "Kafka never answers",
    **dict.fromkeys(
        (
            "describe_cluster v1: controller: describe the controllers: nothing",
            "describe_cluster v1: controller: describe the controllers: describe kafka-cluster",
            "describe_cluster v1: controller: describe the controllers: all but denied alter kafka-cluster",
        ),
        "Kafka's message has a Java object in it, ours is null",
    ),
}
"""Where ours answers otherwise on purpose, and why."""


def surprises(expected: Any, found: Any) -> list[str]:
    """Where two answers differ that should be equal."""
    return list(differences(_comparable(expected), _comparable(found)))


def _comparable(answer: Any) -> Any:
    """An answer without what Apache Kafka lets out of its memory, and without the order of its hash tables."""
    if isinstance(answer, list):
        return sorted((_comparable(each) for each in answer), key=json.dumps)
    if not isinstance(answer, dict):
        return answer
    return {
        key: None if isinstance(value, str) and _REFUSED.fullmatch(value) else _comparable(value)
        for key, value in answer.items()
    }


def recorded() -> dict[str, Any]:
    """What Apache Kafka answered."""
    return {name: answer for line in RECORDED.read_text().splitlines() for name, answer in [json.loads(line)]}


def record(answers: Mapping[str, Any]) -> None:
    """Writes the answers down, one on a line."""
    pairs = [(name, _comparable(answer)) for name, answer in answers.items()]
    lines = (json.dumps(pair, ensure_ascii=False, separators=(",", ":")) + "\n" for pair in pairs)
    RECORDED.write_text("".join(lines))


def _commit(talk: Talk) -> None:
    """Has the group, with an offset in each topic."""
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=3, committed_metadata="")],
        )
        for name in ("seen", "other")
    ]
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["group"])
    until(0, lambda: talk.quietly(find, 4).coordinators[0].error_code)
    request = OffsetCommitRequest(group_id="group", topics=topics)
    until({0}, lambda: {p.error_code for topic in talk.quietly(request, 8).topics for p in topic.partitions})


def _producer_id(talk: Talk) -> int:
    """What the transactional id is given."""
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=["txn"])
    until(0, lambda: talk.quietly(find, 4).coordinators[0].error_code)
    request = InitProducerIdRequest(transactional_id="txn", transaction_timeout_ms=60_000)
    until(0, lambda: talk.quietly(request, 4).error_code)
    return int(talk.quietly(request, 4).producer_id)


def _hosts() -> dict[_Setting, str]:
    """An address for each set of rights that some question is asked with."""
    found: dict[_Setting, str] = {}
    for question in (*QUESTIONS, *CONTROLLER_QUESTIONS):
        for _, allowed, denied in question.settings():
            number = len(found) + 1
            found.setdefault((allowed, denied), f"127.1.{number >> 8}.{number & 255}")
    return found


def _for_operator() -> list[AclCreation]:
    kinds = {
        AclResourceType.TOPIC: "*",
        AclResourceType.GROUP: "*",
        AclResourceType.TRANSACTIONAL_ID: "*",
        AclResourceType.CLUSTER: CLUSTER_NAME,
    }
    return [_creation(Grant(AclOperation.ALL, kind, name), _OPERATOR, AclPermissionType.ALLOW)
            for kind, name in kinds.items()]  # fmt: skip


def _for_all(hosts: Mapping[_Setting, str]) -> list[AclCreation]:
    creations = []
    for (allowed, denied), host in hosts.items():
        creations += [_creation(grant, host, AclPermissionType.ALLOW) for grant in allowed]
        creations += [_creation(grant, host, AclPermissionType.DENY) for grant in denied]
    return creations


def _creation(grant: Grant, host: str, permission: AclPermissionType) -> AclCreation:
    return AclCreation(
        resource_type=grant.resource_type,
        resource_name=grant.name,
        principal=_ANYBODY,
        host=host,
        operation=grant.operation,
        permission_type=permission,
    )


def names() -> list[str]:
    """Of all questions, as they are recorded."""
    asked = [("", question) for question in QUESTIONS]
    asked += [(_AT_CONTROLLER, question) for question in CONTROLLER_QUESTIONS]
    return [_key(question, f"{prefix}{question.name}: {name}") for prefix, question in asked
            for name, _, _ in question.settings()]  # fmt: skip


def _key(question: Question, name: str) -> str:
    api = question.make(Facts(bytes(16), bytes(16), 1)).api  # type: ignore[arg-type]
    return f"{api.name.lower()} v{question.version}: {name}"


def main() -> int:
    """Asks one server."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity.rights", description=__doc__)
    parser.add_argument("--record", action="store_true", help="ask Apache Kafka, and write its answers down")
    parser.add_argument("--peer", action="store_true", help="ask Apache Kafka, and compare")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = start_server(APACHE if options.record or options.peer else OTTLA, Path(directory), **AUTHORIZED)
        try:
            answers = ask_everything(server)
        finally:
            server.stop()
    if options.record:
        record(answers)
        return 0
    known, different = recorded(), 0
    for name, answer in answers.items():
        changes = surprises(known.get(name, "not recorded"), answer)
        different += bool(changes)
        print("".join(f"{name}\n  {change}\n" for change in changes[:8]), end="")
    print(f"{len(answers)} questions, {different} answered differently")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
