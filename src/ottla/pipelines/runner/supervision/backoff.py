"""The pause before the next attempt: longer each time, and never the same for two pipelines."""

import zlib


def delay_ms(name: str, failures: int, least_ms: int, most_ms: int) -> int:
    """The pause after so many failures in a row: between a half and the whole of a time that doubles each time.

    The jitter comes from the name, so that a run can be repeated.

    >>> [delay_ms("orders", failures, 1000, 60_000) for failures in (1, 2, 20)]
    [762, 1122, 49348]
    """
    whole = min(least_ms << min(failures - 1, 30), most_ms)
    share = zlib.crc32(f"{name} {failures}".encode()) / 2**32
    return int(whole * (0.5 + share / 2))
