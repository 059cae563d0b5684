"""`kafka-dump-log`: shows what log segments, their indexes, producer snapshots and metadata snapshots hold.

Reads files, asks no broker, changes nothing. Flags, lines and complaints are Kafka's: complaints about indexes come at
the end, on the error output; a file that can't be read at all ends the tool with 1.
"""

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ChosenOptions, Option, OptionTable, OptionValueError, ToolError
from ottla.cli.kafka.record.dump_log_complaint import Complaints
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.cli.kafka.record.dump_log_decoder import Decoder

_STRING_DECODER: Final = "org.apache.kafka.tools.api.StringDecoder"
_SUMMARY: Final = (
    "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly "
    "corrupt log segment."
)
_DECODERS: Final = {
    "offsets-decoder": "Records are those of __consumer_offsets.",
    "transaction-log-decoder": "Records are those of __transaction_state.",
    "cluster-metadata-decoder": "Records are those of the cluster's metadata.",
    "share-group-state-decoder": "Records are those of __share_group_state.",
    "remote-log-metadata-decoder": "Records are those of __remote_log_metadata.",
}
_UNLIMITED: Final = 2**31 - 1

OPTIONS: Final = OptionTable(
    _SUMMARY,
    (
        Option("files", "REQUIRED: the files, separated by commas.", "file1, file2, ..."),
        Option("print-data-log", "Show what records hold; every decoder option implies it."),
        Option("verify-index-only", "Check indexes without showing their entries."),
        Option("index-sanity-check", "Check of indexes only what a broker checks when it starts."),
        Option("max-message-size", "The size of the largest batch.", "size", "Integer", default="5242880"),
        Option("max-bytes", "Read of a log no more than this.", "size", "Integer", default=str(_UNLIMITED)),
        Option("deep-iteration", "Show records, not only batches; --print-data-log implies it."),
        Option("value-decoder-class", "How values are read.", "", is_optional=True, default=_STRING_DECODER),
        Option("key-decoder-class", "How keys are read.", "", is_optional=True, default=_STRING_DECODER),
        *(Option(name, summary) for name, summary in _DECODERS.items()),
        Option("skip-record-metadata", "Show of records only what they hold, and no control records."),
    ),
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    try:
        options = OPTIONS.parse(arguments)
        options.require("files")
        complaints = Complaints()
        files = options.required_text("files")
        # As Java splits: empty names at the end are none.
        for name in files.rstrip(",").split(",") if files.strip(",") or not files else ():
            _dump(re.sub("/+", "/", name), options, complaints)
        complaints.show()
    except BrokenPipeError:
        raise
    except (OttlaError, OSError) as error:
        print(f'Exception in thread "main" {_java_text(error)}', file=sys.stderr)
        return 1
    return 0


def _java_text(error: OttlaError | OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"java.nio.file.NoSuchFileException: {error.filename}"
    if isinstance(error, ToolError):
        # Usage errors have classes of their own in Kafka's parser; all others bring theirs along.
        text = str(error)
        if text.startswith(("org.", "java.")):
            return text
        if isinstance(error, OptionValueError):
            return f"{error.java_class}: {text}"
        kind = "UnrecognizedOption" if text.endswith("is not a recognized option") else "Option"
        return f"joptsimple.{kind}Exception: {text}"
    return f"org.apache.kafka.common.errors.CorruptRecordException: {error}"


def _dump(path: str, options: ChosenOptions, complaints: Complaints) -> None:
    print(f"Dumping {path}")
    name = path.rpartition("/")[2]
    dump = _dumps(options, complaints).get("." + name.rpartition(".")[2]) if "." in name else None
    if dump is None:
        print(f"Ignoring unknown file {path}", file=sys.stderr)
        return
    dump(path)


def _dumps(options: ChosenOptions, complaints: Complaints) -> dict[str, Callable[[str], None]]:
    """What shows a file, by the ending of its name."""
    from ottla.cli.kafka.record import dump_log_index, dump_log_record

    decoder = _decoder(options)
    is_shown = any(options.has(name) for name in ("print-data-log", "value-decoder-class", "key-decoder-class"))
    is_shown = is_shown or any(options.has(name) for name in _DECODERS)
    records = dump_log_record.RecordDump(
        decoder=decoder if is_shown else None,
        is_deep=is_shown or options.has("deep-iteration"),
        has_metadata=not options.has("skip-record-metadata"),
        max_bytes=options.integer("max-bytes") or 0,
        complaints=complaints,
    )
    indexes = dump_log_index.IndexDump(
        is_sanity_only=options.has("index-sanity-check"),
        is_verify_only=options.has("verify-index-only"),
        max_message_bytes=options.integer("max-message-size") or 0,
        complaints=complaints,
    )
    return {
        ".log": records.dump,
        ".checkpoint": records.dump,
        ".index": indexes.dump_offsets,
        ".timeindex": indexes.dump_times,
        ".txnindex": dump_log_index.dump_transactions,
        ".snapshot": dump_log_index.dump_producers,
    }


def _decoder(options: ChosenOptions) -> "Decoder":
    from ottla.cli.kafka.record.dump_log_decoder import class_decoder, named_decoder

    for name in _DECODERS:
        if options.has(name):
            return named_decoder(name)
    key, value = (options.text(f"{part}-decoder-class") or _STRING_DECODER for part in ("key", "value"))
    return class_decoder(key, value)


if __name__ == "__main__":
    sys.exit(main())
