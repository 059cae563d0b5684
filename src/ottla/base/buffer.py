"""What may be handed in where bytes are read, and copied nowhere."""

from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
