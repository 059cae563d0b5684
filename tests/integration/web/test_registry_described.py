"""The registry by its own OpenAPI description."""

import pytest

from ottla.web.registry.api.description import described
from tests.integration.web.described import check_described
from tests.integration.web.registry_process import RegistryProcess


@pytest.mark.long
def test_no_described_request_is_answered_with_500(registry: RegistryProcess) -> None:
    guid = registry.ask("POST", "/subjects/described/versions", {"schema": '"string"'})[1]["guid"]
    known = {
        "subject": ["described", "a/b", ":.c:x"],
        "version": ["1", "2", "latest", "-1"],
        "id": ["1", "2"],
        "guid": [guid],
        "context": [".", ".c"],
    }
    assert check_described(registry, described(), known) > 50
