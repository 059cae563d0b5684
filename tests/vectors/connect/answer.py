"""Our answer to a case, in the form in which `Recorder.java` writes Kafka Connect's."""

from typing import Any

from ottla.base.config import REQUIRED
from ottla.connect.config.definition import ConfigDef
from ottla.connect.converter.catalogue import HEADER_CONVERTERS
from ottla.connect.converter.converter import Converter
from ottla.connect.data.projector import project
from ottla.connect.data.schema import SchemaAndValue
from ottla.connect.data.struct import checked
from ottla.connect.data.value_conversion import convert, infer_schema
from ottla.connect.errors import ConnectError, java_name
from ottla.connect.transform.catalogue import PREDICATES, TRANSFORMS
from tests.vectors.connect import converter_case, data_case, literal_case, random_case, transform_case
from tests.vectors.connect.notation import record_of, required, schema_of, shown, shown_record, shown_schema, value_of

Node = Any


def all_cases() -> list[Node]:
    """Those of all tables."""
    tables = (transform_case, converter_case, literal_case, random_case, data_case)
    return [case for table in tables for case in table.cases()]


def answer(case: Node) -> Node:
    """What we say."""
    try:
        return ANSWERS[case["kind"]](case)
    except ConnectError as error:
        return {"error": java_name(error), "message": str(error)}


def _transformed(case: Node) -> Node:
    transform = TRANSFORMS[case["class"]]()
    transform.configure(case["config"])
    return {"record": shown_record(transform.apply(record_of(case["record"])))}


def _matches(case: Node) -> Node:
    predicate = PREDICATES[case["class"]]()
    predicate.configure(case["config"])
    return {"matches": predicate.test(record_of(case["record"]))}


def _converter(case: Node) -> Converter:
    converter = HEADER_CONVERTERS[case["class"]]()
    converter.configure(case["config"], is_key=False)
    return converter


def _to_connect(case: Node) -> Node:
    data = None if case["bytes"] is None else bytes.fromhex(case["bytes"])
    found: SchemaAndValue = _converter(case).to_connect("topic", data)
    return {"schema": shown_schema(found.schema), "value": shown(found.value, found.schema)}


def _from_connect(case: Node) -> Node:
    schema = schema_of(case["schema"])
    made = _converter(case).from_connect("topic", schema, value_of(schema, case["value"]))
    return {"bytes": None if made is None else made.hex()}


def _definition_of(name: str) -> ConfigDef:
    from ottla.connect.plugin import definition_of

    return definition_of(name)


def _definition(case: Node) -> Node:
    return {
        "keys": [
            {
                "name": key.name,
                "type": key.type.name,
                "required": key.default is REQUIRED,
                "default": None if key.default is REQUIRED else key.type.render(key.default),
                "importance": key.importance.name,
                "group": key.group,
                "order": key.order,
                "width": key.width.name,
                "display": key.display_name,
            }
            for key in _definition_of(case["class"]).keys.values()
        ]
    }


def _validation(case: Node) -> Node:
    values = _definition_of(case["class"]).validate(case["config"])
    return {"values": [{"name": each.name, "value": each.value, "errors": list(each.errors)} for each in values]}


def _check(case: Node) -> Node:
    schema = schema_of(case["schema"])
    assert schema is not None
    checked(schema, value_of(schema, case["value"]))
    return {"fits": True}


def _converted(case: Node) -> Node:
    target, source = required(case["target"]), schema_of(case["source"])
    found = convert(target, value_of(source, case["value"]), source)
    # What a list or a map holds stays as it is, whatever the schema says.
    return {"value": shown(found) if isinstance(found, (list, dict)) else shown(found, target)}


def _projected(case: Node) -> Node:
    target, source = required(case["target"]), required(case["source"])
    return {"value": shown(project(source, value_of(source, case["value"]), target), target)}


def _inferred(case: Node) -> Node:
    return {"schema": shown_schema(infer_schema(value_of(None, case["value"])))}


ANSWERS = {
    "transform": _transformed,
    "predicate": _matches,
    "to_connect": _to_connect,
    "from_connect": _from_connect,
    "definition": _definition,
    "validation": _validation,
    "check": _check,
    "convert": _converted,
    "project": _projected,
    "infer": _inferred,
}
