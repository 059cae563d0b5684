from typing import Any

from ottla.protocol.codec.plan import StructPlan

def decode(plan: StructPlan, buffer: bytes | bytearray | memoryview, position: int) -> tuple[Any, int] | None: ...
