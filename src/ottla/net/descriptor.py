"""The number of descriptors that this process may open, and the part of them that clients may take.

Files need descriptors too: a log that cannot be opened takes its directory offline, and the metadata log the node. So
clients are let in only while an eighth of the limit is free. Limit 1,024: at 896 open ones further clients wait.
"""

import contextlib
import os
import resource
from typing import Final

_FREE_SHARE: Final = 8


def raise_limit() -> None:
    """Allows as many as the system lets this process have, as a JVM does: the usual 1,024 are not a server's."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def is_short(descriptor: int) -> bool:
    """Whether what is free has to be left to files. Any open `descriptor` will do: the number of its copy tells how
    many are taken, since it is the lowest that is free."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return False
    try:
        taken = os.dup(descriptor)
    except OSError:
        return True
    os.close(taken)
    return taken >= limit - limit // _FREE_SHARE
