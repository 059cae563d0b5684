"""Read records: live as they come, or from any point on; filtered, and printed as you like.

  ottla consume orders                                 what comes from now on, until Ctrl-C
  ottla consume orders --from beginning -e             everything that is there, then end
  ottla consume orders --from 15m --filter 'value.amount > 100 and headers.source == "web"'
  ottla consume orders --from -10 -e --format '{key}: {value.amount}'
  ottla consume orders --group billing --json | jq .value

Filters and formats name the same fields: key, value, headers.NAME, topic, partition, offset, timestamp (ms), time,
size, and paths into JSON such as value.items[0].price. Filters know == != < <= > >= ~ !~ (regular expressions),
contains, startswith, and, or, not, ( ).
"""

import argparse

from ottla.cli.commands.records.position import POINT_HELP
from ottla.cli.connection import add_connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]", help="orders, orders:0 or orders:0,2-4")
    parser.add_argument(
        "--from", dest="start", metavar="POINT", help=f"{POINT_HELP}, or -N for the last N of each partition "
        "(default: end; with --group where the group is)"
    )  # fmt: skip
    parser.add_argument("-e", "--exit", action="store_true", help="end once the records that are there now are read")
    parser.add_argument("-n", "--max", type=int, metavar="N", help="end after N records")
    parser.add_argument("--filter", metavar="EXPRESSION", help="print only records for which this is true")
    parser.add_argument(
        "--format", metavar="TEMPLATE", help=r"how to print a record, such as '{time} {key} {value.amount}\n'"
    )
    parser.add_argument("--group", metavar="ID", help="read as a member of this group, and commit what was printed")
    parser.add_argument("--committed", action="store_true", help="leave out records of aborted transactions")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Reads; the exit code."""
    from ottla.cli.commands.records.consume_read import read
    from ottla.cli.connection import explained

    with explained(options):
        return read(options)
