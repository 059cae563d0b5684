"""XXH3 with 64 bits and seed 0, as the xxHash project defines it.

Kafka hashes the topics of a group with it (KIP-1101) and keeps the hash in the group's record: with another hash a
Kafka node that takes a group over would rebalance it for nothing. Inputs are short and results are kept, so plain
Python will do.
"""

from struct import unpack_from
from typing import Final

_MASK: Final = (1 << 64) - 1
_PRIME32: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_PRIME64: Final = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_MX1: Final = 0x165667919E3779F9
_MX2: Final = 0x9FB21C651E98DF25
_STRIPE_BYTES: Final = 64
_SECRET_STEP_BYTES: Final = 8
_MID_BYTES_MAX: Final = 240
_SECRET: Final = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPES_PER_BLOCK: Final = (len(_SECRET) - _STRIPE_BYTES) // _SECRET_STEP_BYTES


def xxh3_64(data: bytes) -> int:
    """The hash, without a sign.

    >>> hex(xxh3_64(b""))
    '0x2d06800538d394c2'
    """
    length = len(data)
    if length <= 16:
        return _short(data, length)
    if length <= _MID_BYTES_MAX:
        return _mid(data, length)
    return _long(data, length)


def _short(data: bytes, length: int) -> int:
    if length > 8:
        low = _u64(data, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
        high = _u64(data, length - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(length + swapped + high + _fold(low, high))
    if length >= 4:
        first, last = _u32(data, 0), _u32(data, length - 4)
        keyed = (last + (first << 32)) ^ _u64(_SECRET, 8) ^ _u64(_SECRET, 16)
        keyed ^= _rotated(keyed, 49) ^ _rotated(keyed, 24)
        keyed = keyed * _MX2 & _MASK
        keyed ^= (keyed >> 35) + length
        keyed = keyed * _MX2 & _MASK
        return keyed ^ keyed >> 28
    if length:
        combined = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
        return _avalanche_64(combined ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))
    return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))


def _mid(data: bytes, length: int) -> int:
    total = length * _PRIME64[0]
    if length <= 128:
        for turn in range((length - 1) // 32, -1, -1):
            total += _mix16(data, 16 * turn, 32 * turn) + _mix16(data, length - 16 * (turn + 1), 32 * turn + 16)
        return _avalanche(total)
    for turn in range(8):
        total += _mix16(data, 16 * turn, 16 * turn)
    total = _avalanche(total)
    for turn in range(8, length // 16):
        total += _mix16(data, 16 * turn, 16 * (turn - 8) + 3)
    return _avalanche(total + _mix16(data, length - 16, 136 - 17))


def _long(data: bytes, length: int) -> int:
    lanes = [_PRIME32[2], *_PRIME64[:4], _PRIME32[1], _PRIME64[4], _PRIME32[0]]
    stripes = (length - 1) // _STRIPE_BYTES
    scramble_at = len(_SECRET) - _STRIPE_BYTES
    for stripe in range(stripes):
        place = stripe % _STRIPES_PER_BLOCK
        _accumulate(lanes, data, stripe * _STRIPE_BYTES, place * _SECRET_STEP_BYTES)
        if place == _STRIPES_PER_BLOCK - 1:
            _scramble(lanes, scramble_at)
    _accumulate(lanes, data, length - _STRIPE_BYTES, scramble_at - 7)
    total = length * _PRIME64[0]
    for lane in range(0, 8, 2):
        at = 11 + 8 * lane
        total += _fold(lanes[lane] ^ _u64(_SECRET, at), lanes[lane + 1] ^ _u64(_SECRET, at + 8))
    return _avalanche(total)


def _accumulate(lanes: list[int], data: bytes, at: int, secret_at: int) -> None:
    values = unpack_from("<8Q", data, at)
    keys = unpack_from("<8Q", _SECRET, secret_at)
    for lane in range(8):
        keyed = values[lane] ^ keys[lane]
        lanes[lane ^ 1] = lanes[lane ^ 1] + values[lane] & _MASK
        lanes[lane] = lanes[lane] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & _MASK


def _scramble(lanes: list[int], secret_at: int) -> None:
    keys = unpack_from("<8Q", _SECRET, secret_at)
    for lane in range(8):
        value = lanes[lane]
        lanes[lane] = (value ^ value >> 47 ^ keys[lane]) * _PRIME32[0] & _MASK


def _mix16(data: bytes, at: int, secret_at: int) -> int:
    return _fold(_u64(data, at) ^ _u64(_SECRET, secret_at), _u64(data, at + 8) ^ _u64(_SECRET, secret_at + 8))


def _fold(left: int, right: int) -> int:
    product = left * right
    return (product ^ product >> 64) & _MASK


def _avalanche(value: int) -> int:
    value &= _MASK
    value ^= value >> 37
    value = value * _MX1 & _MASK
    return value ^ value >> 32


def _avalanche_64(value: int) -> int:
    value ^= value >> 33
    value = value * _PRIME64[1] & _MASK
    value ^= value >> 29
    value = value * _PRIME64[2] & _MASK
    return value ^ value >> 32


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
