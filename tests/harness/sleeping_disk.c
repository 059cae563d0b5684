/* A disk that sleeps, for LD_PRELOAD: while the file OTTLA_SLEEP_CONTROL is there, calls on files below OTTLA_SLEEP_DIR
 * do not return. Its first letter says which: `r` those that read (pread, sendfile), `w` those that write, flush, cut or
 * grow files, and those that make, rename or remove names.
 *
 * What a process wrote, or has read to the end since the disk fell asleep, is in the page cache and can be read; for
 * anything else a read that must not wait (RWF_NOWAIT) is told so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PLACES = 65536 };
static _Atomic unsigned long cached[PLACES];

static int is_asleep(char kind) {
    const char *path = getenv("OTTLA_SLEEP_CONTROL");
    char found = 0;
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t size = read(fd, &found, 1);
    close(fd);
    return size == 1 && found == kind;
}

static int is_ours(int fd) {
    const char *directory = getenv("OTTLA_SLEEP_DIR");
    char name[64], path[4096];
    if (directory == NULL) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return strncmp(path, directory, strlen(directory)) == 0;
}

static void sleep_at(const char *path) {
    const char *directory = getenv("OTTLA_SLEEP_DIR");
    int saved = errno;
    if (directory != NULL && path != NULL && strncmp(path, directory, strlen(directory)) == 0)
        while (is_asleep('w')) usleep(10000);
    errno = saved;
}

static unsigned long inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 ? (unsigned long)found.st_ino : 0;
}

static void sleep_for(int fd, char kind) {
    int saved = errno;
    if (is_ours(fd)) {
        unsigned long inode = inode_of(fd);
        if (kind == 'r' && cached[inode % PLACES] == inode) {
            errno = saved;
            return;
        }
        int slept = 0;
        while (is_asleep(kind)) {
            usleep(10000);
            slept = 1;
        }
        if (kind == 'w' || slept) cached[inode % PLACES] = inode;
    }
    errno = saved;
}

#define NEXT(name) (next == NULL ? (next = dlsym(RTLD_NEXT, name)) : next)

#define READS(name, type)                                                       \
    ssize_t name(int fd, void *data, size_t size, type position) {              \
        static ssize_t (*next)(int, void *, size_t, type);                      \
        sleep_for(fd, 'r');                                                     \
        return NEXT(#name)(fd, data, size, position);                           \
    }
READS(pread, off_t)
READS(pread64, off64_t)

#define WRITES(name, type)                                                      \
    ssize_t name(int fd, const void *data, size_t size, type position) {        \
        static ssize_t (*next)(int, const void *, size_t, type);                \
        sleep_for(fd, 'w');                                                     \
        return NEXT(#name)(fd, data, size, position);                           \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

#define GATHERS(name, type)                                                     \
    ssize_t name(int fd, const struct iovec *data, int count, type position) {  \
        static ssize_t (*next)(int, const struct iovec *, int, type);           \
        sleep_for(fd, 'w');                                                     \
        return NEXT(#name)(fd, data, count, position);                          \
    }
GATHERS(pwritev, off_t)
GATHERS(pwritev64, off64_t)

#define LOOKS(name, type)                                                       \
    ssize_t name(int fd, const struct iovec *data, int count, type position, int flags) { \
        static ssize_t (*next)(int, const struct iovec *, int, type, int);      \
        if ((flags & RWF_NOWAIT) && is_ours(fd) && is_asleep('r')) {            \
            unsigned long inode = inode_of(fd);                                 \
            if (cached[inode % PLACES] != inode) {                              \
                errno = EAGAIN;                                                 \
                return -1;                                                      \
            }                                                                   \
        }                                                                       \
        return NEXT(#name)(fd, data, count, position, flags);                   \
    }
LOOKS(preadv2, off_t)
LOOKS(preadv64v2, off64_t)

#define SENDS(name, type)                                                       \
    ssize_t name(int to, int from, type *position, size_t size) {               \
        static ssize_t (*next)(int, int, type *, size_t);                       \
        sleep_for(from, 'r');                                                   \
        return NEXT(#name)(to, from, position, size);                           \
    }
SENDS(sendfile, off_t)
SENDS(sendfile64, off64_t)

#define FLUSHES(name)                                                           \
    int name(int fd) {                                                          \
        static int (*next)(int);                                                \
        sleep_for(fd, 'w');                                                     \
        return NEXT(#name)(fd);                                                 \
    }
FLUSHES(fsync)
FLUSHES(fdatasync)

#define CUTS(name, type)                                                        \
    int name(int fd, type size) {                                               \
        static int (*next)(int, type);                                          \
        sleep_for(fd, 'w');                                                     \
        return NEXT(#name)(fd, size);                                           \
    }
CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define GROWS(name, type)                                                       \
    int name(int fd, type position, type size) {                                \
        static int (*next)(int, type, type);                                    \
        sleep_for(fd, 'w');                                                     \
        return NEXT(#name)(fd, position, size);                                 \
    }
GROWS(posix_fallocate, off_t)
GROWS(posix_fallocate64, off64_t)

int rename(const char *path, const char *new_path) {
    static int (*next)(const char *, const char *);
    sleep_at(path);
    return NEXT("rename")(path, new_path);
}

int unlink(const char *path) {
    static int (*next)(const char *);
    sleep_at(path);
    return NEXT("unlink")(path);
}

int mkdir(const char *path, mode_t mode) {
    static int (*next)(const char *, mode_t);
    sleep_at(path);
    return NEXT("mkdir")(path, mode);
}

#define OPENS(name)                                                             \
    int name(const char *path, int flags, ...) {                                \
        static int (*next)(const char *, int, ...);                             \
        mode_t mode = 0;                                                        \
        if (flags & O_CREAT) {                                                  \
            va_list arguments;                                                  \
            va_start(arguments, flags);                                         \
            mode = va_arg(arguments, mode_t);                                   \
            va_end(arguments);                                                  \
            sleep_at(path);                                                     \
        }                                                                       \
        return NEXT(#name)(path, flags, mode);                                  \
    }
OPENS(open)
OPENS(open64)
