"""`sasl.kerberos.principal.to.local.rules`: from a Kerberos principal to the name of a user, in Kafka's syntax.

A principal is `primary/host@REALM`, without the host for people. `RULE:[n:format](regex)s/pattern/replacement/g/L` is
for principals of n parts (the host is the second); `format` puts them together, `$0` is the realm. DEFAULT takes the
primary of principals of the default realm. The first rule that applies decides; a name with `/` or `@` is none.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

_PRINCIPAL: Final = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_RULE: Final = re.compile(
    r"DEFAULT|RULE:\[(?P<count>\d*):(?P<format>[^\]]*)\](?:\((?P<match>[^)]*)\))?"
    r"(?:s/(?P<pattern>[^/]*)/(?P<replacement>[^/]*)/(?P<all>g)?)?/?(?P<case>[LU])?"
)
_PART: Final = re.compile(r"\$(\d*)")
_GROUP: Final = re.compile(r"\$(\d)|\\(.)", re.DOTALL)
_NOT_SIMPLE: Final = re.compile(r"[/@]")


class KerberosRule(NamedTuple):
    """One rule; without a format it is DEFAULT."""

    text: str
    parts: int = 0
    format: str | None = None
    match: re.Pattern[str] | None = None
    pattern: re.Pattern[str] | None = None
    substitute: str = ""
    replaces_all: bool = False
    case: str = ""

    def apply(self, principal: Sequence[str], default_realm: str) -> str | None:
        """The user of a principal (realm, primary, host); None if the rule is not for it."""
        if self.format is None:
            name = principal[1] if principal[0] == default_realm else None
        elif len(principal) - 1 != self.parts:
            return None
        else:
            name = self._made(_PART.sub(lambda found: _part(found, principal, self), self.format))
        if name is None:
            return None
        if _NOT_SIMPLE.search(name):
            raise ValueError(f"Non-simple name {name} after auth_to_local rule {self.text}")
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name

    def _made(self, base: str) -> str | None:
        if self.match is not None and self.match.fullmatch(base) is None:
            return None
        if self.pattern is None:
            return base
        return self.pattern.sub(self._replacement, base, 0 if self.replaces_all else 1)

    def _replacement(self, found: re.Match[str]) -> str:
        return _GROUP.sub(lambda group: _piece(found, group), self.substitute)


def parse_rules(items: Iterable[str]) -> tuple[KerberosRule, ...]:
    """The rules of a setting. Raises `ValueError` for what is none.

    >>> rules = parse_rules(["RULE:[1:$1@$0](.*@OPS[.]EXAMPLE)s/@.*//", "DEFAULT"])
    >>> [local_name(name, rules, "EXAMPLE") for name in ("ann@OPS.EXAMPLE", "kafka/host7@EXAMPLE", "ben")]
    ['ann', 'kafka', 'ben']
    """
    return tuple(_rule(item.strip()) for item in items)


def local_name(principal: str, rules: Sequence[KerberosRule], default_realm: str) -> str:
    """The user that a principal stands for. Raises `ValueError` if no rule is for it."""
    found = _PRINCIPAL.fullmatch(principal)
    if found is None:
        if "@" in principal:
            raise ValueError(f"Malformed Kerberos name: {principal}")
        return principal
    primary, host, realm = found.groups()
    parts = (realm, primary) if host is None else (realm, primary, host)
    for rule in rules:
        name = rule.apply(parts, default_realm)
        if name is not None:
            return name
    raise ValueError(f"No rules apply to {principal}, rules {', '.join(rule.text for rule in rules)}")


def _rule(text: str) -> KerberosRule:
    found = _RULE.match(text)
    if found is None:
        raise ValueError(f"Invalid rule: {text}")
    if found.end() != len(text):
        raise ValueError(f"Invalid rule: `{text}`, unmatched substring: `{text[found.end() :]}`")
    if found["format"] is None:
        return KerberosRule(text)
    if not found["count"]:
        raise ValueError(f"Invalid rule: `{text}`: the number of parts is missing, as in [1:$1@$0]")
    try:
        match = None if found["match"] is None else re.compile(found["match"])
        pattern = None if found["pattern"] is None else re.compile(found["pattern"])
    except re.error as error:
        raise ValueError(f"Invalid rule: `{text}`: {error}") from error
    return KerberosRule(
        text,
        int(found["count"]),
        found["format"],
        match,
        pattern,
        found["replacement"] or "",
        found["all"] is not None,
        found["case"] or "",
    )


def _part(found: re.Match[str], parts: Sequence[str], rule: KerberosRule) -> str:
    number = int(found[1]) if found[1] else len(parts)
    if number >= len(parts):
        raise ValueError(f"{rule.text}: {found[0]} is no part of a principal with {len(parts) - 1}")
    return parts[number]


def _piece(found: re.Match[str], group: re.Match[str]) -> str:
    """A part of the replacement, with `$1` and backslashes as in Java."""
    if group[2] is not None:
        return group[2]
    try:
        return found[int(group[1])] or ""
    except IndexError:
        raise ValueError(f"No group {group[1]}") from None
