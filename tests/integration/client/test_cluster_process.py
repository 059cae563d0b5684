"""Clients in forked processes, at the end of a process that forgot them, and beside a running event loop."""

import asyncio
import subprocess
import sys

import pytest

from tests.integration.client.fork_program import ask, connect


@pytest.mark.parametrize("end", ["close", "forget"])
def test_a_fork_and_the_end_of_both_processes(bootstrap: str, end: str) -> None:
    strict = ["-X", "dev"] if end == "close" else []
    command = [sys.executable, *strict, "-m", "tests.integration.client.fork_program", bootstrap, end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    # A busy machine makes asyncio's debug mode speak of slow steps; everything else is a fault of ours.
    said = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert (done.returncode, said) == (0, [])
    assert done.stdout.splitlines() == [
        "the child is told",
        "the child's own client works",
        "the parent's client still works",
    ]


def test_a_blocking_client_inside_of_a_running_loop(bootstrap: str) -> None:
    """Cells of a notebook run in an event loop, one after the other."""

    async def cell() -> None:
        ask(thread, client)

    thread, client = connect(bootstrap)
    asyncio.run(cell())
    asyncio.run(cell())
    thread.run(client.close(), 30)
    thread.close()


def test_uvloop_is_used_where_it_is_the_users_policy(bootstrap: str) -> None:
    uvloop = pytest.importorskip("uvloop")
    before = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    try:
        thread, client = connect(bootstrap)
        assert isinstance(thread.loop, uvloop.Loop)
        ask(thread, client)
        thread.run(client.close(), 30)
        thread.close()
    finally:
        asyncio.set_event_loop_policy(before)
