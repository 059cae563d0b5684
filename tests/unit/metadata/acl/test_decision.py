"""Who may do what, by the rules of Kafka's StandardAuthorizer."""

import pytest

from ottla.metadata.acl.decision import AclSettings, Decision, Question, Reason, decide, decide_any, parse_super_users
from ottla.metadata.acl.index import AclIndex
from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType

_O = AclOperation
ALICE, HOST = "User:alice", "10.0.0.7"
NOTHING_SET = AclSettings()


def acl(
    operation: AclOperation,
    name: str = "orders",
    *,
    prefixed: bool = False,
    deny: bool = False,
    principal: str = ALICE,
    host: str = "*",
) -> Acl:
    """An entry about a topic."""
    return Acl(
        AclResourceType.TOPIC,
        name,
        PatternType.PREFIXED if prefixed else PatternType.LITERAL,
        principal,
        host,
        operation,
        AclPermissionType.DENY if deny else AclPermissionType.ALLOW,
    )


def ask(
    *acls: Acl, operation: AclOperation = _O.READ, name: str = "orders", settings: AclSettings = NOTHING_SET
) -> Decision:
    """May alice do that with a topic?"""
    return decide(AclIndex(acls), settings, Question(ALICE, HOST, operation, AclResourceType.TOPIC, name))


@pytest.mark.parametrize(
    "rule",
    [
        acl(_O.READ),
        acl(_O.ALL),
        acl(_O.READ, "*"),
        acl(_O.READ, "ord", prefixed=True),
        acl(_O.READ, "orders", prefixed=True),
        acl(_O.READ, principal="User:*"),
        acl(_O.READ, host=HOST),
    ],
)
def test_a_rule_that_matches_allows(rule: Acl) -> None:
    assert ask(rule) == (True, Reason.ALLOWED, rule)


@pytest.mark.parametrize(
    "rule",
    [
        acl(_O.WRITE),
        acl(_O.READ, principal="User:bob"),
        acl(_O.READ, principal="Group:alice"),
        acl(_O.READ, host="10.0.0.8"),
    ],
)
def test_one_that_is_about_something_else_does_not(rule: Acl) -> None:
    assert ask(rule) == (False, Reason.NOT_ALLOWED, None)


@pytest.mark.parametrize("rule", [acl(_O.READ, "ord"), acl(_O.READ, "orders-2", prefixed=True), acl(_O.READ, "Orders")])
def test_one_about_another_resource_is_none(rule: Acl) -> None:
    assert ask(rule) == (False, Reason.NO_ENTRY, None)
    assert ask(rule, settings=AclSettings(allow_everyone_if_no_acl_found=True)).is_allowed


def test_any_entry_about_the_resource_keeps_others_out() -> None:
    others = acl(_O.WRITE, "o", prefixed=True, principal="User:bob")
    assert not ask(others, settings=AclSettings(allow_everyone_if_no_acl_found=True)).is_allowed


@pytest.mark.parametrize(
    "deny", [acl(_O.READ, deny=True), acl(_O.ALL, "*", deny=True), acl(_O.READ, "o", prefixed=True, deny=True)]
)
def test_what_denies_wins(deny: Acl) -> None:
    assert ask(acl(_O.READ), acl(_O.ALL, "*"), deny) == (False, Reason.DENIED, deny)


def test_super_users_may_do_everything() -> None:
    settings = AclSettings(super_users=frozenset({ALICE}))
    assert ask(acl(_O.ALL, deny=True), settings=settings) == (True, Reason.SUPER_USER, None)


@pytest.mark.parametrize("operation", [_O.READ, _O.WRITE, _O.DELETE, _O.ALTER])
def test_what_implies_describe(operation: AclOperation) -> None:
    assert ask(acl(operation), operation=_O.DESCRIBE).is_allowed


def test_what_implies_other_things() -> None:
    assert ask(acl(_O.ALTER_CONFIGS), operation=_O.DESCRIBE_CONFIGS).is_allowed
    assert not ask(acl(_O.CREATE), operation=_O.DESCRIBE).is_allowed
    assert not ask(acl(_O.DESCRIBE), operation=_O.READ).is_allowed
    assert not ask(acl(_O.ALTER), operation=_O.ALTER_CONFIGS).is_allowed


def test_denying_one_thing_denies_nothing_that_it_implies() -> None:
    assert ask(acl(_O.DESCRIBE), acl(_O.READ, deny=True), operation=_O.DESCRIBE).is_allowed


def test_entries_that_are_gone_decide_nothing() -> None:
    rules = [acl(_O.READ), acl(_O.READ, "ord", prefixed=True), acl(_O.WRITE, "ord", prefixed=True)]
    index = AclIndex(rules)
    question = Question(ALICE, HOST, _O.READ, AclResourceType.TOPIC, "orders")
    for rule, is_allowed in zip(rules, (True, False, False), strict=True):
        index.remove(rule)
        assert decide(index, NOTHING_SET, question).is_allowed is is_allowed
    assert decide(index, NOTHING_SET, question).reason is Reason.NO_ENTRY


@pytest.mark.parametrize(
    ("rules", "is_allowed"),
    [
        ([acl(_O.WRITE, "t")], True),
        ([acl(_O.WRITE, "t", prefixed=True)], True),
        ([acl(_O.READ, "t")], False),
        ([acl(_O.WRITE, "t"), acl(_O.WRITE, "t", deny=True)], False),
        ([acl(_O.WRITE, "tables"), acl(_O.WRITE, "t", prefixed=True, deny=True)], False),
        ([acl(_O.WRITE, "tables", prefixed=True), acl(_O.WRITE, "tab", deny=True)], True),
        ([acl(_O.WRITE, "t"), acl(_O.ALL, "*", deny=True)], False),
        ([acl(_O.WRITE, "*"), acl(_O.WRITE, "t", prefixed=True, deny=True)], True),
        ([acl(_O.WRITE, "t", principal="User:bob")], False),
    ],
)
def test_any_resource_of_a_type(rules: list[Acl], is_allowed: bool) -> None:
    question = Question(ALICE, HOST, _O.WRITE, AclResourceType.TOPIC, "")
    assert decide_any(AclIndex(rules), NOTHING_SET, question).is_allowed is is_allowed


def test_super_users_are_principals() -> None:
    assert parse_super_users(" User:a ;; User:CN=b,O=c;") == {"User:a", "User:CN=b,O=c"}
    with pytest.raises(ValueError, match="`a` is no principal"):
        parse_super_users("a;User:b")
