"""`ssl.principal.mapping.rules`: maps the name in a client's certificate to the name of a user (KIP-371).

`RULE:pattern/replacement/[L|U]` and `DEFAULT`, separated by commas. The first rule whose pattern matches the whole name
decides; DEFAULT takes the name as it is. If none does, the log-in fails.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_RULE: Final = re.compile(r"DEFAULT|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?)")
_GROUP: Final = re.compile(r"\$(\d)|\\(.)", re.DOTALL)


class PrincipalRule(NamedTuple):
    """One rule; without a pattern it is DEFAULT."""

    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """The user that the rule makes of a certificate's name; None if it does not apply."""
        if self.pattern is None:
            return name
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        made = _GROUP.sub(lambda group: _piece(found, group), self.replacement)
        return made.lower() if self.case == "L" else made.upper() if self.case == "U" else made


def parse_rules(text: str) -> tuple[PrincipalRule, ...]:
    r"""The rules in a setting. Raises `ValueError` for what is none.

    >>> rules = parse_rules("RULE:^CN=(.*?),OU=Sales.*$/$1/L, DEFAULT")
    >>> mapped("CN=Ann,OU=Sales,O=x", rules), mapped("CN=Ben,O=x", rules)
    ('ann', 'CN=Ben,O=x')
    """
    rules, position, text = [], 0, text.strip()
    while position < len(text):
        found = _RULE.match(text, position)
        if found is None:
            raise ValueError(f"Invalid rule: `{text[position:]}`")
        rules.append(_rule(found))
        position = found.end()
        rest = text[position:].lstrip()
        if rest and not rest.startswith(","):
            raise ValueError(f"Invalid rule: `{rest}`")
        position = len(text) - len(rest[1:].lstrip())
    return tuple(rules)


def mapped(name: str, rules: Sequence[PrincipalRule]) -> str | None:
    """The user that a certificate's name stands for; None if no rule applies."""
    return next((made for rule in rules if (made := rule.apply(name)) is not None), None)


def _rule(found: re.Match[str]) -> PrincipalRule:
    if found[1] is None:
        return PrincipalRule(None)
    try:
        return PrincipalRule(re.compile(found[1]), found[2], found[3])
    except re.error as error:
        raise ValueError(f"Invalid rule: `{found[0]}`: {error}") from error


def _piece(found: re.Match[str], group: re.Match[str]) -> str:
    if group[2] is not None:
        return group[2]
    try:
        return found[int(group[1])] or ""
    except IndexError:
        return ""
