"""The reader of the schemas' topic: what it waits for, and when it doubts what it read."""

import asyncio

from ottla.web.registry.store.reader import LogReader


def test_an_offset_that_was_read_already_means_that_the_topic_was_made_anew() -> None:
    async def run() -> None:
        reader = LogReader("_schemas", {})
        reader.position = 4
        reader.written(4, 4)
        await reader.reach(3)
        reader.written(0, 4)
        waiting = asyncio.ensure_future(reader.reach(0))
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(run())
