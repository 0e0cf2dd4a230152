/* Preloaded into a command that tests strike: counts the calls that change files, over all threads of one process, and
   at a chosen one kills the process or lets the call fail. It can also let the wall clock jump.

   strace injects too, but counts each thread and each kind of call by itself, so that no number names every step of a
   command; a test compares what this counts with what strace sees. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct strike {
    pid_t owner; /* the process whose calls count */
    long calls;  /* so far */
    long at;     /* the call that is struck; 0 is none */
    int error;   /* the errno it gets; 0 kills */
    int lasting; /* whether all later calls fail, too */
};

static struct strike *strike; /* shared with forked children, so that a parent can read the count of a dead one */
static int jumping;           /* whether the wall clock jumps */

__attribute__((constructor)) static void begin(void) {
    strike = mmap(NULL, sizeof *strike, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    jumping = getenv("SHIM_CLOCK_JUMPS") != NULL;
}

void shim_arm(long at, int error, int lasting) {
    *strike = (struct strike){getpid(), 0, at, error, lasting};
}

long shim_calls(void) { return strike->calls; }

static int struck(void) {
    if (strike == NULL || strike->owner != getpid())
        return 0;
    long call = __atomic_add_fetch(&strike->calls, 1, __ATOMIC_SEQ_CST);
    if (strike->at == 0 || call < strike->at || (call > strike->at && !strike->lasting))
        return 0;
    if (strike->error == 0) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    errno = strike->error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define STRIKABLE(result, name, parameters, arguments)       \
    result name parameters {                                 \
        static __typeof__(&name) real;                       \
        if (real == NULL)                                    \
            real = REAL(name);                               \
        return struck() ? -1 : real arguments;               \
    }

STRIKABLE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
STRIKABLE(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
STRIKABLE(int, fsync, (int fd), (fd))
STRIKABLE(int, fdatasync, (int fd), (fd))
STRIKABLE(int, ftruncate, (int fd, off_t size), (fd, size))
STRIKABLE(int, ftruncate64, (int fd, off64_t size), (fd, size))
STRIKABLE(int, unlink, (const char *path), (path))

/* Opening counts where it makes a file. */
#define OPENING(name)                                                                  \
    int name(const char *path, int flags, ...) {                                       \
        static __typeof__(&name) real;                                                 \
        if (real == NULL)                                                              \
            real = REAL(name);                                                         \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;        \
        va_end(rest);                                                                  \
        if ((flags & O_CREAT) && faccessat(AT_FDCWD, path, F_OK, 0) != 0 && struck())  \
            return -1;                                                                 \
        return real(path, flags, mode);                                                \
    }

OPENING(open)
OPENING(open64)

/* The wall clock: every second it stands a day before or behind the truth, by turns. */
static time_t jump(void) { 
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec % 2 ? 86400 : -86400;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static __typeof__(&clock_gettime) real;
    if (real == NULL)
        real = REAL(clock_gettime);
    int failed = real(clock, now);
    if (jumping && !failed && clock == CLOCK_REALTIME)
        now->tv_sec += jump();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    static __typeof__(&gettimeofday) real;
    if (real == NULL)
        real = REAL(gettimeofday);
    int failed = real(now, zone);
    if (jumping && !failed)
        now->tv_sec += jump();
    return failed;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into != NULL)
        *into = now.tv_sec;
    return now.tv_sec;
}
