"""`kafka-server-stop`: asks the nodes that run on this machine to stop, all of them or those that options name."""

import os
import signal
import sys
from collections.abc import Sequence

from ottla.cli.argument import ToolParser
from ottla.cli.kafka.session.tool_main import tool_main
from ottla.cli.node.node_process import NodeProcess, node_processes


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    parser = ToolParser(prog="kafka-server-stop", description="Ask the nodes that run on this machine to stop.")
    parser.add_argument("--process-role", help="stop nodes with these roles: broker, controller or broker,controller")
    parser.add_argument("--node-id", type=int, help="stop the node with this id")
    options = parser.parse_args(arguments)
    if options.node_id is not None and options.process_role is not None:
        print("When both node-id and process-role are provided, the value for node-id will take precedence")
    running = node_processes()
    if not running:
        print("No kafka server to stop")
        return 1
    return _stop([node for node in running if _is_meant(node, options.node_id, options.process_role)])


def _is_meant(node: NodeProcess, node_id: int | None, role: str | None) -> bool:
    if node_id is not None:
        return node.node_id == node_id
    return role is None or node.roles == frozenset(part.strip() for part in role.split(","))


def _stop(nodes: Sequence[NodeProcess]) -> int:
    name = os.environ.get("SIGNAL", "TERM")
    number = getattr(signal, f"SIG{name.removeprefix('SIG')}", None)
    if not isinstance(number, signal.Signals):
        print(f"kafka-server-stop: there is no signal {name}", file=sys.stderr)
        return 1
    code = 0
    for node in nodes:
        try:
            os.kill(node.pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            print(f"kafka-server-stop: process {node.pid} belongs to another user", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
