"""What a test may ask to go wrong."""

import json

import pytest

from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.testing.fault import Fault, FaultKind, FaultRule, Faults, find_api, find_error


def asked(rules: list[FaultRule]) -> Faults:
    def add(rule: FaultRule) -> Fault:
        rules.append(rule)
        return Fault(rule, lambda: 7)

    return Faults(add, rules.clear)


def test_every_way_of_asking() -> None:
    rules: list[FaultRule] = []
    faults = asked(rules)
    assert faults.drop(ApiKey.PRODUCE).hits == 7
    faults.delay("fetch", seconds=1.5, count=None)
    faults.error("FindCoordinator", ErrorCode.NOT_COORDINATOR, count=3, client_id="c")
    faults.disconnect("END_TXN")
    faults.lose_answer("EndTxn")
    assert rules == [
        FaultRule(kind=FaultKind.DROP, api=0),
        FaultRule(kind=FaultKind.DELAY, api=1, count=None, delay_s=1.5),
        FaultRule(kind=FaultKind.ERROR, api=10, count=3, client_id="c", error=16),
        FaultRule(kind=FaultKind.DISCONNECT, api=26),
        FaultRule(kind=FaultKind.LOSE_ANSWER, api=26),
    ]
    faults.clear()
    assert not rules


def test_rules_survive_the_way_to_another_process() -> None:
    rules: list[FaultRule] = []
    asked(rules).error("Produce", "NOT_LEADER_OR_FOLLOWER", count=None, client_id="ä")
    assert FaultRule.from_json(json.loads(json.dumps(rules[0].to_json()))) == rules[0]


@pytest.mark.parametrize("api", list(ApiKey), ids=lambda api: api.name)
def test_calls_by_any_name(api: ApiKey) -> None:
    assert find_api(api) is find_api(api.name) is find_api(api.name.title().replace("_", "")) is api


def test_errors_by_any_name() -> None:
    assert find_error(ErrorCode.MESSAGE_TOO_LARGE) is find_error("message_too_large") is ErrorCode.MESSAGE_TOO_LARGE
