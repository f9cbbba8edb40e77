// SPDX-License-Identifier: Apache-2.0

/*
 * lose SERVER CONF [ARGUMENT...]: runs a Redis server with its data in the folder of CONF. When the server is killed,
 * its files lose what a power cut may take: all that was written after the last fsync or fdatasync that has succeeded.
 * kill -9 alone loses nothing, because the operating system keeps it.
 *
 * Another process traces these two calls. It cuts the files when the server and all its children are dead; the next
 * server in the same folder waits for that. No library is loaded, so the server may be linked statically.
 *
 * LOSE_TORN=seed  keeps a random part of what was not synced, as of a record that was being written
 * LOSE_SLOW=ms    makes each fsync last so much longer
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 65536

/* From <sys/ptrace.h>, which does not go with <linux/ptrace.h>. */
long ptrace(int request, ...);

/* A file whatever its name is, and how much of it is on disk. A number may be used again, but not with that birth. */
struct file {
    unsigned long long number, seconds;
    unsigned nanos;
    off_t synced;
};

/* A thread that is in the middle of a sync, and the file as it was at the beginning. */
struct sync {
    pid_t thread;
    struct file file;
};

static struct file files[MOST];
static struct sync syncs[MOST];
static pid_t children[MOST];
static int known, syncing, born;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* The file that a path leads to now. Its size is what a sync that begins now would make safe. */
static int identify(const char *path, struct file *file) {
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_SIZE | STATX_BTIME, &found) != 0) return 0;
    file->number = found.stx_ino;
    file->seconds = found.stx_btime.tv_sec;
    file->nanos = found.stx_btime.tv_nsec;
    file->synced = found.stx_size;
    return 1;
}

static struct file *find(const struct file *like) {
    for (int i = 0; i < known; i++)
        if (files[i].number == like->number && files[i].seconds == like->seconds && files[i].nanos == like->nanos)
            return &files[i];
    return NULL;
}

static void remember(const struct file *file) {
    struct file *before = find(file);
    if (before) before->synced = file->synced;
    else if (known < MOST) files[known++] = *file;
}

static int is_data(const char *name) {
    const char *end = strrchr(name, '.');
    return end && (!strcmp(end, ".aof") || !strcmp(end, ".rdb") || !strcmp(end, ".manifest"));
}

/* What is there before the server begins has been there for long. */
static int keep_old(const char *path, const struct stat *stat, int type, struct FTW *at) {
    struct file file;
    if (type == FTW_F && is_data(path) && identify(path, &file)) remember(&file);
    return 0;
}

static int cut(const char *path, const struct stat *stat, int type, struct FTW *at) {
    struct file file;
    if (type != FTW_F || !is_data(path) || !identify(path, &file)) return 0;
    struct file *before = find(&file);
    off_t synced = before ? before->synced : 0;
    if (synced >= file.synced) return 0;
    if (getenv("LOSE_TORN")) synced += random() % (file.synced - synced + 1);
    if (truncate(path, synced) != 0) perror(path);
    return 0;
}

static void sync_begins(pid_t thread) {
    struct ptrace_syscall_info call;
    char path[64];
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) <= 0 || syncing == MOST) return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, (int) call.seccomp.args[0]);
    if (!identify(path, &syncs[syncing].file)) return;
    syncs[syncing++].thread = thread;
    if (getenv("LOSE_SLOW")) usleep(1000 * atoi(getenv("LOSE_SLOW")));
}

static void sync_ends(pid_t thread, int killed) {
    for (int i = 0; i < syncing; i++) {
        struct ptrace_syscall_info call;
        if (syncs[i].thread != thread) continue;
        if (!killed && ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) > 0
                && call.op == PTRACE_SYSCALL_INFO_EXIT && !call.exit.is_error)
            remember(&syncs[i].file);
        syncs[i] = syncs[--syncing];
        return;
    }
}

/* A child may be reported dead before it is reported born. Then its number may be that of a process of others. */
static int is_ours(pid_t child) {
    siginfo_t state;
    return waitid(P_PID, child, &state, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static void end_of(pid_t pid, pid_t server) {
    sync_ends(pid, 1);
    for (int i = 0; i < born; i++) {
        if (pid == server && is_ours(children[i])) kill(children[i], SIGKILL);
        else if (children[i] == pid) children[i--] = children[--born];
    }
}

/* Returns when the server, its threads and its children are dead. */
static void trace(pid_t server) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (pid < 0) continue;
        if (!WIFSTOPPED(status)) {
            end_of(pid, server);
            continue;
        }
        int request = PTRACE_CONT, signal = WSTOPSIG(status), event = status >> 16;
        unsigned long child;
        if (event == PTRACE_EVENT_SECCOMP) {
            sync_begins(pid);
            request = PTRACE_SYSCALL;
        } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
            if (ptrace(PTRACE_GETEVENTMSG, pid, 0, &child) == 0 && born < MOST) children[born++] = child;
        } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
            request = PTRACE_LISTEN; // kill -STOP
        } else if (event == 0 && signal == (SIGTRAP | 0x80)) {
            sync_ends(pid, 0);
        }
        ptrace(request, pid, 0, event == 0 && signal != (SIGTRAP | 0x80) ? signal : 0);
    }
}

static void stop_at_syncs(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) fail("seccomp");
}

int main(int count, char **arguments) {
    char folder[PATH_MAX], lock[PATH_MAX + 16], byte;
    int ready[2];
    if (count < 3) return fprintf(stderr, "lose SERVER CONF [ARGUMENT...]\n"), 2;
    snprintf(folder, sizeof folder, "%s", arguments[2]);
    const char *data = dirname(folder);
    snprintf(lock, sizeof lock, "%s/lose.lock", data);
    int locked = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (locked < 0 || flock(locked, LOCK_EX) != 0) fail(lock);
    if (pipe2(ready, O_CLOEXEC) != 0) fail("pipe");
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pid_t server = getpid(), between = fork();
    if (between == 0) {
        if (fork() != 0) _exit(0); // the server has no child that it does not know
        setsid();
        nftw(data, keep_old, 16, FTW_PHYS);
        if (getenv("LOSE_TORN")) srandom(atoi(getenv("LOSE_TORN")));
        if (ptrace(PTRACE_SEIZE, server, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP
                | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK) != 0) fail("ptrace");
        if (write(ready[1], "", 1) != 1) fail("write");
        trace(server);
        nftw(data, cut, 16, FTW_PHYS);
        exit(0);
    }
    waitpid(between, NULL, 0);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) return 1; // it has said why
    stop_at_syncs();
    execv(arguments[1], arguments + 1);
    fail(arguments[1]);
}
