"""The queries and bodies of the registry's handlers, for its OpenAPI description."""

from collections.abc import Sequence
from typing import Any, Final

from ottla.web.http.description import FLAG, INTEGER, TEXT, Details, each, members, openapi
from ottla.web.http.route import Route
from ottla.web.registry.api.content import CONTENT

_METADATA: Final = members(
    tags={"type": "object", "additionalProperties": each(TEXT)},
    properties={"type": "object", "additionalProperties": TEXT},
    sensitive=each(TEXT),
)
_RULE_TEXTS: Final = ("name", "kind", "mode", "type", "expr", "onSuccess", "onFailure")
_RULE: Final = members(**dict.fromkeys(_RULE_TEXTS, TEXT), tags=each(TEXT), disabled=FLAG)
_RULES: Final = members(domainRules=each(_RULE), migrationRules=each(_RULE))
_TAGS: Final = each(
    members(
        schemaEntity=members(entityPath=TEXT, entityType={"type": "string", "enum": ["sr_record", "sr_field"]}),
        tags=each(TEXT),
    )
)
_SCHEMA: Final = members(
    schema=TEXT,
    schemaType={"type": "string", "enum": ["AVRO", "JSON", "PROTOBUF"]},
    references=each(members(name=TEXT, subject=TEXT, version=INTEGER)),
    metadata=_METADATA,
    ruleSet=_RULES,
    version=INTEGER,
    id=INTEGER,
    schemaTagsToAdd=_TAGS,
    schemaTagsToRemove=_TAGS,
    propagateSchemaTags=FLAG,
)
_RETAG: Final = members(
    newVersion=INTEGER,
    tagsToAdd=_TAGS,
    tagsToRemove=_TAGS,
    metadata=_METADATA,
    ruleSet=_RULES,
    rulesToMerge=_RULES,
    rulesToRemove=each(TEXT),
)
_CONFIG: Final = members(
    compatibility=TEXT,
    normalize=FLAG,
    alias=TEXT,
    compatibilityGroup=TEXT,
    compatibilityPolicy=TEXT,
    defaultMetadata=_METADATA,
    overrideMetadata=_METADATA,
    defaultRuleSet=_RULES,
    overrideRuleSet=_RULES,
)
_PAGE: Final = {"offset": INTEGER, "limit": INTEGER}
_DELETED: Final = {"deleted": FLAG, "deletedOnly": FLAG}
_SUBJECT: Final = "/subjects/{subject}"
_COMPATIBILITY: Final = f"/compatibility{_SUBJECT}/versions"
_CHECK: Final = Details({"verbose": FLAG, "normalize": FLAG}, _SCHEMA)
_REGISTER: Final = Details({"normalize": FLAG, "format": TEXT}, _SCHEMA)
_DRY_RUN: Final = {"context": TEXT, "dryRun": FLAG}
_KIND: Final = {"resourceType": TEXT, "associationType": TEXT}
_LISTED: Final = Details({**_KIND, "lifecycle": TEXT, **_PAGE})
_WISH: Final = {"subject": TEXT, "associationType": TEXT, "lifecycle": TEXT, "frozen": FLAG, "normalize": FLAG}
_RESOURCE: Final = {"resourceName": TEXT, "resourceNamespace": TEXT, "resourceId": TEXT, "resourceType": TEXT}
_ASSOCIATE: Final = Details(_DRY_RUN, members(**_RESOURCE, associations=each(members(**_WISH, schema=_SCHEMA))))
_OPERATION: Final = members(opType=TEXT, cascadeLifecycle=FLAG, **_WISH, schema=_SCHEMA)
_BATCH: Final = Details(_DRY_RUN, members(requests=each(members(**_RESOURCE, associations=each(_OPERATION)))))
_QUERY: Final = members(**_RESOURCE, associationTypes=each(TEXT), lifecycle=TEXT)
_OF: Final = "/associations/resources/{resource}"
_ASSOCIATIONS: Final = {
    "POST /associations": _ASSOCIATE,
    "POST /associations:batch": _BATCH,
    "POST /associations:batchMutate": _BATCH,
    "POST /associations:batchGet": Details({"includeSchemas": FLAG}, members(requests=each(_QUERY))),
    "GET /associations/subjects/{subject}": _LISTED,
    f"GET {_OF}": _LISTED,
    f"PUT {_OF}": _ASSOCIATE,
    f"DELETE {_OF}": Details({**_KIND, "cascadeLifecycle": FLAG, "dryRun": FLAG}),
    f"GET {_OF}/{{name}}": _LISTED,
}
_DETAILS: Final = {
    **_ASSOCIATIONS,
    "GET /subjects": Details({"subjectPrefix": TEXT, **_DELETED, **_PAGE}),
    f"POST {_SUBJECT}": Details({"normalize": FLAG, "deleted": FLAG, "format": TEXT}, _SCHEMA),
    f"DELETE {_SUBJECT}": Details({"permanent": FLAG}),
    f"GET {_SUBJECT}/metadata": Details({"key": TEXT, "value": TEXT, "deleted": FLAG, "format": TEXT}),
    f"GET {_SUBJECT}/versions": Details({**_DELETED, **_PAGE, "deletedAsNegative": FLAG}),
    f"POST {_SUBJECT}/versions": _REGISTER,
    f"GET {_SUBJECT}/versions/{{version}}": Details({"deleted": FLAG, "format": TEXT, "findTags": TEXT}),
    f"POST {_SUBJECT}/versions/{{version}}/tags": Details({}, _RETAG),
    f"DELETE {_SUBJECT}/versions/{{version}}": Details({"permanent": FLAG}),
    "GET /schemas": Details({"subjectPrefix": TEXT, "deleted": FLAG, "latestOnly": FLAG, **_PAGE}),
    "GET /schemas/ids/{id}": Details({"subject": TEXT, "format": TEXT, "fetchMaxId": FLAG, "findTags": TEXT}),
    "GET /schemas/ids/{id}/subjects": Details({"subject": TEXT, "deleted": FLAG, **_PAGE}),
    "GET /schemas/ids/{id}/versions": Details({"subject": TEXT, "deleted": FLAG, **_PAGE}),
    "GET /schemas/guids/{guid}": Details({"format": TEXT}),
    f"POST {_COMPATIBILITY}": _CHECK,
    f"POST {_COMPATIBILITY}/{{version}}": _CHECK,
    **{f"PUT /config{at}": Details({}, _CONFIG) for at in ("", "/{subject}")},
    **{f"PUT /mode{at}": Details({"force": FLAG}, members(mode=TEXT)) for at in ("", "/{subject}")},
    **{f"GET /{what}/{{subject}}": Details({"defaultToGlobal": FLAG}) for what in ("config", "mode")},
    **{f"DELETE /mode{at}": Details({"recursive": FLAG}) for at in ("", "/{subject}")},
}


def description(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI document of the registry."""
    below = {f"{key.replace(' ', ' /contexts/{context}', 1)}": found for key, found in _DETAILS.items()}
    return openapi("Schema registry", routes, CONTENT, {**_DETAILS, **below})


def described() -> frozenset[str]:
    """The methods and paths that details are there for."""
    return frozenset(_DETAILS)
