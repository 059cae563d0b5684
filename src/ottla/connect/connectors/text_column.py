"""Lines of text as a column of Arrow, and a column as lines. Without pyarrow there are no columns, and rows do it."""

import re
from typing import Any, Final

_LINE_END: Final = re.compile(rb"\r\n?|\n")


def text_array(lines: bytes) -> Any:
    r"""The lines of a piece that ends with one; None if they are not UTF-8, or there is no pyarrow.

    >>> text_array(b"a\r\nb\n\n").to_pylist(), text_array(b"\xff\n")
    (['a', 'b', ''], None)
    """
    try:
        import pyarrow as pa
    except ImportError:
        return None
    parts = _LINE_END.split(lines) if b"\r" in lines else lines.split(b"\n")
    # Behind the last end there is nothing.
    del parts[-1]
    try:
        return pa.array(parts, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None


def has_arrow() -> bool:
    """Whether there can be columns at all."""
    try:
        import pyarrow as pa
    except ImportError:
        return False
    return bool(pa)


def as_texts(values: Any) -> Any:
    """A column of bytes as one of texts; None if one of them is not UTF-8."""
    import pyarrow as pa

    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return None


def joined_lines(values: Any) -> bytes:
    """Each text with an end; null is `null`, as Java prints it.

    >>> import pyarrow as pa
    >>> joined_lines(pa.array(["a", None, ""]))
    b'a\\nnull\\n\\n'
    """
    import pyarrow as pa
    from pyarrow import compute

    texts = values.fill_null("null") if values.null_count else values
    if not len(texts):
        return b""
    whole = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    return memoryview(compute.binary_join(whole, "\n")[0].as_buffer()).tobytes() + b"\n"
