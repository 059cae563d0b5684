"""Which definitions of a copy can work."""

from typing import Any

import pytest

from ottla.pipelines.copy.kind import CopyKind
from ottla.pipelines.runner.kind import InvalidDefinitionError

GOOD: dict[str, Any] = {"from": "a", "to": "b"}


@pytest.mark.parametrize(
    "definition",
    [
        GOOD,
        {"from.pattern": "a.*", "to": "${topic}.copy", "partition": "keep", "exactly.once": False},
        {
            **GOOD,
            "select": {"value": "upper(value)"},
            "where": "key is not null",
            "source": {"bootstrap.servers": "x:1"},
        },
    ],
)
def test_these_can(definition: dict[str, Any]) -> None:
    CopyKind().check(definition)


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ({"to": "b"}, "there has to be 'from'"),
        ({**GOOD, "from.pattern": "a"}, "there has to be 'from'"),
        ({"from": "a"}, "'to': there has to be one"),
        ({**GOOD, "form": "x"}, "'form' is none of"),
        ({**GOOD, "where": 1}, "'where' has to be a text"),
        ({**GOOD, "partition": "mine"}, "'partition' has to be key or keep"),
        ({**GOOD, "select": {"offset": "1"}}, "'select': 'offset' is none of"),
        ({**GOOD, "select": ["value"]}, "'select' has to be an object of texts"),
        ({**GOOD, "exactly.once": "yes"}, "'exactly.once' has to be true or false"),
    ],
)
def test_these_cannot_and_are_told_why(definition: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        CopyKind().check(definition)
