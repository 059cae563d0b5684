/* SPDX-License-Identifier: Apache-2.0
 *
 * poll PRODUCE_FRAME FETCH_FRAME PORT FIRST_OFFSET OFFSET_AT ERROR_AT ROUNDS
 *
 * Parks a long-polling fetch on one connection, produces one record on another, and takes the time from the first byte
 * of the produce to the whole answer of the fetch; prints rounds and percentiles.
 */
#include "connection.h"

enum { ROOM = 1 << 20, PARKING_US = 500 };

int main(int count, char **arguments) {
    if (count != 8) {
        return fprintf(stderr, "poll PRODUCE_FRAME FETCH_FRAME PORT FIRST_OFFSET OFFSET_AT ERROR_AT ROUNDS\n"), 2;
    }
    size_t produce_length, fetch_length;
    unsigned char *produce = read_file(arguments[1], &produce_length);
    unsigned char *fetch = read_file(arguments[2], &fetch_length), *answer = malloc(ROOM);
    int producer = dial(atoi(arguments[3])), consumer = dial(atoi(arguments[3]));
    int64_t offset = atoll(arguments[4]);
    int error_at = atoi(arguments[6]), rounds = atoi(arguments[7]);
    uint32_t *latencies = malloc(sizeof *latencies * (size_t)rounds);
    for (int round = 0; round < rounds; round++) {
        put_int64(fetch + atoi(arguments[5]), offset++);
        send_all(consumer, fetch, fetch_length);
        usleep(PARKING_US);
        double start = now();
        send_all(producer, produce, produce_length);
        receive_answer(consumer, answer, ROOM);
        latencies[round] = (uint32_t)((now() - start) * 1e9);
        check_error(answer, error_at);
        receive_answer(producer, answer, ROOM);
    }
    printf("{\"rounds\":%d", rounds);
    print_percentiles(latencies, (size_t)rounds);
    return 0;
}
