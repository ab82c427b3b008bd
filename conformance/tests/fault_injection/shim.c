/* Makes the n-th call of one kind fail, for run.py.
 *
 * Load it with LD_PRELOAD. It replaces functions of glibc that Rust's standard library calls, in the program itself
 * and not in the processes that it starts. Environment variables:
 *
 *   FAULT_KIND    what is counted: a name in the table `names` below
 *   FAULT_AT      the number of the call that fails, from 1; 0 or absent: none
 *   FAULT_ERROR   how it fails: a number of errno, "short" (half of the bytes, for read and write), or "kill"
 *                 (the process gets SIGKILL before the call, as in a power cut)
 *   FAULT_STICKY  if set, all later calls of this kind fail, too, as on a full disk
 *   FAULT_LOG     a file that gets a line about the first call that failed
 *   FAULT_COUNTS  a file that gets the number of calls of each kind at the end
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
    OPEN, READ, WRITE, SYNC, CLOSE, RENAME, LINK, UNLINK, MKDIR, STAT, READDIR, PIPE, SPAWN, THREAD, WAIT, POLL,
    ALLOCATE, KINDS
};
static const char *const names[KINDS] = {
    "open", "read", "write", "sync", "close", "rename", "link", "unlink", "mkdir", "stat", "readdir", "pipe", "spawn",
    "thread", "wait", "poll", "allocate",
};

static long counts[KINDS];
static int kind = -1;
static long at;
static int error;
static int is_short, is_kill, is_sticky, is_logged;
static const char *log_path, *counts_path;
/* The process that loaded the shim. A fork of it is no longer the program under test. */
static pid_t program;

/* Writes to a file without the functions below. */
static void report(const char *path, const char *text) {
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0) {
        (void)!syscall(SYS_write, file, text, strlen(text));
        syscall(SYS_close, file);
    }
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULT_KIND"), *number = getenv("FAULT_AT"), *how = getenv("FAULT_ERROR");
    log_path = getenv("FAULT_LOG");
    counts_path = getenv("FAULT_COUNTS");
    is_sticky = getenv("FAULT_STICKY") != NULL;
    at = number ? atol(number) : 0;
    is_short = how && !strcmp(how, "short");
    is_kill = how && !strcmp(how, "kill");
    error = how ? atoi(how) : 0;
    program = syscall(SYS_getpid);
    for (int i = 0; name && i < KINDS; i++) {
        if (!strcmp(name, names[i])) kind = i;
    }
    /* What the program starts is not under test. */
    unsetenv("LD_PRELOAD");
    memset(counts, 0, sizeof counts);
}

__attribute__((destructor)) static void end(void) {
    if (!counts_path || syscall(SYS_getpid) != program) return;
    char text[1024];
    int length = 0;
    for (int i = 0; i < KINDS; i++) {
        length += snprintf(text + length, sizeof text - length, "%s %ld\n", names[i], counts[i]);
    }
    report(counts_path, text);
}

/* Whether this call fails. `path` or, if that is NULL, `file` is what it is about. */
static int fails(enum kind called, const char *path, int file) {
    if (!program || syscall(SYS_getpid) != program) return 0;
    long number = __atomic_add_fetch(&counts[called], 1, __ATOMIC_SEQ_CST);
    if ((int)called != kind || at == 0 || (is_sticky ? number < at : number != at)) return 0;
    /* A full disk still lets a message be read on a terminal. */
    if (is_sticky && called == WRITE && file == 2) return 0;
    if (log_path && !__atomic_exchange_n(&is_logged, 1, __ATOMIC_SEQ_CST)) {
        char link[64], target[512] = "", text[1024];
        if (!path && file >= 0) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            long length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
            target[length < 0 ? 0 : length] = 0;
            path = target;
        }
        snprintf(text, sizeof text, "%s %ld %d %s\n", names[called], number, file, path ? path : "-");
        report(log_path, text);
    }
    if (is_kill) syscall(SYS_kill, program, SIGKILL);
    if (is_short) return 1;
    errno = error;
    return 1;
}

/* The function that a replacement stands for. */
#define NEXT(type, name) \
    static type (*next)() = NULL; \
    if (!next) next = (type(*)())dlsym(RTLD_NEXT, name)

