"""Errors are one sentence that says what to do next."""

from ottla.cli.output.advice import advised
from ottla.client.errors import FailedAttempt, NoBrokersAvailableError
from ottla.protocol.errors import InvalidRequestError, SecurityDisabledError, TopicAuthorizationFailedError


def test_kafkas_words_get_an_advice() -> None:
    error = TopicAuthorizationFailedError("Topic authorization failed.")
    assert advised(error) == (
        "Topic authorization failed; ask for an ACL on the topic, or connect as another user (--command-config)"
    )


def test_a_cluster_without_an_authorizer_is_told_how_to_get_one() -> None:
    said = advised(SecurityDisabledError("No Authorizer is configured."))
    assert said.startswith("No Authorizer is configured; rules need authorizer.class.name=")


def test_lines_become_one_sentence_and_a_question_stays_one() -> None:
    error = NoBrokersAvailableError([FailedAttempt("localhost:1", "connection refused; is the broker running?")])
    assert advised(error) == (
        "no broker could be reached; tried localhost:1: connection refused; is the broker running? "
        "Start one with `ottla broker`, name yours with -b HOST:PORT, or ask `ottla doctor`"
    )


def test_what_nobody_has_advice_for_is_said_as_it_is() -> None:
    assert advised(InvalidRequestError("No such thing.")) == "No such thing"
