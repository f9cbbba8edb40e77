// SPDX-License-Identifier: Apache-2.0

/*
 * Loaded before a Redis server (LD_PRELOAD). Holds back what the server writes to its append-only file until the server
 * calls fsync or fdatasync. kill -9 then loses what a power cut would lose; without this the operating system keeps it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILES 4096

/* By file descriptor: whether it is an append-only file, and what is held back. Guarded by the lock. */
static struct {
    int held;
    char *bytes;
    size_t length, capacity;
} files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_close)(int);
static int (*real_open)(const char *, int, ...), (*real_open64)(const char *, int, ...);

__attribute__((constructor)) static void find(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_close = dlsym(RTLD_NEXT, "close");
    real_open = dlsym(RTLD_NEXT, "open");
    real_open64 = dlsym(RTLD_NEXT, "open64");
}

static int opened(int fd, const char *path, int flags) {
    if (fd >= 0 && fd < FILES) {
        pthread_mutex_lock(&lock);
        files[fd].held = (flags & (O_WRONLY | O_RDWR)) && strstr(path, ".incr.aof") != NULL;
        files[fd].length = 0;
        pthread_mutex_unlock(&lock);
    }
    return fd;
}

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        int mode = va_arg(rest, int);                           \
        va_end(rest);                                           \
        if (!real_##name) find();                               \
        return opened(real_##name(path, flags, mode), path, flags); \
    }

OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *bytes, size_t size) {
    if (!real_write) find();
    if (fd < 0 || fd >= FILES || !files[fd].held) return real_write(fd, bytes, size);
    pthread_mutex_lock(&lock);
    if (files[fd].length + size > files[fd].capacity) {
        files[fd].capacity = (files[fd].length + size) * 2;
        files[fd].bytes = realloc(files[fd].bytes, files[fd].capacity);
        if (!files[fd].bytes) abort();
    }
    memcpy(files[fd].bytes + files[fd].length, bytes, size);
    files[fd].length += size;
    pthread_mutex_unlock(&lock);
    return size;
}

/* Writes what was held back. */
static void let_go(int fd) {
    if (fd < 0 || fd >= FILES || !files[fd].held) return;
    pthread_mutex_lock(&lock);
    for (size_t done = 0; done < files[fd].length;) {
        ssize_t written = real_write(fd, files[fd].bytes + done, files[fd].length - done);
        if (written <= 0) abort();
        done += written;
    }
    files[fd].length = 0;
    pthread_mutex_unlock(&lock);
}

int fsync(int fd) {
    if (!real_fsync) find();
    let_go(fd);
    return real_fsync(fd);
}

int fdatasync(int fd) {
    if (!real_fdatasync) find();
    let_go(fd);
    return real_fdatasync(fd);
}

/* What was not synced before is lost, as it may be in a power cut. */
int close(int fd) {
    if (!real_close) find();
    if (fd >= 0 && fd < FILES) files[fd].held = 0;
    return real_close(fd);
}
