/* SPDX-License-Identifier: Apache-2.0
 *
 * What the load programs share: files, connections, clocks, percentiles. Anything that goes wrong ends the program with
 * a line on the error output: a load that limps on would measure nothing.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "");
    exit(1);
}

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static inline int32_t int32_at(const unsigned char *bytes) {
    return (int32_t)((uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
}

static inline int64_t int64_at(const unsigned char *bytes) {
    return (int64_t)((uint64_t)(uint32_t)int32_at(bytes) << 32 | (uint32_t)int32_at(bytes + 4));
}

static inline void put_int64(unsigned char *bytes, int64_t value) {
    for (int index = 7; index >= 0; index--, value >>= 8) bytes[index] = (unsigned char)value;
}

/* The whole file, and its length. */
static inline unsigned char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    unsigned char *content = malloc(*length);
    if (fread(content, 1, *length, file) != *length) fail(path);
    fclose(file);
    return content;
}

static inline int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return descriptor;
}

static inline void send_all(int descriptor, const unsigned char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0) fail("send");
        bytes += sent;
        length -= (size_t)sent;
    }
}

static inline void receive_all(int descriptor, unsigned char *bytes, size_t length) {
    while (length) {
        ssize_t received = recv(descriptor, bytes, length, 0);
        if (received <= 0) fail("the server closed the connection");
        bytes += received;
        length -= (size_t)received;
    }
}

/* An answer without its size; it must fit. */
static inline size_t receive_answer(int descriptor, unsigned char *answer, size_t room) {
    unsigned char size[4];
    receive_all(descriptor, size, 4);
    size_t length = (size_t)int32_at(size);
    if (length > room) fail("an answer that is too long");
    receive_all(descriptor, answer, length);
    return length;
}

static inline void check_error(const unsigned char *answer, int position) {
    int code = (int16_t)(answer[position] << 8 | answer[position + 1]);
    if (code) {
        fprintf(stderr, "the server answered with error %d\n", code);
        exit(1);
    }
}

static inline int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Prints percentiles of latencies in nanoseconds, as the end of a JSON object. */
static inline void print_percentiles(uint32_t *latencies, size_t count) {
    qsort(latencies, count, sizeof *latencies, by_size);
    const double shares[] = {0.5, 0.99, 0.999};
    const char *names[] = {"p50_us", "p99_us", "p999_us"};
    for (int index = 0; index < 3; index++) {
        size_t at = (size_t)(shares[index] * (double)count);
        printf(",\"%s\":%.1f", names[index], count ? latencies[at < count ? at : count - 1] / 1e3 : 0.0);
    }
    printf("}\n");
}

#endif
