"""kcat, Debian's command-line client on librdkafka: metadata, produce, consume, offsets."""

import json
import shutil
import subprocess

import pytest

from tests.clients.record import CODECS
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client("kcat")


def kcat(server: Server, *arguments: str, stdin: str = "") -> str:
    """What kcat prints; anything but success fails the test."""
    if shutil.which("kcat") is None:
        pytest.skip("needs kcat, see scripts/install-debian-packages")
    done = subprocess.run(
        ["kcat", "-b", server.bootstrap, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_metadata(server: Server, topic: str) -> None:
    """-L lists brokers, topics and partitions"""
    create(server, topic, partitions=2)
    listed = json.loads(kcat(server, "-L", "-J", "-t", topic))
    assert listed["brokers"] == [{"id": 1, "name": server.bootstrap}]
    assert [partition["leader"] for partition in listed["topics"][0]["partitions"]] == [1, 1]


@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_consume(server: Server, topic: str, codec: str) -> None:
    """-P and -C with keys and headers, every codec"""
    create(server, topic)
    lines = "".join(f"k{number}:value {number}\n" for number in range(100))
    kcat(server, "-P", "-t", topic, "-p", "0", "-K:", "-z", codec, "-H", "a=1", "-H", "b=2", stdin=lines)
    read = kcat(server, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q", "-f", "%k:%s|%h|%o\n")
    assert read.splitlines() == [f"k{number}:value {number}|a=1,b=2|{number}" for number in range(100)]


def test_null_values(server: Server, topic: str) -> None:
    """-Z turns empty values into null, and back they come as null"""
    create(server, topic)
    kcat(server, "-P", "-t", topic, "-p", "0", "-K:", "-Z", stdin="gone:\nhere:x\n")
    read = [json.loads(line) for line in kcat(server, "-C", "-t", topic, "-p", "0", "-e", "-q", "-J").splitlines()]
    assert [(message["key"], message["payload"]) for message in read] == [("gone", None), ("here", "x")]


def test_offsets_and_tail(server: Server, topic: str) -> None:
    """-Q finds offsets by time; -o counts from the end; -c stops"""
    create(server, topic)
    kcat(server, "-P", "-t", topic, "-p", "0", stdin="".join(f"{number}\n" for number in range(10)))
    assert kcat(server, "-Q", "-t", f"{topic}:0:0") == f"{topic} [0] offset 0\n"
    assert kcat(server, "-C", "-t", topic, "-p", "0", "-o", "-2", "-e", "-q") == "8\n9\n"
    assert kcat(server, "-C", "-t", topic, "-p", "0", "-o", "3", "-c", "2", "-q") == "3\n4\n"
