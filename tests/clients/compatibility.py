"""docs/COMPATIBILITY.md: what foreign clients were seen to do with the server, written by the tests themselves.

`make compatibility` runs them with `OTTLA_COMPATIBILITY` set to the page's path. The page has no times and no dates, so
that it changes only when a client, a test or a result does.
"""

import os
import re
from pathlib import Path

import pytest

from tests.clients.server import OTTLA
from tests.parity.difference import DIFFERENCES, reason

PAGE = Path(__file__).parents[2] / "docs" / "COMPATIBILITY.md"
_HEAD = """\
# Compatibility

Clients that we did not write, tried on a server of ours in a process of its own, over loopback. This page is written by
the tests (`make compatibility`), not by hand; every line is at least one test in `tests/clients` or `tests/parity`.
"""
_NOT_COMPARED = """\
Compared are error codes and messages, values, nulls and closed connections, and order where Kafka keeps one. Not
compared are ids, ports, paths, times of the day, the documentation of settings, settings of our own, and, in the list
of ApiVersions, the calls of shares and streams.
"""
_SAME = "Apache Kafka 4.3.1's answers to the same bytes"
_results: dict[str, dict[str, dict[str, str]]] = {}


def client_of(item: pytest.Item) -> str | None:
    """The foreign client that a test is about."""
    marker = item.get_closest_marker("client")
    return str(marker.args[0]) if marker else None


def exercise_of(item: pytest.Item) -> str:
    """What a test tries: the first line of its docstring."""
    documented = getattr(item, "function", None)
    text = (documented.__doc__ or "").strip() if documented else ""
    assert text, f"{item.nodeid} does not say what it tries"
    return text.splitlines()[0].rstrip(".")


def note(item: pytest.Item, report: pytest.TestReport) -> None:
    """Keeps a test's result for the page."""
    client = client_of(item)
    decisive = report.when == "call" or report.outcome != "passed"
    if client is None or not decisive or not _is_about_ours(item):
        return
    result = {"passed": "works", "failed": "**fails**"}.get(report.outcome, "not tried here")
    _results.setdefault(client, {}).setdefault(exercise_of(item), {})[_variant(item)] = result


def note_answer(name: str, outcome: str) -> None:
    """Keeps the result of a comparison with Apache Kafka's answers."""
    subject, _, question = name.partition("/")
    result = ("the same" if reason(name) is None else "differs on purpose") if outcome == "passed" else "**differs**"
    _results.setdefault(_SAME, {}).setdefault(subject, {})[question] = result


def write_if_wanted() -> None:
    """Writes the page where the environment says."""
    path = os.environ.get("OTTLA_COMPATIBILITY")
    if path and _results:
        Path(path).write_text("\n".join([_HEAD, *(_section(client) for client in sorted(_results))]))


def _is_about_ours(item: pytest.Item) -> bool:
    parameters = getattr(item, "callspec", None)
    return parameters is None or parameters.params.get("kind", OTTLA) == OTTLA


def _variant(item: pytest.Item) -> str:
    parameters = getattr(item, "callspec", None)
    if parameters is None:
        return ""
    # The server's kind is no variant of a test.
    return str(parameters.id) if "kind" not in parameters.params else re.sub(rf"^{OTTLA}-?", "", parameters.id)


def _section(client: str) -> str:
    lines = [f"## {client}\n"]
    if client == _SAME:
        lines += [_NOT_COMPARED, "| subject | questions | result |", "|---|---|---|"]
        for subject, results in _results[client].items():
            lines.append(f"| {subject} | {len(results)} | {_summary(results)} |")
        lines += ["\nWhere ours differs on purpose:\n", "| question | why |", "|---|---|"]
        lines += [f"| {pattern} | {why} |" for pattern, why in DIFFERENCES.items()]
    else:
        lines += ["| what | with | result |", "|---|---|---|"]
        for exercise, results in _results[client].items():
            variants = ", ".join(sorted(variant for variant in results if variant))
            lines.append(f"| {exercise} | {variants} | {_summary(results)} |")
    return "\n".join(lines) + "\n"


def _summary(results: dict[str, str]) -> str:
    kinds = sorted(set(results.values()))
    if len(kinds) == 1:
        return kinds[0]
    return ", ".join(f"{kind}: {list(results.values()).count(kind)}" for kind in kinds)
