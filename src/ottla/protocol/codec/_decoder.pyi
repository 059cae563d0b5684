from typing import Any

from ottla.base.buffer import Buffer
from ottla.protocol.codec.plan import StructPlan

def decode(plan: StructPlan, buffer: Buffer, position: int) -> tuple[Any, int] | None: ...
