"""What failures of Kafka's clients are to HTTP: the status and the number of each."""

import pytest

from ottla.base.errors import OttlaError
from ottla.client.errors import AuthenticationFailedError, InvalidStateError, KafkaTimeoutError, SerializationError
from ottla.client.registry.errors import RegistryError
from ottla.protocol import errors
from ottla.web.http.errors import HttpError
from ottla.web.rest.errors import from_kafka, record_error_code


@pytest.mark.parametrize(
    ("error", "status", "error_code", "of_record"),
    [
        (errors.UnknownTopicOrPartitionError(), 404, 40403, 50003),
        (errors.InvalidTopicError(), 422, 42206, 50002),
        (errors.TopicAlreadyExistsError(), 400, 40002, 50002),
        (errors.SecurityDisabledError(), 400, 40002, 50002),
        (errors.TopicAuthorizationFailedError(), 403, 40301, 40301),
        (errors.GroupIdNotFoundError(), 404, 404, 50002),
        (errors.NotEnoughReplicasError(), 500, 50003, 50003),
        (errors.UnknownServerError(), 500, 50002, 50002),
        (errors.MessageTooLargeError(), 400, 40002, 50002),
        (AuthenticationFailedError("no"), 401, 40101, 40101),
        (KafkaTimeoutError("late"), 500, 50003, 50003),
        (InvalidStateError("no"), 409, 40903, 50002),
        (SerializationError("no"), 408, 40801, 50002),
        (RegistryError(404, 40403, "Schema not found"), 422, 42207, 50002),
        (OttlaError("?"), 500, 50002, 50002),
        (HttpError(418, "tea"), 418, 418, 50002),
    ],
)
def test_status_and_number(error: OttlaError, status: int, error_code: int, of_record: int) -> None:
    found = from_kafka(error)
    assert (found.status, found.error_code, record_error_code(error)) == (status, error_code, of_record)
