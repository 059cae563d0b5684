"""Error codes, against Apache Kafka's table of them."""

import json

import pytest

from ottla.base.errors import OttlaError
from ottla.protocol import errors
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from tests.vectors.message_vectors import ROOT

ROWS = [json.loads(line) for line in (ROOT / "errors.jsonl").read_text().splitlines()]


def test_the_codes_are_kafkas() -> None:
    assert {row["code"]: row["name"] for row in ROWS} == {int(code): code.name for code in ErrorCode}


@pytest.mark.parametrize("row", [row for row in ROWS if row["code"] != 0], ids=lambda row: row["name"])
def test_every_code_has_its_exception(row: dict[str, object]) -> None:
    error = error_for(int(str(row["code"])))
    assert isinstance(error, ApiError)
    assert isinstance(error, OttlaError)
    assert (error.code.name, str(error)) == (row["name"], row["message"])
    assert (error.retriable, error.refreshes_metadata) == (row["retriable"], row["invalidMetadata"])
    assert getattr(errors, type(error).__name__) is type(error)


def test_a_message_of_its_own() -> None:
    error = errors.TopicAlreadyExistsError("Topic 'orders' already exists.")
    assert str(error) == "Topic 'orders' already exists."
    assert error.code == 36


def test_a_code_that_nobody_knows() -> None:
    error = error_for(4711, "from the future")
    assert error.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert str(error) == "error code 4711: from the future"


def test_success_is_no_error() -> None:
    with pytest.raises(ValueError, match="success"):
        error_for(0)
