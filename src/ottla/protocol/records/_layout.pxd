"""Where things stand in a v2 batch, for compiled modules; `batch_plain` has them for Python."""

cdef enum:
    HEADER_BYTES = 61
    LOG_OVERHEAD = 12
    LENGTH_AT = 8
    MAGIC_AT = 16
    CRC_AT = 17
    ATTRIBUTES_AT = 21
    FLAGS_AT = 22  # the low byte of the attributes: the codec, and what kind of batch it is
    LAST_DELTA_AT = 23
    BASE_TIMESTAMP_AT = 27
    MAX_TIMESTAMP_AT = 35
    PRODUCER_AT = 43
    COUNT_AT = 57
    CODEC_BITS = 0x07
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
