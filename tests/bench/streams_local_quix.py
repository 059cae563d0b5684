"""A program where quixstreams is installed: counts as `streams_local_query` does, and prints the CPU of a record."""

import sys
import tempfile
import time

from quixstreams import Application  # type: ignore[import-not-found]


def main(bootstrap: str, guarantee: str, records: str) -> None:
    """Runs until all are counted."""
    wanted = int(records)
    with tempfile.TemporaryDirectory() as directory:
        app = Application(
            broker_address=bootstrap,
            consumer_group=f"quix-{time.time_ns()}",
            auto_offset_reset="earliest",
            processing_guarantee=guarantee,
            state_dir=directory,
            loglevel="ERROR",
        )
        source = app.topic("in", key_deserializer="str", value_deserializer="str")
        target = app.topic("out", key_serializer="str", value_serializer="int")
        began: list[float] = []

        def counted(value: str, state: object) -> int:
            if not began:
                began.append(time.process_time())
            count: int = state.get("count", 0) + 1  # type: ignore[attr-defined]
            state.set("count", count)  # type: ignore[attr-defined]
            return count

        app.dataframe(source).apply(counted, stateful=True).to_topic(target)
        app.run(count=wanted, timeout=120)
        print((time.process_time() - began[0]) / wanted * 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:4])
