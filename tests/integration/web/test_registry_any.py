"""Whatever is sent to the registry's API, the answer is never a 500: any JSON, in any field, for any path."""

import json
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.web.registry.api.route import registry_routes
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.state.registry_state import RegistryState
from tests.integration.web.registry_process import RegistryProcess


class _Nothing:
    """What routes are made for; none of them is called."""

    cluster_id = ""
    group_id = ""
    rule = RegistryRule()
    state = RegistryState()

    async def write(self, *_: Any) -> Any:
        """Nothing is written."""


ROUTES = sorted({(route.method, route.template) for route in registry_routes(_Nothing())})
TEXT = st.one_of(
    st.text(max_size=8), st.sampled_from(["a", "b", ":.c:a", "latest", "-1", "1", "", ".", "AVRO", "full"])
)
NUMBER = st.one_of(st.integers(-3, 5), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
SCHEMA = st.one_of(
    TEXT,
    st.sampled_from(['"string"', '{"type":"record","name":"R","fields":[]}', 'syntax="proto3"; message M {}']),
    JSON.map(json.dumps),
    st.fixed_dictionaries({"type": st.sampled_from(["record", "enum", "array", "map", "fixed"]), "name": TEXT}).map(
        json.dumps
    ),
)
FIELDS = {
    "schema": st.one_of(SCHEMA, JSON),
    "schemaType": st.one_of(st.sampled_from(["AVRO", "JSON", "PROTOBUF"]), JSON),
    "references": st.one_of(
        st.lists(st.fixed_dictionaries({"name": TEXT, "subject": TEXT, "version": NUMBER}), max_size=2), JSON
    ),
    "metadata": st.one_of(st.fixed_dictionaries({"properties": JSON, "tags": JSON, "sensitive": JSON}), JSON),
    "ruleSet": st.one_of(st.fixed_dictionaries({"domainRules": st.lists(JSON, max_size=2)}), JSON),
    "version": JSON,
    "id": JSON,
    "compatibility": st.one_of(st.sampled_from(["none", "FULL"]), JSON),
    "compatibilityGroup": JSON,
    "alias": JSON,
    "normalize": JSON,
    "defaultMetadata": JSON,
    "overrideRuleSet": JSON,
    "mode": st.one_of(st.sampled_from(["READWRITE", "IMPORT"]), JSON),
}
BODY = st.one_of(st.fixed_dictionaries({}, optional=FIELDS), JSON)
PARAMETERS = """
normalize deleted deletedOnly permanent force verbose format limit offset subject subjectPrefix defaultToGlobal
fetchMaxId latestOnly recursive key value
"""
QUERY = st.dictionaries(
    st.sampled_from(PARAMETERS.split()),
    st.one_of(TEXT, st.sampled_from(["true", "serialized", "resolved"])),
    max_size=3,
)


def encoded(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.sampled_from(ROUTES), st.lists(TEXT, min_size=3, max_size=3), QUERY, BODY)
def test_no_request_is_answered_with_500(
    registry: RegistryProcess, route: tuple[str, str], names: list[str], query: dict[str, str], body: object
) -> None:
    method, template = route
    given = iter(names)
    path = "/".join(encoded(next(given)) if part.startswith("{") else part for part in template.split("/"))
    asked = "&".join(f"{name}={encoded(value)}" for name, value in query.items())
    raw = json.dumps(body).encode() if method in ("POST", "PUT") else None
    status, answer = registry.ask(method, f"{path}?{asked}", raw=raw)
    assert status < 500, (method, path, asked, body, answer)
