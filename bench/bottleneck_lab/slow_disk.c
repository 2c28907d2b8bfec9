/* Makes the disk of a database server slow: preloaded into it (LD_PRELOAD), told by a file that all
   of its processes map (SLOW_DISK_CONTROL). Without that file, and while all is 0, nothing changes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* slow_disk.py knows the order. */
struct control {
    /* What is asked: nanoseconds that a flush, a read, and each page written to tables and to the log
       take longer; those of one slot where reads take turns, as on a disk of so many reads a second; whether a page that
       was read or written shall leave the page cache. */
    _Atomic uint64_t flush_ns, read_ns, write_ns, log_ns, slot_ns, uncached;
    /* When the next slot is free. */
    _Atomic uint64_t free_at_ns;
    /* What was done. */
    _Atomic uint64_t flushes, reads, writes, waited_ns;
};

/* Less is no page of a table; a write waits for each so many bytes. */
enum { PAGE = 4096, WRITTEN = 8192 };

static struct control *control;

__attribute__((constructor)) static void map_control(void) {
    const char *path = getenv("SLOW_DISK_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED) control = at;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_ns(uint64_t ns) {
    int before = errno;
    struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    atomic_fetch_add(&control->waited_ns, ns);
    errno = before;
}

static void flushed(void) {
    if (!control) return;
    uint64_t ns = atomic_load(&control->flush_ns);
    if (ns == 0) return;
    wait_ns(ns);
    atomic_fetch_add(&control->flushes, 1);
}

static void forget(int fd, off_t at, size_t bytes) {
    if (atomic_load(&control->uncached)) {
        int before = errno;
        posix_fadvise(fd, at, (off_t)bytes, POSIX_FADV_DONTNEED);
        errno = before;
    }
}

static void read_done(int fd, off_t at, ssize_t bytes) {
    if (!control || bytes < PAGE) return;
    atomic_fetch_add(&control->reads, 1);
    forget(fd, at, (size_t)bytes);
    uint64_t ns = atomic_load(&control->read_ns), slot = atomic_load(&control->slot_ns);
    if (slot) {
        uint64_t now = now_ns(), seen = atomic_load(&control->free_at_ns), mine;
        do {
            mine = seen > now ? seen : now;
        } while (!atomic_compare_exchange_weak(&control->free_at_ns, &seen, mine + slot));
        ns += mine + slot - now;
    }
    if (ns) wait_ns(ns);
}

static int is_log(int fd) {
    char name[64], path[4096];
    int before = errno;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    errno = before;
    return strstr(path, "/pg_wal/") || strstr(path, "/ib_logfile");
}

static void write_done(int fd, off_t at, ssize_t bytes) {
    if (!control || bytes < PAGE) return;
    atomic_fetch_add(&control->writes, 1);
    forget(fd, at, (size_t)bytes);
    uint64_t tables = atomic_load(&control->write_ns), log = atomic_load(&control->log_ns);
    uint64_t ns = tables == log || !is_log(fd) ? tables : log;
    if (ns) wait_ns(ns * (((uint64_t)bytes + WRITTEN - 1) / WRITTEN));
}

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int fsync(int fd) {
    REAL(int, "fsync", int);
    int done = real(fd);
    flushed();
    return done;
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    int done = real(fd);
    flushed();
    return done;
}

#define ONE(name, kind, data)                                                                      \
    ssize_t name(int fd, data buffer, size_t bytes, off_t at) {                                    \
        REAL(ssize_t, #name, int, data, size_t, off_t);                                            \
        ssize_t done = real(fd, buffer, bytes, at);                                                \
        kind##_done(fd, at, done);                                                                 \
        return done;                                                                               \
    }
#define MANY(name, kind)                                                                           \
    ssize_t name(int fd, const struct iovec *parts, int count, off_t at) {                         \
        REAL(ssize_t, #name, int, const struct iovec *, int, off_t);                               \
        ssize_t done = real(fd, parts, count, at);                                                 \
        kind##_done(fd, at, done);                                                                 \
        return done;                                                                               \
    }

ONE(pread, read, void *)
ONE(pread64, read, void *)
ONE(pwrite, write, const void *)
ONE(pwrite64, write, const void *)
MANY(preadv, read)
MANY(preadv64, read)
MANY(pwritev, write)
MANY(pwritev64, write)
