from typing import Any

from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.field import Records

def encode(parts: tuple[tuple[StructPlan, Any], ...]) -> bytes | None: ...
def encode_around(parts: tuple[tuple[StructPlan, Any], ...]) -> list[Records] | None: ...
