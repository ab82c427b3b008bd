/* Makes the n-th call of one kind fail, for run.py.
 *
 * Load it with LD_PRELOAD. It replaces functions of glibc that Rust's standard library calls, in the program itself
 * and not in the processes that it starts. Environment variables:
 *
 *   FAULT_KIND    the kind of the call that fails: a name in the table `names` below
 *   FAULT_STACK   if set, only calls with this stack are counted: a number from FAULT_COUNTS
 *   FAULT_FROM    if set, only calls from this one on, of all calls of the kind, are counted
 *   FAULT_AT      the number of the call that fails, from 1; 0 or absent: none
 *   FAULT_ERROR   how it fails: a number of errno, "short" (half of the bytes, for read and write), or "kill"
 *                 (the process gets SIGKILL before the call, as in a power cut)
 *   FAULT_STICKY  if set, all later calls of this kind fail, too, as on a full disk; without file descriptors (EMFILE),
 *                 neither a file nor a pipe can be opened
 *   FAULT_LOG     a file that gets a line about the first call that failed
 *   FAULT_COUNTS  a file that gets a line for each stack at the end: the kind, a number for the stack, how many calls
 *                 there were, and the number of the first among all calls of this kind. There are millions of
 *                 allocations: after the first, only every fiftieth is counted
 *
 * The stack is the list of return addresses within the program, without those within libraries. A sync that does not
 * fail does nothing: it changes nothing that another process can see, and takes most of the time of a run.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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
#include <unwind.h>

enum kind {
    OPEN, READ, WRITE, SYNC, CLOSE, RENAME, LINK, UNLINK, MKDIR, STAT, READDIR, PIPE, SPAWN, THREAD, WAIT, POLL,
    ALLOCATE, KINDS
};
static const char *const names[KINDS] = {
    "open", "read", "write", "sync", "close", "rename", "link", "unlink", "mkdir", "stat", "readdir", "pipe", "spawn",
    "thread", "wait", "poll", "allocate",
};

/* `dlsym` itself allocates, so these have names of their own in glibc. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* The calls of one kind with the same stack. */
struct site {
    unsigned long stack;
    long count, first;
    enum kind kind;
};
/* A hash table: a stack is at its remainder, or at the next free place after it. */
#define SITES (1 << 17)

static struct site *sites;
static long counts[KINDS];
static int kind = -1;
static unsigned long wanted;
static long at, from, matches;
static int error;
static int is_short, is_kill, is_sticky, has_failed, is_logged;
static const char *log_path, *counts_path;
/* The process that loaded the shim; 0 before that, and in a fork, which is no longer the program under test. */
static pid_t program;
/* The addresses of the program, without its libraries. */
static unsigned long program_start, program_end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Whether this thread is in a function of the shim, whose calls are not counted. */
static __thread int is_inside;

/* Writes to a file without the functions below. */
static void report(const char *path, const char *text) {
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0) {
        (void)!syscall(SYS_write, file, text, strlen(text));
        syscall(SYS_close, file);
    }
}

/* Takes the first object, which is the program. */
static int find_program(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        unsigned long end = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && end > program_end) program_end = end;
    }
    program_start = object->dlpi_addr;
    return 1;
}

static void leave_fork(void) {
    program = 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULT_KIND"), *number = getenv("FAULT_AT"), *how = getenv("FAULT_ERROR");
    const char *stack = getenv("FAULT_STACK"), *start = getenv("FAULT_FROM");
    log_path = getenv("FAULT_LOG");
    counts_path = getenv("FAULT_COUNTS");
    is_sticky = getenv("FAULT_STICKY") != NULL;
    at = number ? atol(number) : 0;
    wanted = stack ? strtoul(stack, NULL, 16) : 0;
    from = start ? atol(start) : 0;
    is_short = how && !strcmp(how, "short");
    is_kill = how && !strcmp(how, "kill");
    error = how ? atoi(how) : 0;
    for (int i = 0; name && i < KINDS; i++) {
        if (!strcmp(name, names[i])) kind = i;
    }
    /* What the program starts is not under test. */
    unsetenv("LD_PRELOAD");
    dl_iterate_phdr(find_program, NULL);
    if (counts_path) sites = __libc_calloc(SITES, sizeof *sites);
    pthread_atfork(NULL, NULL, leave_fork);
    program = syscall(SYS_getpid);
}

