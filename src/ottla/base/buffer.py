"""The type of arguments from which bytes are read without a copy."""

from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
