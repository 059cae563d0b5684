"""What may be handed in where bytes are read."""

from typing import TypeAlias

Readable: TypeAlias = bytes | bytearray | memoryview
