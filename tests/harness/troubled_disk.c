/* A disk with troubles, for LD_PRELOAD: what the file OTTLA_DISK_CONTROL says counts for calls on files below OTTLA_DISK.
 *
 * `r` and `w`: the disk sleeps, calls do not return while the file says so. `r` stands for those that read (pread,
 * sendfile), `w` for those that write, flush, cut or grow files, and those that make, rename or remove names.
 * What a process wrote, or has read to the end since the disk fell asleep, is in the page cache and can be read; for
 * anything else a read that must not wait (RWF_NOWAIT) is told so.
 *
 * `f NUMBER KINDS SKIP ERRNO ONCE PART`: the disk fails. Of the calls of KINDS (R read, W write, cut or grow, F flush, C
 * make a file, N rename, D make a directory, U remove) on paths that hold PART the first SKIP go well, then one fails
 * with ERRNO, or all that follow if ONCE is 0. A new NUMBER begins to count anew. Each failure is a line in the file
 * that is called as the control file, with `.failed`.
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

static atomic_int number, calls;

static int read_control(char *text, size_t size) {
    const char *path = getenv("OTTLA_DISK_CONTROL");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t found = read(fd, text, size - 1);
    close(fd);
    text[found < 0 ? 0 : found] = 0;
    return found > 0;
}

static int is_asleep(char kind) {
    char text[256];
    return read_control(text, sizeof text) && text[0] == (kind == 'R' ? 'r' : 'w');
}

static int is_below(const char *path) {
    const char *directory = getenv("OTTLA_DISK");
    return directory != NULL && path != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

static void report(char kind, const char *path) {
    char place[4096], line[4200];
    snprintf(place, sizeof place, "%s.failed", getenv("OTTLA_DISK_CONTROL"));
    int size = snprintf(line, sizeof line, "%c %s\n", kind, path);
    int fd = open(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    if (write(fd, line, size) != size) abort();
    close(fd);
}

/* The error that a call meets; 0 for none. */
static int failure(char kind, const char *path) {
    char text[256], kinds[16], part[200];
    int found_number, skip, error, once;
    if (!read_control(text, sizeof text) || text[0] != 'f') return 0;
    if (sscanf(text, "f %d %15s %d %d %d %199s", &found_number, kinds, &skip, &error, &once, part) != 6) return 0;
    if (strchr(kinds, kind) == NULL || strstr(path, part) == NULL) return 0;
    if (atomic_exchange(&number, found_number) != found_number) atomic_store(&calls, 0);
    int call = atomic_fetch_add(&calls, 1);
    if (call < skip || (once && call > skip)) return 0;
    report(kind, path);
    return error;
}

/* What happens to a call on a path: it waits, or fails with the error that is returned. */
static int meet_at(const char *path, char kind) {
    int saved = errno, error = 0;
    if (is_below(path)) {
        while (is_asleep(kind)) usleep(10000);
        error = failure(kind, path);
    }
    errno = saved;
    return error;
}

static int is_ours(int fd, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t found = readlink(name, path, size - 1);
    if (found < 0) return 0;
    path[found] = 0;
    return is_below(path);
}

static unsigned long inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 ? (unsigned long)found.st_ino : 0;
}

/* The same for a call on a descriptor. */
static int meet(int fd, char kind) {
    char path[4096];
    int saved = errno, error = 0;
    if (is_ours(fd, path, sizeof path)) {
        unsigned long inode = inode_of(fd);
        int slept = 0;
        while ((kind != 'R' || cached[inode % PLACES] != inode) && is_asleep(kind)) {
            usleep(10000);
            slept = 1;
        }
        if (kind != 'R' || slept) cached[inode % PLACES] = inode;
        error = failure(kind, path);
    }
    errno = saved;
    return error;
}

#define FAILS(error) if (error) { errno = error; return -1; }

#define NEXT(name) (next == NULL ? (next = dlsym(RTLD_NEXT, name)) : next)

#define READS(name, type)                                                       \
    ssize_t name(int fd, void *data, size_t size, type position) {              \
        static ssize_t (*next)(int, void *, size_t, type);                      \
        int error = meet(fd, 'R');                                              \
        FAILS(error)                                                            \
        return NEXT(#name)(fd, data, size, position);                           \
    }
READS(pread, off_t)
READS(pread64, off64_t)

#define WRITES(name, type)                                                      \
    ssize_t name(int fd, const void *data, size_t size, type position) {        \
        static ssize_t (*next)(int, const void *, size_t, type);                \
        int error = meet(fd, 'W');                                              \
        FAILS(error)                                                            \
        return NEXT(#name)(fd, data, size, position);                           \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

#define GATHERS(name, type)                                                     \
    ssize_t name(int fd, const struct iovec *data, int count, type position) {  \
        static ssize_t (*next)(int, const struct iovec *, int, type);           \
        int error = meet(fd, 'W');                                              \
        FAILS(error)                                                            \
        return NEXT(#name)(fd, data, count, position);                          \
    }
GATHERS(pwritev, off_t)
GATHERS(pwritev64, off64_t)

#define LOOKS(name, type)                                                       \
    ssize_t name(int fd, const struct iovec *data, int count, type position, int flags) { \
        static ssize_t (*next)(int, const struct iovec *, int, type, int);      \
        char path[4096];                                                        \
        if ((flags & RWF_NOWAIT) && is_ours(fd, path, sizeof path) && is_asleep('R')) { \
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
        int error = meet(from, 'R');                                            \
        FAILS(error)                                                            \
        return NEXT(#name)(to, from, position, size);                           \
    }
SENDS(sendfile, off_t)
SENDS(sendfile64, off64_t)

#define FLUSHES(name)                                                           \
    int name(int fd) {                                                          \
        static int (*next)(int);                                                \
        int error = meet(fd, 'F');                                              \
        FAILS(error)                                                            \
        return NEXT(#name)(fd);                                                 \
    }
FLUSHES(fsync)
FLUSHES(fdatasync)

#define CUTS(name, type)                                                        \
    int name(int fd, type size) {                                               \
        static int (*next)(int, type);                                          \
        int error = meet(fd, 'W');                                              \
        FAILS(error)                                                            \
        return NEXT(#name)(fd, size);                                           \
    }
CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define GROWS(name, type)                                                       \
    int name(int fd, type position, type size) {                                \
        static int (*next)(int, type, type);                                    \
        int error = meet(fd, 'W');                                              \
        if (error) return error;                                                \
        return NEXT(#name)(fd, position, size);                                 \
    }
GROWS(posix_fallocate, off_t)
GROWS(posix_fallocate64, off64_t)

int rename(const char *path, const char *new_path) {
    static int (*next)(const char *, const char *);
    int error = meet_at(path, 'N');
    FAILS(error)
    return NEXT("rename")(path, new_path);
}

int unlink(const char *path) {
    static int (*next)(const char *);
    int error = meet_at(path, 'U');
    FAILS(error)
    return NEXT("unlink")(path);
}

int rmdir(const char *path) {
    static int (*next)(const char *);
    int error = meet_at(path, 'U');
    FAILS(error)
    return NEXT("rmdir")(path);
}

int mkdir(const char *path, mode_t mode) {
    static int (*next)(const char *, mode_t);
    int error = meet_at(path, 'D');
    FAILS(error)
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
            int error = meet_at(path, 'C');                                     \
            FAILS(error)                                                        \
        }                                                                       \
        return NEXT(#name)(path, flags, mode);                                  \
    }
OPENS(open)
OPENS(open64)
