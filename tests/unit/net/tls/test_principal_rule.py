import pytest

from ottla.net.tls.principal_rule import mapped, parse_rules

NAME = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


@pytest.mark.parametrize(
    ("rules", "user"),
    [
        ("DEFAULT", NAME),
        ("", None),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "Duke"),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L", "duke"),
        (r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),C=(.*?)$/$1@$2/U", "DUKE@SERVICEUSERS"),
        (r"RULE:^cn=.*$/x/", None),
        (r"RULE:CN=Duke/x/, DEFAULT", NAME),
        (r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT", "duke"),
        (r"RULE:^CN=(.*?),.*$/$1\/x/", "Duke/x"),
    ],
)
def test_rules(rules: str, user: str | None) -> None:
    assert mapped(NAME, parse_rules(rules)) == user


@pytest.mark.parametrize("text", ["default", "RULE:a/b", "RULE:a/b/X", "RULE:(/b/", "DEFAULT DEFAULT", "RULE:a/b/,x"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid rule"):
        parse_rules(text)
