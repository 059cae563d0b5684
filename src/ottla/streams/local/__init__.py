"""Streams in one process: the engine on the asyncio clients. Spark is not needed; the face is `kafka_streams`."""
