"""Files as shared memory without a descriptor.

`mmap.mmap` keeps a duplicate of the file's descriptor for as long as the map lives (until Python 3.13 lets one say
no), and a broker maps two indexes for each of thousands of partitions. So this asks the C library itself. The pages
are unmapped when the last view of them is gone.
"""

import ctypes
import mmap
import os
import weakref
from functools import cache

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value


@cache
def _pages_type(size: int) -> "type[ctypes.Array[ctypes.c_ubyte]]":
    """There are a few dozen at most. Made anew for each map, they would all wait for the garbage collector."""
    return ctypes.c_ubyte * size


def map_file(descriptor: int, size: int, *, writable: bool) -> memoryview:
    """The first `size` bytes of a file, which must be as long as that while they are used; `OSError` if it can't be."""
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    # A power of two keeps the number of array types small; what lies behind `size` is not given out.
    reserved = max(mmap.PAGESIZE, 1 << (size - 1).bit_length())
    address = _libc.mmap(None, reserved, protection, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    # Searches touch a few pages, far apart. With the disk's read-ahead the first touch of an index that has just been
    # made fills megabytes of memory with its zeros: 2 ms, on a disk that reads 8 MiB ahead.
    _libc.madvise(address, reserved, mmap.MADV_RANDOM)
    pages = _pages_type(reserved).from_address(address)
    weakref.finalize(pages, _libc.munmap, address, reserved).atexit = False
    view = memoryview(pages).cast("B")[:size]
    return view if writable else view.toreadonly()
