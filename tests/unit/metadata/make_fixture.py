"""Makes tests/fixtures/kafka-4.3.1-metadata: a metadata log and a snapshot as Apache Kafka 4.3.1 writes them.

It runs the real server once (two log directories, so that AssignReplicasToDirs shows up), makes topics, configs, SCRAM
users, quotas and ACLs with Kafka's own tools, restarts it, deletes a topic, and keeps `__cluster_metadata-0` with what
the describe tools print. Run it by hand: `python -m tests.unit.metadata.make_fixture JAR_DIRECTORY`.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIXTURE = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1-metadata"
CLUSTER_ID = "ottlaFixtureClusterAAA"
SERVER = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
broker.rack=rack-a
log.dirs={root}/one,{root}/two
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
metadata.log.max.snapshot.interval.ms=10000
"""
COMMANDS = (
    ("TopicCommand", "--create --topic orders --partitions 3 --replication-factor 1 --config retention.ms=60000"),
    (
        "TopicCommand",
        "--create --topic payments.eu --partitions 2 --replication-factor 1 --config cleanup.policy=compact",
    ),
    ("TopicCommand", "--create --topic doomed --partitions 1 --replication-factor 1 --config retention.ms=1"),
    ("TopicCommand", "--alter --topic orders --partitions 5"),
    ("ConfigCommand", "--alter --entity-type topics --entity-name orders --add-config min.insync.replicas=1"),
    ("ConfigCommand", "--alter --entity-type brokers --entity-default --add-config log.cleaner.threads=2"),
    ("ConfigCommand", "--alter --entity-type brokers --entity-name 1 --add-config log.cleaner.threads=3"),
    (
        "ConfigCommand",
        "--alter --entity-type users --entity-name alice --add-config SCRAM-SHA-256=[iterations=4096,password=a]",
    ),
    (
        "ConfigCommand",
        "--alter --entity-type users --entity-name bob --add-config SCRAM-SHA-512=[iterations=8192,password=b]",
    ),
    ("ConfigCommand", "--alter --entity-type users --entity-name bob --delete-config SCRAM-SHA-512"),
    (
        "ConfigCommand",
        "--alter --entity-type users --entity-name alice --add-config producer_byte_rate=1024,request_percentage=50",
    ),
    (
        "ConfigCommand",
        "--alter --entity-type users --entity-default --entity-type clients --entity-name app "
        "--add-config consumer_byte_rate=2048",
    ),
    ("ConfigCommand", "--alter --entity-type ips --entity-name 127.0.0.9 --add-config connection_creation_rate=7"),
    ("AclCommand", "--add --allow-principal User:alice --operation Read --operation Write --topic orders"),
    ("AclCommand", "--add --deny-principal User:bob --operation All --group etl- --resource-pattern-type prefixed"),
    ("AclCommand", "--remove --force --allow-principal User:alice --operation Write --topic orders"),
)
AFTER_RESTART = (("TopicCommand", "--delete --topic doomed"),)
DESCRIBE = (
    ("topics.txt", "TopicCommand", "--describe"),
    ("configs-topics.txt", "ConfigCommand", "--describe --entity-type topics"),
    ("configs-brokers.txt", "ConfigCommand", "--describe --entity-type brokers"),
    ("users.txt", "ConfigCommand", "--describe --entity-type users"),
    ("clients.txt", "ConfigCommand", "--describe --entity-type users --entity-type clients"),
    ("ips.txt", "ConfigCommand", "--describe --entity-type ips"),
    ("acls.txt", "AclCommand", "--list"),
    ("features.txt", "FeatureCommand", "describe"),
)
PACKAGE = {"ConfigCommand": "kafka.admin"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Kafka:
    """One node of Apache Kafka in `root`, and its tools."""

    def __init__(self, jars: str, root: Path) -> None:
        self.java = ["java", "-Xmx256m", "-cp", f"{jars}/*"]
        self.port = free_port()
        self.root = root
        self.properties = root / "server.properties"
        self.properties.write_text(SERVER.format(broker=self.port, controller=free_port(), root=root))
        arguments = ["format", "--standalone", "-t", CLUSTER_ID, "-c", str(self.properties)]
        subprocess.run([*self.java, "kafka.tools.StorageTool", *arguments], check=True)

    def start(self) -> None:
        with (self.root / "server.log").open("a") as log:
            self.process = subprocess.Popen([*self.java, "kafka.Kafka", str(self.properties)], stdout=log, stderr=log)
        for _ in range(60):
            time.sleep(1)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
        raise SystemExit("Kafka did not start: see server.log")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)

    def tool(self, name: str, options: str) -> str:
        command = f"{PACKAGE.get(name, 'org.apache.kafka.tools')}.{name}"
        arguments = ["--bootstrap-server", f"127.0.0.1:{self.port}", *options.split()]
        done = subprocess.run([*self.java, command, *arguments], capture_output=True, text=True, check=False)
        print(name, options, done.returncode, done.stderr[-300:] if done.returncode else "")
        return done.stdout


def main(jars: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        kafka = Kafka(jars, Path(directory))
        kafka.start()
        for name, options in COMMANDS:
            kafka.tool(name, options)
        kafka.stop()
        kafka.start()
        for name, options in AFTER_RESTART:
            kafka.tool(name, options)
        FIXTURE.mkdir(parents=True, exist_ok=True)
        for file, name, options in DESCRIBE:
            (FIXTURE / file).write_text(kafka.tool(name, options))
        time.sleep(12)
        log = kafka.root / "one" / "__cluster_metadata-0"
        snapshot = max(path for path in log.glob("*.checkpoint") if not path.name.startswith("0" * 20))
        shutil.copy(snapshot, FIXTURE / snapshot.name)
        kafka.stop()
        for path in (*log.glob("*.log"), *(kafka.root / "one").glob("bootstrap.checkpoint")):
            shutil.copy(path, FIXTURE / path.name)


if __name__ == "__main__":
    main(sys.argv[1])
