"""The options of `ottla schemas`: which registry, and which file. Declared without anything that talks to one."""

import argparse
from typing import Final

URL_VARIABLE: Final = "OTTLA_SCHEMA_REGISTRY"
DEFAULT_URL: Final = "http://localhost:8081"


def add_registry(parser: argparse.ArgumentParser) -> None:
    """Declares the options that every action has."""
    group = parser.add_argument_group("connection and output")
    group.add_argument("-r", "--url", metavar="URL", help=f"the registry (default: ${URL_VARIABLE} or {DEFAULT_URL})")
    group.add_argument("--json", action="store_true", help="print JSON for programs")


def add_file(parser: argparse.ArgumentParser) -> None:
    """Declares the file of a schema."""
    parser.add_argument("file", metavar="FILE", help="an .avsc, .json or .proto file")
    add_kind(parser)


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Declares what a file may not say itself."""
    parser.add_argument("--type", choices=("AVRO", "JSON", "PROTOBUF"), help="if the file's name does not say it")
    parser.add_argument(
        "--reference", action="append", default=[], metavar="NAME=SUBJECT:VERSION", help="a schema that it refers to"
    )
