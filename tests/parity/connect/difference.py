"""Where our answers differ from Kafka Connect's, each with its reason. What no reason covers is a bug."""

import re
from typing import Any, Final

OURS: Final = re.compile(r"tasks\.restart\.")
DEAD_LETTERS: Final = "errors.deadletterqueue."
"""Settings of ours: of all connectors, and of sources."""

MALFORMED: Final = "a body of another shape is the sender's mistake: 400 with a sentence, where Kafka answers 500"
PLUGINS: Final = "the list of what is installed is in our words and has our connectors"
REGEX: Final = "what is wrong with a regular expression is said in Python's words"
OVERRIDE: Final = "a bad setting of a client is an error of the configuration, where Kafka answers 500"
REFUSED: Final = "offsets that a connector refuses are the sender's mistake: 400, where Kafka answers 500"
NEGATIVE: Final = "a negative offset is refused with 400 before the group is asked, where Kafka answers 500"
HIDDEN: Final = "a converter without a version hides the setting of its version in Kafka"
NOWHERE: Final = "a class that is not there is shown as it was given, where Kafka shows null"

DIFFERENCES: Final[dict[str, str]] = {
    r"shape/create: .*": MALFORMED,
    r"shape/config: .*": MALFORMED,
    r"change/patch list": MALFORMED,
    r"create/bad state": MALFORMED,
    r"logger/list": MALFORMED,
    r"offsets/alter: (null|list|unknown field|no partition|partition is text)": MALFORMED,
    r"validate/(no json|no class|empty)": MALFORMED,
    r"create/unknown class": PLUGINS,
    r"plugin/(connectors|all)": PLUGINS,
    r"validate/bad regex": REGEX,
    r"validate/override": OVERRIDE,
    r"offsets/alter: (wrong partition|wrong offset|offset is text|offset is negative)": REFUSED,
    r"sink/alter: offset is negative": NEGATIVE,
    r"validate/unknown converter": HIDDEN,
    r"validate/transform of unknown type": NOWHERE,
}


def reason(name: str) -> str | None:
    """Why an answer may differ; None if it may not."""
    return next((found for pattern, found in DIFFERENCES.items() if re.fullmatch(pattern, name)), None)


def compared(answer: dict[str, Any], *, runs_tasks: bool) -> dict[str, Any]:
    """An answer without what may differ anywhere: order, settings of ours, and tasks that nothing runs."""
    return {"status": answer["status"], "body": _plain(answer["body"], runs_tasks=runs_tasks), **_place(answer)}


def _place(answer: dict[str, Any]) -> dict[str, Any]:
    return {"location": answer["location"]} if "location" in answer else {}


def _plain(body: Any, *, runs_tasks: bool) -> Any:
    if isinstance(body, dict) and "configs" in body and "groups" in body:
        return _validation(body)
    if isinstance(body, list) and body and isinstance(body[0], dict) and "order_in_group" in body[0]:
        is_source = any(each["name"] == "topic.creation.groups" for each in body)
        return sorted((each for each in body if not _is_ours(each["name"], is_source)), key=lambda each: each["name"])
    return body if runs_tasks else _idle(body)


def _validation(body: dict[str, Any]) -> dict[str, Any]:
    names = {each["value"]["name"] for each in body["configs"]}
    is_source = "topic.creation.groups" in names
    kept = [each for each in body["configs"] if not _is_ours(each["value"]["name"], is_source)]
    return {
        **body,
        "groups": sorted(body["groups"]),
        "configs": sorted(map(_of_kafka, kept), key=lambda each: each["value"]["name"]),
    }


def _of_kafka(setting: dict[str, Any]) -> dict[str, Any]:
    """A setting without the recommended classes that Kafka does not have."""
    value = setting["value"]
    classes = [each for each in value["recommended_values"] if not str(each).startswith(("io.confluent.", "ottla."))]
    return {**setting, "value": {**value, "recommended_values": classes}}


def _is_ours(name: str, is_source: bool) -> bool:
    return OURS.match(name) is not None or (is_source and name.startswith(DEAD_LETTERS))


def _idle(value: Any) -> Any:
    """Statuses where no runner is there: a task stays unassigned."""
    if isinstance(value, dict):
        if "id" in value and "state" in value:
            return {**value, "state": "IDLE"}
        return {name: _idle(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_idle(each) for each in value]
    return value
