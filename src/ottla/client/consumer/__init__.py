"""The consumer: blocking and asyncio."""
