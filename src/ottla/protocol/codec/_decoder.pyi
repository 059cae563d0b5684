from typing import Any

from ottla.base.buffer import Buffer
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.errors import DecodeError

def decode(
    plan: StructPlan, buffer: Buffer, position: int, *, tolerant: bool, elements_max: int = ...
) -> tuple[Any, int] | DecodeError: ...