/* The mode, which is there only if a file may be created. */
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    NEXT(int, "open");
    MODE(flags)
    return fails(OPEN, path, -1) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    NEXT(int, "open64");
    MODE(flags)
    return fails(OPEN, path, -1) ? -1 : next(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    NEXT(int, "openat");
    MODE(flags)
    return fails(OPEN, path, -1) ? -1 : next(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    NEXT(int, "openat64");
    MODE(flags)
    return fails(OPEN, path, -1) ? -1 : next(directory, path, flags, mode);
}

DIR *opendir(const char *path) {
    NEXT(DIR *, "opendir");
    return fails(OPEN, path, -1) ? NULL : next(path);
}

ssize_t read(int file, void *bytes, size_t count) {
    NEXT(ssize_t, "read");
    if (fails(READ, NULL, file)) {
        if (!is_short) return -1;
        if (count > 1) count = (count + 1) / 2;
        if (count > 3) count = 3;
    }
    return next(file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(ssize_t, "write");
    if (fails(WRITE, NULL, file)) {
        if (!is_short) return -1;
        if (count > 1) count = count / 2;
    }
    return next(file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    NEXT(ssize_t, "writev");
    if (fails(WRITE, NULL, file)) {
        if (!is_short) return -1;
        count = 1;
    }
    return next(file, parts, count);
}

int fsync(int file) {
    NEXT(int, "fsync");
    return fails(SYNC, NULL, file) ? -1 : next(file);
}

int fdatasync(int file) {
    NEXT(int, "fdatasync");
    return fails(SYNC, NULL, file) ? -1 : next(file);
}

/* Like Linux, which closes the file even if it reports an error. */
int close(int file) {
    NEXT(int, "close");
    if (!fails(CLOSE, NULL, file)) return next(file);
    next(file);
    errno = error;
    return -1;
}

int rename(const char *old, const char *new) {
    NEXT(int, "rename");
    return fails(RENAME, new, -1) ? -1 : next(old, new);
}

int link(const char *old, const char *new) {
    NEXT(int, "link");
    return fails(LINK, new, -1) ? -1 : next(old, new);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    NEXT(int, "linkat");
    return fails(LINK, new, -1) ? -1 : next(from, old, to, new, flags);
}

int unlink(const char *path) {
    NEXT(int, "unlink");
    return fails(UNLINK, path, -1) ? -1 : next(path);
}

int unlinkat(int directory, const char *path, int flags) {
    NEXT(int, "unlinkat");
    return fails(UNLINK, path, -1) ? -1 : next(directory, path, flags);
}

int rmdir(const char *path) {
    NEXT(int, "rmdir");
    return fails(UNLINK, path, -1) ? -1 : next(path);
}

int mkdir(const char *path, mode_t mode) {
    NEXT(int, "mkdir");
    return fails(MKDIR, path, -1) ? -1 : next(path, mode);
}

int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict found) {
    NEXT(int, "statx");
    /* The header says that the path is not NULL, but Rust asks with NULL whether the kernel knows the call. */
    const char *volatile name = path;
    return fails(STAT, name, directory) ? -1 : next(directory, path, flags, mask, found);
}

struct dirent64 *readdir64(DIR *directory) {
    NEXT(struct dirent64 *, "readdir64");
    return fails(READDIR, NULL, dirfd(directory)) ? NULL : next(directory);
}

int pipe2(int files[2], int flags) {
    NEXT(int, "pipe2");
    return fails(PIPE, NULL, -1) ? -1 : next(files, flags);
}

int socketpair(int domain, int type, int protocol, int files[2]) {
    NEXT(int, "socketpair");
    return fails(PIPE, NULL, -1) ? -1 : next(domain, type, protocol, files);
}

int posix_spawnp(pid_t *restrict id, const char *restrict program_name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const words[restrict], char *const environment[restrict]) {
    NEXT(int, "posix_spawnp");
    if (fails(SPAWN, program_name, -1)) return error;
    return next(id, program_name, actions, attributes, words, environment);
}

pid_t fork(void) {
    NEXT(pid_t, "fork");
    return fails(SPAWN, NULL, -1) ? -1 : next();
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*work)(void *),
                   void *restrict argument) {
    NEXT(int, "pthread_create");
    if (fails(THREAD, NULL, -1)) return error;
    return next(thread, attributes, work, argument);
}

pid_t waitpid(pid_t id, int *status, int options) {
    NEXT(pid_t, "waitpid");
    return fails(WAIT, NULL, -1) ? -1 : next(id, status, options);
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
    NEXT(int, "poll");
    return fails(POLL, NULL, -1) ? -1 : next(files, count, timeout);
}

/* `dlsym` itself allocates, so these have names of their own in glibc. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    return fails(ALLOCATE, NULL, -1) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(ALLOCATE, NULL, -1) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails(ALLOCATE, NULL, -1) ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **found, size_t alignment, size_t size) {
    if (fails(ALLOCATE, NULL, -1)) return ENOMEM;
    *found = __libc_memalign(alignment, size);
    return *found ? 0 : ENOMEM;
}
