"""CRC-32C of short pieces by the processor's own instruction, where it has one: a call of `crc32c` costs more than its
work there. Long ones are the package's business, which runs several streams at once."""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    SHORT_BYTES_MAX = 1024

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    __attribute__((target("sse4.2")))
    static uint32_t ottla_crc_short(const uint8_t *at, size_t size) {
        uint64_t crc = 0xFFFFFFFF, word;
        for (; size >= 8; at += 8, size -= 8) {
            memcpy(&word, at, 8);
            crc = __builtin_ia32_crc32di(crc, word);
        }
        for (; size; at++, size--) crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
        return ~(uint32_t)crc;
    }
    static int ottla_has_crc(void) { return __builtin_cpu_supports("sse4.2") != 0; }
    #else
    static uint32_t ottla_crc_short(const uint8_t *at, size_t size) { (void)at; (void)size; return 0; }
    static int ottla_has_crc(void) { return 0; }
    #endif
    """
    uint32_t crc_short "ottla_crc_short"(const uint8_t *at, size_t size) noexcept nogil
    bint has_crc "ottla_has_crc"() noexcept nogil


cdef inline bint is_short(Py_ssize_t size) noexcept nogil:
    """Whether `crc_short` is there for it."""
    return size <= SHORT_BYTES_MAX and has_crc()
