"""Users of Kerberos principals: every verdict was asked of Apache Kafka 4.3.1's own class, with R as default realm."""

import pytest

from ottla.net.sasl.kerberos_rule import local_name, parse_rules


@pytest.mark.parametrize(
    ("rules", "principal", "name"),
    [
        ("RULE:[1:$1]", "a@R", "a"),
        ("RULE:[2:$1]", "a/b@R", "a"),
        ("RULE:[1:$1@$0](.*@R)s/@.*//", "a@R", "a"),
        ("RULE:[1:$1@$0](.*@S)s/@.*///L,DEFAULT", "A@S", "a"),
        ("RULE:[1:$1@$0](.*@S)s/@.*///L,DEFAULT", "b@R", "b"),
        ("RULE:[1:$1@$0](.*@S)s/@.*///U", "a@S", "A"),
        ("RULE:[1:$1@$0](.*@S)s/@.*//L", "A@S", "a"),
        ("RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "ann/admin@R", "ann"),
        ("RULE:[1:$1](x.*)s/x/y/g", "xax@R", "yay"),
        ("RULE:[1:$1](x.*)s/x/y/", "xax@R", "yax"),
        ("RULE:[1:$1@$0](.*)s/(.*)@(.*)/$2-$1/", "a@R", "R-a"),
        ("RULE:[1:$1](a)s/a/\\$9/", "a@R", "$9"),
        ("RULE:[1:$1](a)s/b/c/", "a@R", "a"),
        ("RULE:[1:x$1y]", "a@R", "xay"),
        ("RULE:[1:$1]/L", "A@R", "a"),
        ("RULE:[1:$1]L", "A@R", "a"),
        ("DEFAULT", "a@R", "a"),
        ("DEFAULT", "a/b@R", "a"),
        ("DEFAULT", "plain", "plain"),
        ("DEFAULT", "a/b", "a/b"),
    ],
)
def test_principals_that_have_a_user(rules: str, principal: str, name: str) -> None:
    assert local_name(principal, parse_rules(rules.split(",")), "R") == name


@pytest.mark.parametrize(
    ("rules", "principal", "reason"),
    [
        ("RULE:[1:$1]", "a/b@R", r"No rules apply to a/b@R, rules RULE:\[1:\$1\]"),
        ("RULE:[2:$1]", "a@R", "No rules apply"),
        ("RULE:[1:$1@$0](.*@R)s/@.*//", "a@S", "No rules apply"),
        ("DEFAULT", "a@S", "No rules apply"),
        ("DEFAULT", "a@b@c", "Malformed Kerberos name: a@b@c"),
        ("DEFAULT", "a/b/c@R", "Malformed Kerberos name"),
        ("RULE:[0:$0]", "@R", "No rules apply"),
        ("RULE:[1:$1@$0]", "a@R", "Non-simple name a@R after auth_to_local rule"),
        ("RULE:[1:$3]", "a@R", "no part of a principal"),
        ("RULE:[1:$]", "a@R", "no part of a principal"),
        ("RULE:[1:$1](a)s/a/$9/", "a@R", "No group 9"),
    ],
)
def test_principals_that_have_none(rules: str, principal: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        local_name(principal, parse_rules(rules.split(",")), "R")


@pytest.mark.parametrize("rule", ["RULE:[:$1]", "RULE:[1:$1](", "RULE:[1:$1]X", "rule:[1:$1]", "", "RULE:[1:$1]([)"])
def test_what_is_no_rule(rule: str) -> None:
    with pytest.raises(ValueError, match="Invalid rule"):
        parse_rules([rule])
