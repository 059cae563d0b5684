/* SPDX-License-Identifier: Apache-2.0
 *
 * fetch FRAME PORT OFFSET_AT ERROR_AT RECORDS_AT SECONDS
 *
 * Reads a partition from its beginning with one prepared Fetch request whose offset is patched, over and over; prints
 * answers, bytes of records and seconds. RECORDS_AT is where an answer has the length of the records as a varint.
 */
#include "connection.h"

enum { ROOM = 64 << 20 };

static size_t varint(const unsigned char *bytes, size_t *position) {
    size_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char part = bytes[(*position)++];
        value |= (size_t)(part & 0x7f) << shift;
        if (!(part & 0x80)) return value;
    }
}

/* The offset behind the last whole batch, or -1 if there is none. */
static int64_t next_offset(const unsigned char *records, size_t length) {
    int64_t next = -1;
    size_t position = 0;
    while (position + 61 <= length) {
        size_t size = 12 + (size_t)int32_at(records + position + 8);
        if (position + size > length) break;
        next = int64_at(records + position) + int32_at(records + position + 23) + 1;
        position += size;
    }
    return next;
}

int main(int count, char **arguments) {
    if (count != 7) return fprintf(stderr, "fetch FRAME PORT OFFSET_AT ERROR_AT RECORDS_AT SECONDS\n"), 2;
    size_t length, bytes = 0, answers = 0;
    unsigned char *frame = read_file(arguments[1], &length), *answer = malloc(ROOM);
    int descriptor = dial(atoi(arguments[2])), error_at = atoi(arguments[4]);
    unsigned char *offset = frame + atoi(arguments[3]);
    size_t records_at = (size_t)atoi(arguments[5]);
    double seconds = atof(arguments[6]), start = now(), end = start;
    put_int64(offset, 0);
    while (end - start < seconds) {
        send_all(descriptor, frame, length);
        receive_answer(descriptor, answer, ROOM);
        check_error(answer, error_at);
        size_t position = records_at, size = varint(answer, &position) - 1;
        int64_t next = next_offset(answer + position, size);
        put_int64(offset, next < 0 ? 0 : next);
        bytes += size;
        answers++;
        end = now();
    }
    printf("{\"answers\":%zu,\"bytes\":%zu,\"seconds\":%.6f}\n", answers, bytes, end - start);
    return 0;
}
