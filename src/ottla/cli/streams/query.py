"""`ottla streams query`: what the stores of a running application say, asked of any of its instances over HTTP."""

import argparse
import json
import sys
from typing import Any, Final
from urllib.parse import quote, urlencode

from ottla.cli.connect.ask import Absence, Worker
from ottla.cli.output.style import Style
from ottla.cli.output.table import table

_NO_INSTANCE: Final = Absence("Streams instance", "start one with `query.listeners` in its configuration")


def query(options: argparse.Namespace) -> int:
    """Prints one key, some pairs, or which stores there are; the exit code."""
    instance = Worker(options.url, options.cacert, _NO_INSTANCE)
    if options.store is None:
        return _show(instance.ask("GET", "/streams/stores"), options)
    path = f"/streams/stores/{quote(options.store, safe='')}"
    if options.key is not None:
        path += f"/keys/{quote(options.key, safe='')}"
    if options.metadata:
        return _show(instance.ask("GET", f"{path}/metadata"), options)
    given = {"from": options.low, "to": options.high, "limit": options.limit, "asOf": options.as_of}
    wanted = {name: value for name, value in given.items() if value is not None}
    wanted |= {name: "true" for name in ("timestamps", "stale", "local") if getattr(options, name)}
    return _show(instance.ask("GET", f"{path}?{urlencode(wanted)}"), options)


def _show(found: Any, options: argparse.Namespace) -> int:
    rows = _rows(found)
    if options.json or not rows:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name)) for name in columns] for row in rows]
    print(table([name[:1].upper() + name[1:] for name in columns], cells, Style.of(sys.stdout)))
    return 0


def _rows(found: Any) -> list[dict[str, Any]]:
    """The answer as rows: windows and sessions of a key, pairs, or one key."""
    if isinstance(found, dict):
        for inner in ("windows", "sessions"):
            if inner in found:
                return list(found[inner])
        return [found]
    return list(found)


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
