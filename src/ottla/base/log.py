"""The process's log: where lines go, what they look like, and which loggers say how much.

Modules log with the standard library (`_log = logging.getLogger(__name__)`); a process calls `configure` once. A line
has Kafka's shape, `[2026-11-16 07:00:00,123] INFO [ReplicaManager broker=1] text (ottla.replication.replica_manager)`,
or is a JSON object. Control characters in a message are escaped, so that a client's name cannot forge lines.

Levels have Kafka's names (TRACE DEBUG INFO WARN ERROR FATAL) and are changed while the process runs.
"""

import enum
import json
import logging
import sys
import time
from typing import Any, Final, TextIO

from ottla.base.errors import OttlaError
from ottla.base.log_limit import RepeatFilter

ROOT: Final = "root"
"""The name of the root logger in `levels` and `set_level`."""

TRACE: Final = 5
_NUMBER: Final = {
    "TRACE": TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
LEVELS: Final = tuple(_NUMBER)
"""The names of the levels, most talkative first."""

_CONTROL: Final = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    0x09: "\t",
    0x0A: "\\n",
    0x0D: "\\r",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


class LogLevelError(OttlaError):
    """A logger or a level that does not exist."""


class LogForm(enum.Enum):
    """The form of a log line."""

    KAFKA = "kafka"
    JSON = "json"


class KafkaFormatter(logging.Formatter):
    """Lines in the shape of Kafka's default log4j pattern; a traceback follows on lines of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._second = -1
        self._stamp = ""

    def format(self, record: logging.LogRecord) -> str:
        """One line for `record`, in local time."""
        second = int(record.created)
        if second != self._second:
            self._second = second
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
        text = record.getMessage()
        if not text.isprintable():
            text = text.translate(_CONTROL)
        line = f"[{self._stamp},{int(record.msecs):03d}] {level_name(record.levelno)} {text} ({record.name})"
        trace = _traceback(self, record)
        return f"{line}\n{trace}" if trace else line


class JsonFormatter(logging.Formatter):
    """A JSON object a line: time (UTC, ISO 8601), level, logger, message and, where there is one, the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """One line for `record`."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": level_name(record.levelno),
            "logger": record.name,
            "message": record.getMessage(),
        }
        trace = _traceback(self, record)
        if trace:
            fields["exception"] = trace
        return json.dumps(fields, ensure_ascii=False)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""


class IdentityLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger whose every line opens with who speaks.

    >>> log = IdentityLogger(logging.getLogger("ottla.doc"), "ReplicaManager broker=1")
    >>> log.info("%d replicas are behind", 2)  # [...] INFO [ReplicaManager broker=1] 2 replicas are behind (ottla.doc)
    """

    def __init__(self, logger: logging.Logger, identity: str) -> None:
        super().__init__(logger, {})
        self._prefix: Final = f"[{identity}] "

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log `msg` with the identity before it."""
        if self.isEnabledFor(level):
            # With arguments the text is a format, in which the identity must stand for itself.
            prefix = self._prefix.replace("%", "%%") if args else self._prefix
            self.logger.log(level, f"{prefix}{msg}", *args, **kwargs)


def configure(level: str = "INFO", *, form: LogForm = LogForm.KAFKA, stream: TextIO | None = None) -> logging.Handler:
    """Send everything at `level` or above to `stream` (standard output), and nowhere else; the handler in use."""
    handler = logging.StreamHandler(sys.stdout if stream is None else stream)
    handler.setFormatter(JsonFormatter() if form is LogForm.JSON else KafkaFormatter())
    handler.addFilter(RepeatFilter())
    logging.addLevelName(TRACE, "TRACE")
    logging.captureWarnings(True)
    root = logging.getLogger()
    for former in root.handlers[:]:
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(_level_number(level))
    _leave_out_what_no_line_shows()
    return handler


def _leave_out_what_no_line_shows() -> None:
    """The caller's file and line, thread and process cost a third of a line: the standard library's own advice."""
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def level_name(number: int) -> str:
    """Kafka's name for a level of the standard library, the next lower one for levels in between.

    >>> level_name(logging.WARNING), level_name(logging.CRITICAL), level_name(7)
    ('WARN', 'FATAL', 'TRACE')
    """
    return next((name for name, value in reversed(_NUMBER.items()) if value <= number), "TRACE")


def levels() -> dict[str, str]:
    """The level in force for every logger that exists, by name, the root first."""
    named = {name: level_name(_logger(name).getEffectiveLevel()) for name in sorted(logging.root.manager.loggerDict)}
    return {ROOT: level_name(logging.root.level)} | named


def set_level(logger: str, level: str) -> None:
    """Have a logger, and those below it without a level of their own, say `level` and above from now on."""
    number = _level_number(level)
    _known(logger).setLevel(number)


def reset_level(logger: str) -> None:
    """Have a logger follow the one above it again; the root has none above it and is refused."""
    if logger == ROOT:
        raise LogLevelError("Removing the log level of the root logger is not allowed")
    _known(logger).setLevel(logging.NOTSET)


def is_logger(name: str) -> bool:
    """Whether `set_level` takes this name."""
    return name == ROOT or name in logging.root.manager.loggerDict


def _known(name: str) -> logging.Logger:
    if not is_logger(name):
        raise LogLevelError(f"Logger {name} does not exist!")
    return _logger(name)


def _logger(name: str) -> logging.Logger:
    return logging.root if name == ROOT else logging.getLogger(name)


def _level_number(level: str) -> int:
    number = _NUMBER.get(level)
    if number is None:
        raise LogLevelError(f"{level} is no log level: one of {', '.join(LEVELS)} is")
    return number
