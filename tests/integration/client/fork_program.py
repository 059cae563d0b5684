"""A program that forks with an open client, as pre-forking web servers do; it prints what parent and child see."""

import os
import sys

from ottla.client.cluster.cluster_client import ANY_NODE, ClusterClient
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import ForkedError
from ottla.client.facade.loop_thread import LoopThread
from ottla.protocol.messages.metadata import MetadataRequest


def connect(bootstrap: str) -> tuple[LoopThread, ClusterClient]:
    """A client with a thread of its own."""
    thread = LoopThread("client")
    client = ClusterClient(ClientSettings.of(PRODUCER_KEYS, bootstrap_servers=bootstrap))
    thread.run(client.start(), 30)
    return thread, client


def ask(thread: LoopThread, client: ClusterClient) -> None:
    """One request and its answer."""
    thread.run(client.request(ANY_NODE, MetadataRequest(topics=[])), 30)


def main() -> None:
    bootstrap, closes = sys.argv[1], sys.argv[2] == "close"
    thread, client = connect(bootstrap)
    child = os.fork()
    if child == 0:
        try:
            ask(thread, client)
        except ForkedError:
            print("the child is told", flush=True)
        thread.close()
        thread, client = connect(bootstrap)
        ask(thread, client)
        print("the child's own client works", flush=True)
    else:
        os.waitpid(child, 0)
        ask(thread, client)
        print("the parent's client still works", flush=True)
    if closes:
        thread.run(client.close(), 30)
        thread.close()


if __name__ == "__main__":
    main()
