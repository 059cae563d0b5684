import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from ottla.base import log
from ottla.base.log_limit import LimitedLog, repeatable


@pytest.fixture(autouse=True)
def logging_is_put_back() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("ottla.trial.log")
    yield logger
    logger.setLevel(logging.NOTSET)


def test_a_line_has_kafkas_shape(logger: logging.Logger) -> None:
    out = io.StringIO()
    log.configure(stream=out)
    log.IdentityLogger(logger, "ReplicaManager broker=1").warning("%d of %d logs are offline", 3, 7)
    stamp = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]"
    assert re.fullmatch(
        rf"{stamp} WARN \[ReplicaManager broker=1\] 3 of 7 logs are offline \(ottla\.trial\.log\)\n", out.getvalue()
    )


def test_a_traceback_follows_its_line(logger: logging.Logger) -> None:
    out = io.StringIO()
    log.configure(stream=out)
    try:
        raise OSError("disk is full")
    except OSError:
        logger.exception("cannot write")
    first, *rest = out.getvalue().splitlines()
    assert first.endswith("ERROR cannot write (ottla.trial.log)")
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "OSError: disk is full"


def test_a_clients_text_cannot_forge_a_line(logger: logging.Logger) -> None:
    out = io.StringIO()
    log.configure(stream=out)
    logger.info("client %s", "a\n[2026-01-01 00:00:00,000] ERROR forged\r\x1b[2J\x85\u2028x")
    assert len(out.getvalue().splitlines()) == 1
    assert r"client a\n[2026-01-01 00:00:00,000] ERROR forged\r\x1b[2J\x85\u2028x" in out.getvalue()


def test_an_identity_may_contain_a_percent_sign(logger: logging.Logger) -> None:
    out = io.StringIO()
    log.configure(stream=out)
    log.IdentityLogger(logger, "x=%d").info("%s", "text")
    log.IdentityLogger(logger, "x=%d").info("text")
    assert [line.partition("INFO ")[2] for line in out.getvalue().splitlines()] == [
        "[x=%d] text (ottla.trial.log)",
        "[x=%d] text (ottla.trial.log)",
    ]


def test_json_lines_carry_the_same(logger: logging.Logger) -> None:
    out = io.StringIO()
    log.configure(form=log.LogForm.JSON, stream=out)
    try:
        raise ValueError("bad")
    except ValueError:
        logger.critical("two\nlines", exc_info=True)
    (line,) = out.getvalue().splitlines()
    fields = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fields["time"])
    assert (fields["level"], fields["logger"], fields["message"]) == ("FATAL", "ottla.trial.log", "two\nlines")
    assert fields["exception"].endswith("ValueError: bad")


def test_levels_are_changed_by_name_and_inherited(logger: logging.Logger) -> None:
    log.configure("WARN", stream=io.StringIO())
    assert log.levels()["ottla.trial.log"] == "WARN"
    log.set_level("ottla.trial", "TRACE")
    assert log.levels()["ottla.trial.log"] == "TRACE"
    log.set_level("ottla.trial.log", "ERROR")
    assert log.levels()["ottla.trial.log"] == "ERROR"
    log.reset_level("ottla.trial.log")
    log.reset_level("ottla.trial")
    assert log.levels()["ottla.trial.log"] == "WARN"
    log.set_level("root", "FATAL")
    assert log.levels()["root"] == log.levels()["ottla.trial.log"] == "FATAL"


@pytest.mark.parametrize(
    ("logger_name", "level", "reason"),
    [
        ("ottla.nowhere", "INFO", "Logger ottla.nowhere does not exist!"),
        ("root", "LOUD", "LOUD is no log level"),
        ("root", "info", "info is no log level"),
    ],
)
def test_unknown_loggers_and_levels_are_refused(logger_name: str, level: str, reason: str) -> None:
    with pytest.raises(log.LogLevelError, match=re.escape(reason)):
        log.set_level(logger_name, level)


def test_the_roots_level_cannot_be_removed() -> None:
    with pytest.raises(log.LogLevelError, match="root logger"):
        log.reset_level("root")


class _Clock:
    now = 0

    def now_ms(self) -> int:
        return self.now

    def monotonic_ms(self) -> int:
        return self.now


def test_a_limited_line_is_said_once_per_subject_and_period(
    logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    clock = _Clock()
    limited = LimitedLog(logger, clock, interval_ms=1_000)
    for now in (0, 10, 999):
        clock.now = now
        limited.warning("a", "%s is loud", "a")
    limited.warning("b", "%s is loud", "b")
    clock.now = 1_000
    limited.warning("a", "%s is loud", "a")
    assert caplog.messages == ["a is loud", "b is loud", "a is loud (and 2 times since this was last said)"]


def test_a_limited_log_forgets_subjects_rather_than_growing(
    logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    limited = LimitedLog(logger, _Clock(), subjects_max=2)
    for subject in ("a", "b", "c", "c", "a"):
        limited.warning(subject, subject)
    assert caplog.messages == ["a", "b", "c", "a"]


def test_the_log_of_a_process_holds_marked_lines_back() -> None:
    stream = io.StringIO()
    handler = log.configure(stream=stream)
    try:
        logger = logging.getLogger("ottla.repeated")
        for number in range(4):
            logger.warning("%s is unreadable: 100%%", number, extra=repeatable("groups"))
            logger.warning("plain")
        [line] = [line for line in stream.getvalue().splitlines() if "unreadable" in line]
        assert "0 is unreadable: 100%" in line
        assert stream.getvalue().count("plain") == 4
        record = logger.makeRecord("ottla.repeated", logging.WARNING, "", 0, "%s is unreadable: 100%%", ("5",), None)
        record.repeatable = "groups"
        record.created += 61
        handler.handle(record)
        assert "5 is unreadable: 100% (and 3 times since this was last said)" in stream.getvalue()
    finally:
        logging.getLogger().removeHandler(handler)
