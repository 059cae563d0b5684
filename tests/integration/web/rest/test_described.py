"""The proxy by its own OpenAPI description."""

import pytest

from ottla.web.rest.description import described
from tests.integration.web.described import check_described
from tests.integration.web.rest_process import RestProcess


@pytest.mark.long
def test_no_described_request_is_answered_with_500(rest: RestProcess) -> None:
    cluster = rest.ask("GET", "/v3/clusters")[1]["data"][0]["cluster_id"]
    assert rest.v3("POST", "/topics", {"topic_name": "described", "partitions_count": 2})[0] == 201
    assert rest.ask("POST", "/consumers/readers", {"name": "reader", "format": "json"})[0] == 200
    names = ("retention.ms", "cleanup.policy", "num.io.threads")
    known = {
        "cluster_id": [cluster],
        "topic": ["described"],
        "topic_name": ["described"],
        "partition": ["0", "1", "9"],
        "partition_id": ["0", "1", "9"],
        "broker_id": ["1", "9"],
        "group": ["readers"],
        "consumer_group_id": ["readers"],
        "instance": ["reader"],
        "name": names,
    }
    assert check_described(rest, described(), known) > 60