__attribute__((destructor)) static void end(void) {
    if (!sites || !program) return;
    is_inside = 1;
    for (int i = 0; i < SITES; i++) {
        struct site *site = &sites[i];
        char text[256];
        if (!site->count) continue;
        snprintf(text, sizeof text, "%s %lx %ld %ld\n", names[site->kind], site->stack, site->count, site->first);
        report(counts_path, text);
    }
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *frame, void *hash) {
    unsigned long address = _Unwind_GetIP(frame);
    if (address >= program_start && address < program_end) {
        *(unsigned long *)hash = (*(unsigned long *)hash ^ (address - program_start)) * 0x9e3779b97f4a7c15;
        *(unsigned long *)hash ^= *(unsigned long *)hash >> 29;
    }
    return _URC_NO_REASON;
}

/* A number for the stack of this call, which is the same in each run. It is not 0. */
static unsigned long stack(void) {
    unsigned long hash = 1;
    _Unwind_Backtrace(add_frame, &hash);
    return hash ? hash : 1;
}

/* Counts a call of this kind with this stack. */
static void count(enum kind called, unsigned long found, long number) {
    pthread_mutex_lock(&lock);
    unsigned long place = (found + called) % SITES;
    for (int tries = 0; tries < SITES; tries++, place = (place + 1) % SITES) {
        struct site *site = &sites[place];
        if (site->count && (site->stack != found || site->kind != called)) continue;
        if (!site->count) *site = (struct site){.stack = found, .kind = called, .first = number};
        site->count++;
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* Whether a call may fail: it has the right kind, or it needs a file descriptor as well. */
static int is_concerned(enum kind called) {
    int opens = (called == OPEN || called == PIPE) && (kind == OPEN || kind == PIPE);
    return (int)called == kind || (opens && is_sticky && error == EMFILE);
}

/* Whether this is the call that fails, or a later one after a fault that stays. */
static int is_chosen(enum kind called) {
    long number = __atomic_add_fetch(&counts[called], 1, __ATOMIC_SEQ_CST);
    if (sites && (called != ALLOCATE || number <= 20000 || number % 50 == 0)) count(called, stack(), number);
    if (at == 0 || !is_concerned(called)) return 0;
    if (is_sticky && has_failed) return 1;
    if ((int)called != kind || number < from || (wanted && stack() != wanted)) return 0;
    if (__atomic_add_fetch(&matches, 1, __ATOMIC_SEQ_CST) != at) return 0;
    has_failed = 1;
    return 1;
}

static void log_fault(enum kind called, const char *path, int file) {
    char link[64], target[512] = "", text[1024];
    if (!path && file >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        long length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
        path = target;
    }
    snprintf(text, sizeof text, "%s %ld %d %s\n", names[called], at, file, path ? path : "-");
    report(log_path, text);
}

/* Whether this call fails. `path` or, if that is NULL, `file` is what it is about. */
static int fails(enum kind called, const char *path, int file) {
    if (!program || is_inside || (!sites && !is_concerned(called))) return 0;
    is_inside = 1;
    int chosen = is_chosen(called);
    /* A full disk still lets a message be read on a terminal. */
    if (is_sticky && called == WRITE && file == 2) chosen = 0;
    if (chosen && !__atomic_exchange_n(&is_logged, 1, __ATOMIC_SEQ_CST) && log_path) log_fault(called, path, file);
    is_inside = 0;
    if (!chosen) return 0;
    if (is_kill) syscall(SYS_kill, program, SIGKILL);
    if (!is_short) errno = error;
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
    return fails(SYNC, NULL, file) ? -1 : 0;
}

int fdatasync(int file) {
    return fails(SYNC, NULL, file) ? -1 : 0;
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
