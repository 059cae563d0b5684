"""`python -m tests.torture.racing_node server.properties`: a node whose threads meet all the time."""

import sys

from ottla.base import collector
from ottla.cli.kafka.server_start import main
from tests import racing

if __name__ == "__main__":
    # A node that has started sets the collector's thresholds.
    collector._YOUNG_MAX = racing.YOUNG_MAX  # type: ignore[misc]
    racing.begin()
    sys.exit(main())
