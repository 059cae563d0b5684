"""Write records: a line each, or a JSON object per line, from the terminal, a pipe or files.

  ottla produce orders                                     type lines, Ctrl-D ends
  ottla produce orders -k : < lines                        `key:value` on each line
  ottla produce orders -H source=import -f data.txt        the same header for all
  ottla consume old --from beginning -e --json | ottla produce new --format json

In the JSON form a line is {"key": ..., "value": ..., "headers": {...}, "partition": 0, "timestamp": 1700000000000};
all but `value` may be absent. Strings are written as they are, null as null, everything else as JSON; `key_base64`
and `value_base64` are for bytes.
"""

import argparse

from ottla.cli.connection import add_connection

_COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("topic", metavar="TOPIC", help="the topic to write to")
    parser.add_argument(
        "-f", "--file", action="append", default=[], metavar="FILE", help="a file to read (default: standard input)"
    )
    parser.add_argument(
        "--format", choices=("lines", "json"), default="lines", help="how lines are read (default: lines)"
    )
    parser.add_argument(
        "-k", "--key-separator", metavar="TEXT", help=r"what parts key and value on a line; \t is a tab"
    )
    parser.add_argument("--key", help="the key of records without one")
    parser.add_argument(
        "-H", "--header", action="append", default=[], metavar="NAME=VALUE", help="a header for all records"
    )
    parser.add_argument("--partition", type=int, metavar="N", help="the partition (default: by the key)")
    parser.add_argument(
        "--null", metavar="TEXT", help="write a value or key that equals TEXT as null; a null value deletes its key"
    )
    parser.add_argument("--compression", choices=_COMPRESSIONS, help="the codec for batches (default: none)")
    parser.add_argument("--acks", choices=("0", "1", "all"), help="the acknowledgement to wait for (default: all)")
    parser.add_argument(
        "--progress", action="store_true", help="show a progress bar (default: in a terminal, for files)"
    )
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Writes; the exit code."""
    from ottla.cli.commands.records.produce_send import send
    from ottla.cli.connection import explained

    with explained(options):
        return send(options)
