"""What the start and stop scripts of Confluent's services have in common: `NAME-start [-daemon] FILE`, `NAME-stop`."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.cli.argument import ToolParser
from ottla.cli.daemon import DAEMON, detach, split_daemon
from ottla.cli.node.node_process import python_command


@frozen
class ServiceScript:
    """One service: `schema-registry` has `schema-registry-start` and `schema-registry-stop`."""

    name: str
    title: str
    module: str
    """What runs the start script."""
    command: str
    """`ottla COMMAND` runs it as well."""

    @property
    def start_name(self) -> str:
        """The start script."""
        return f"{self.name}-start"

    @property
    def output(self) -> str:
        """The file that a daemon writes to."""
        return f"{self.name}.out"


def start(script: ServiceScript, serve: Callable[[dict[str, str]], int], arguments: Sequence[str]) -> int:
    """Runs the service as a file says; the exit code."""
    is_daemon, rest = split_daemon(arguments)
    options = start_parser(script).parse_args(rest)
    if is_daemon:
        return detach(script.start_name, script.module, rest, script.output)
    from ottla.base.config.file import parse_properties

    try:
        with open(options.config, encoding="utf-8") as file:
            return serve(parse_properties(file.read()))
    except (OSError, OttlaError) as error:
        print(f"{script.start_name}: {error}", file=sys.stderr)
        return 1


def start_parser(script: ServiceScript) -> ToolParser:
    """Understands what stands behind the name of the tool and `-daemon`."""
    file = f"{script.name}.properties"
    parser = ToolParser(
        prog=script.start_name,
        usage=f"{script.start_name} [-daemon] {file}",
        description=f"Run {script.title} as a file says.",
        epilog=f"{DAEMON} runs it in the background, its output in $LOG_DIR/{script.output} (./logs without $LOG_DIR).",
    )
    parser.add_argument("config", metavar=file, help="its settings, under Confluent's names")
    return parser


def stop(script: ServiceScript, description: str, arguments: Sequence[str]) -> int:
    """Asks the service's processes to stop; the exit code."""
    ToolParser(prog=f"{script.name}-stop", description=description).parse_args(arguments)
    running = list(processes(script))
    if not running:
        print(f"No {script.title.partition(' ')[2]} to stop")
        return 1
    code = 0
    for pid in running:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        except PermissionError:
            print(f"{script.name}-stop: process {pid} belongs to another user", file=sys.stderr)
            code = 1
    return code


def processes(script: ServiceScript, proc: Path = Path("/proc")) -> Iterator[int]:
    """The processes that this user may see."""
    for entry in proc.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = [word.decode(errors="replace") for word in (entry / "cmdline").read_bytes().split(b"\0")[:-1]]
        except OSError:
            continue  # it ended while we looked
        if is_running(script, words):
            yield int(entry.name)


def is_running(script: ServiceScript, words: Sequence[str]) -> bool:
    """Whether a command line is the service's.

    >>> script = ServiceScript("kafka-rest", "a REST proxy", "ottla.cli.kafka.kafka_rest_start", "rest")
    >>> is_running(script, ["python3", "/usr/bin/kafka-rest-start", "a.properties"])
    True
    >>> is_running(script, ["python3", "/usr/bin/ottla", "rest"]), is_running(script, ["vim", "kafka-rest-start"])
    (True, False)
    """
    name, arguments = python_command(words)
    if re.fullmatch(rf"{re.escape(script.start_name)}(\.sh)?", name) or name == script.module:
        return arguments[:1] != [DAEMON]
    return name in ("ottla", "ottla.cli.main") and arguments[:1] == [script.command]
