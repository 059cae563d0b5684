"""`ottla COMMAND --help` must be there at once: no command imports a client or an event loop to explain itself."""

import subprocess
import sys

import pytest

from ottla.cli.main import COMMANDS

HEAVY = ("asyncio", "ottla.client", "ottla.protocol", "ottla.broker", "ottla.storage", "pyarrow", "cramjam", "json")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_needs_nothing_heavy(command: str) -> None:
    code = (
        "import sys\nfrom ottla.cli.main import main\n"
        f"try: main([{command!r}, '--help'])\nexcept SystemExit: pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in HEAVY if name in done.stderr.split()] == []
