"""Where a lone node lives unless told otherwise; apart from the rest because `--help` shows it."""

from typing import Final

DEFAULT_DATA: Final = "./ottla-data"
DEFAULT_LISTEN: Final = "127.0.0.1:9092"
DEFAULT_HTTP: Final = "127.0.0.1:9644"
