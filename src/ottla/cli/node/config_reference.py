"""The reference of all settings, from their declarations, as text, Markdown or JSON."""

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ottla.base.config import REQUIRED, ConfigKey, ConfigKeys, Dynamic
from ottla.broker.config.keys.client_metric import CLIENT_METRIC_KEYS
from ottla.broker.config.keys.group_resource import GROUP_RESOURCE_KEYS
from ottla.broker.config.keys.passive import NOT_ACTED_ON
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.keys.server import SUBJECTS
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

_WIDTH: Final = 100
BROKER: Final = "broker"


class Chapter(NamedTuple):
    """Keys that belong together, of one kind of resource."""

    of: str
    title: str
    keys: ConfigKeys


def reference(of: str | None = None) -> list[Chapter]:
    """All chapters, or those of one kind of resource."""
    chapters = [
        *(Chapter(BROKER, subject.title, subject.keys) for subject in SUBJECTS),
        Chapter(BROKER, "Quotas that are set dynamically alone", DYNAMIC_QUOTA_KEYS),
        Chapter("topic", "Topics' own settings", LOG_CONFIG_KEYS),
        Chapter("group", "Groups' own settings", GROUP_RESOURCE_KEYS),
        Chapter("client-metrics", "Client metrics subscriptions", CLIENT_METRIC_KEYS),
    ]
    return [chapter for chapter in chapters if of in (None, chapter.of)]


def render(chapters: Iterable[Chapter], form: str) -> str:
    """The reference in one of the forms of `FORMS`."""
    return FORMS[form](chapters)


def _described(chapter: Chapter) -> Iterator[ConfigKey]:
    return (key for key in sorted(chapter.keys.values(), key=lambda key: key.name) if not key.internal)


def _facts(chapter: Chapter, key: ConfigKey) -> dict[str, object]:
    facts: dict[str, object] = {
        "name": key.name,
        "of": chapter.of,
        "type": key.type.name.lower(),
        "required": key.default is REQUIRED,
        "default": None if key.default is REQUIRED else key.render(key.default),
        "valid": key.check.text if key.check is not None else None,
        "documentation": key.doc,
        "extension": key.extension,
    }
    facts["acted_on"] = key.name not in NOT_ACTED_ON
    if chapter.of == BROKER:
        facts["update_mode"] = key.dynamic.value
    if key.synonyms:
        facts["default_from"] = [synonym.name for synonym in key.synonyms]
    return facts


def _summary(chapter: Chapter, key: ConfigKey) -> str:
    facts = _facts(chapter, key)
    default = facts["default"]
    parts = [str(facts["type"]), "required" if facts["required"] else f"default {_quoted(default)}"]
    if facts["valid"]:
        parts.append(f"valid: {facts['valid']}")
    if "default_from" in facts:
        parts.append(f"default from {', '.join(synonym.name for synonym in key.synonyms)}")
    if chapter.of == BROKER and key.dynamic is not Dynamic.READ_ONLY:
        parts.append(f"dynamic {key.dynamic.value}")
    if key.extension:
        parts.append("not in Apache Kafka")
    if facts.get("acted_on") is False:
        parts.append("accepted, not acted on")
    return "; ".join(parts)


def _quoted(default: object) -> str:
    if default is None:
        return "none"
    return str(default) or '""'


def _as_text(chapters: Iterable[Chapter]) -> str:
    lines = []
    for chapter in chapters:
        lines += [chapter.title, "=" * len(chapter.title), ""]
        for key in _described(chapter):
            lines += [key.name, f"    {_summary(chapter, key)}"]
            lines += textwrap.wrap(key.doc, _WIDTH, initial_indent="    ", subsequent_indent="    ")
            lines.append("")
    return "\n".join(lines)


def _as_markdown(chapters: Iterable[Chapter]) -> str:
    lines = ["# Settings", ""]
    for chapter in chapters:
        lines += [f"## {chapter.title}", ""]
        lines += [f"- **`{key.name}`** ({_summary(chapter, key)}): {key.doc}" for key in _described(chapter)]
        lines.append("")
    return "\n".join(lines)


def _as_json(chapters: Iterable[Chapter]) -> str:
    entries = [_facts(chapter, key) for chapter in chapters for key in _described(chapter)]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


FORMS: Final[Mapping[str, Callable[[Iterable[Chapter]], str]]] = {
    "text": _as_text,
    "markdown": _as_markdown,
    "json": _as_json,
}
