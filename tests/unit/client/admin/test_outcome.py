"""What callers see when some of many things failed."""

import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.outcome import settle
from ottla.protocol.errors import GroupIdNotFoundError, NonEmptyGroupError


def test_the_first_failure_is_raised_and_names_the_others() -> None:
    outcomes: dict[str, int | OttlaError] = {"a": 1, "b": NonEmptyGroupError(), "c": GroupIdNotFoundError("no c")}
    with pytest.raises(NonEmptyGroupError) as raised:
        settle(outcomes, None)
    assert raised.value.__notes__ == ["This is about 'b'.", "Also about 'c': no c"]


def test_failures_are_collected_for_those_who_want_them() -> None:
    errors: dict[str, OttlaError] = {}
    failure = NonEmptyGroupError()
    assert settle({"a": 1, "b": failure}, errors) == {"a": 1}
    assert errors == {"b": failure}
