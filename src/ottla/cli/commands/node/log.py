"""Look into the files of a log, without a broker: batches and records of segments, entries of indexes.

  ottla log dump data/orders-0/00000000000000000000.log             a line per batch
  ottla log dump data/orders-0/00000000000000000000.log --records   what they hold
  ottla log dump data/__consumer_offsets-0/00000000000000000000.log --records

Records of the cluster's own topics are decoded by the name of their directory. `kafka-dump-log` prints the same files
in Kafka's form, producer snapshots and transaction indexes among them.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    dump = actions.add_parser("dump", help="print what a file holds", description="Print what files hold.")
    dump.add_argument("files", nargs="+", metavar="FILE", help=".log, .checkpoint, .index or .timeindex")
    dump.add_argument("--records", action="store_true", help="print records, too, not only batches")
    dump.add_argument("--from", dest="start", type=int, default=0, metavar="OFFSET", help="the first offset to print")
    dump.add_argument("-n", "--max", type=int, metavar="N", help="end after so many lines")
    dump.add_argument("--json", action="store_true", help="a JSON object per line, for programs")


def run(options: argparse.Namespace) -> int:
    """Prints; 1 if a batch is damaged."""
    from ottla.cli.commands.node.log_dump import dump
    from ottla.cli.connection import explained

    with explained():
        return dump(options)
