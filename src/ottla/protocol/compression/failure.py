"""The two ways in which decompression fails."""

from ottla.protocol.errors import DecodeError, MessageTooLargeError


def too_large(max_bytes: int) -> MessageTooLargeError:
    """The data would come to more than the limit."""
    return MessageTooLargeError(f"The records decompress to more than {max_bytes} bytes")


def corrupt(codec: str, why: object, position: int | None = None) -> DecodeError:
    """The codec did not write these bytes."""
    return DecodeError(f"not {codec} data: {why}", position=position)
