"""The commands of a page of docs, run as a reader would."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from ottla.base.config import ConfigKeys

_DOCS = Path(__file__).parents[3] / "docs"


def scripts_of(page: str) -> list[str]:
    """The page's `sh` blocks."""
    return re.findall(r"^```sh\n(.*?)^```", (_DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def run(script: str, addresses: Mapping[str, int], directory: Path, **environment: str) -> str:
    """What a script prints, which has to end well; `addresses` are the ports that stand in for those of the page."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    text = script
    for address, port in addresses.items():
        text = text.replace(address, f"127.0.0.1:{port}")
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=directory,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), (text, done.stdout, done.stderr)
    return done.stdout


def check_settings(page: str, keys: ConfigKeys) -> None:
    """Every setting of the page's tables exists, and has the default that stands there."""
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", (_DOCS / page).read_text(), re.MULTILINE)
    named = [(name, default) for names, default in rows for name in re.findall(r"`(.*?)`", names)]
    assert len(named) > 10
    assert [name for name, _ in named if name not in keys] == []
    for name, default in named:
        if default.isdecimal():
            assert str(keys[name].default) == default, name
