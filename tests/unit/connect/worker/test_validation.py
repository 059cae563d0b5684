"""What a validation says of transforms and predicates, in Kafka Connect's words (asked of 4.3.1)."""

import pytest

from ottla.connect.plugin import Plugins
from ottla.connect.worker.validation import WorkerFacts, validate

T = "org.apache.kafka.connect.transforms"
ABSTRACT = "This class is abstract and cannot be created. Did you mean {0}$Key, {0}$Value?"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"transforms": "a"}, 'Missing required configuration "transforms.a.type" which has no default value.'),
        ({"transforms": "a", "transforms.a.type": f"{T}.Cast"}, ABSTRACT.format(f"{T}.Cast")),
        ({"transforms": "a", "transforms.a.type": "x"},
         "Invalid value x for configuration transforms.a.type: Class x could not be found."),
        ({"transforms": "a", "transforms.a.type": f"{T}.predicates.HasHeaderKey"},
         f"Class class {T}.predicates.HasHeaderKey does not implement the Transformation interface"),
        ({"predicates": "p", "predicates.p.type": f"{T}.Flatten$Value"},
         f"Class class {T}.Flatten$Value does not implement the Predicate interface"),
        ({"transforms": "a", "transforms.a.type": f"{T}.Flatten$Value", "transforms.a.negate": "maybe"},
         "Invalid value maybe for configuration transforms.a.negate: Expected value to be either true or false"),
    ],
)  # fmt: skip
def test_a_transform_that_cannot_be(given: dict[str, str], error: str) -> None:
    config = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", **given}
    assert error in validate(config, WorkerFacts({}), Plugins()).errors
