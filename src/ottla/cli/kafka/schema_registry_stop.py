"""`schema-registry-stop`: asks the schema registries that run on this machine to stop."""

import sys
from collections.abc import Sequence

from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.schema_registry_start import SCRIPT
from ottla.cli.kafka.service_script import stop


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    return stop(SCRIPT, (__doc__ or "").partition(": ")[2], arguments)


if __name__ == "__main__":
    sys.exit(main())
