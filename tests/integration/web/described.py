"""Requests by a service's own OpenAPI description, made by schemathesis: none may be answered with an error of ours."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import requests
from hypothesis import HealthCheck, Phase, given, settings

from tests.integration.web.service_process import ServiceProcess

EXAMPLES = int(os.environ.get("OTTLA_TEST_EXAMPLES", "10"))
"""For each operation."""


def check_described(service: ServiceProcess, described: frozenset[str], known: Mapping[str, Sequence[str]]) -> int:
    """Tries every operation that is described; how many there are. Details have to be of an operation that there is.

    `known` are names for the path that lead somewhere; one that leads nowhere is tried among them.
    """
    import schemathesis

    status, document = service.ask("GET", "/openapi.json")
    assert status == 200
    served = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert described <= served
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path" and parameter["name"] in known:
                    parameter["schema"] = {"enum": [*known[parameter["name"]], "nowhere/é%"]}
    found = schemathesis.openapi.from_dict(document)
    tried = 0
    with requests.Session() as session:
        for result in found.get_all_operations():
            operation = result.ok()
            tried += 1
            _try(operation, service.url, session)
    return tried


def _try(operation: Any, url: str, session: requests.Session) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def tries(case: Any) -> None:
        response = case.call(base_url=url, session=session)
        assert response.status_code < 500, (case.as_curl_command(), response.text)

    tries()
