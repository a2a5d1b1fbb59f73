/* SPDX-License-Identifier: Apache-2.0 */
/* The few functions of libc that pawl-runner calls, so that it can be linked without libc.
 *
 * Why: before main, glibc asks the processor what it is, some fifty CPUID instructions. In a virtual machine each of them leaves to the
 * hypervisor, and that alone takes longer than all the rest of a runner's start (measured, per exec: a static program with glibc 330 us, without
 * 90 us; and 28 page faults instead of 3). The names, the headers and the meanings are libc's, so the runner's other files are ordinary C, and where
 * this file has no system call instruction, or a sanitizer is wanted, they are linked with libc instead (meson.build).
 *
 * Only what the runner needs of each function is here: no cancellation, no locale, no threads. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGSET_BYTES 8 /* of the kernel; libc's sigset_t begins with them */

int main(void);

#if defined __x86_64__
__asm__(".globl _start\n.type _start, @function\n_start:\n\txorl %ebp, %ebp\n\tandq $-16, %rsp\n\tcall main\n\tmovl %eax, %edi\n\tcall _exit\n\thlt\n");

static long kernel(long n, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return n;
}
#elif defined __aarch64__
__asm__(".globl _start\n.type _start, %function\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tbl main\n\tbl _exit\n\tbrk #1\n");

static long kernel(long n, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "no system call instruction for this machine: link pawl-runner with libc"
#endif

static int error_number;
int *__errno_location(void) { return &error_number; }

static long checked(long result) {
  if (result >= -4095 && result < 0) {
    error_number = (int)-result;
    return -1;
  }
  return result;
}

#define CALL6(name, a, b, c, d, e, f) \
  checked(kernel(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL4(name, a, b, c, d) CALL6(name, a, b, c, d, 0, 0)
#define CALL3(name, a, b, c) CALL6(name, a, b, c, 0, 0, 0)
#define CALL2(name, a, b) CALL6(name, a, b, 0, 0, 0, 0)
#define CALL1(name, a) CALL6(name, a, 0, 0, 0, 0, 0)
#define CALL0(name) CALL6(name, 0, 0, 0, 0, 0, 0)

void _exit(int status) {
  for (;;) kernel(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

ssize_t read(int fd, void *to, size_t bytes) { return CALL3(read, fd, to, bytes); }
ssize_t write(int fd, const void *from, size_t bytes) { return CALL3(write, fd, from, bytes); }
int close(int fd) { return (int)CALL1(close, fd); }
int close_range(unsigned first, unsigned last, int flags) { return (int)CALL3(close_range, first, last, flags); }
int pipe2(int fds[2], int flags) { return (int)CALL2(pipe2, fds, flags); }
int open(const char *path, int flags, ...) { return (int)CALL4(openat, AT_FDCWD, path, flags, 0); } /* never creates */
int access(const char *path, int mode) { return (int)CALL3(faccessat, AT_FDCWD, path, mode); }
ssize_t getdents64(int fd, void *to, size_t bytes) { return CALL3(getdents64, fd, to, bytes); }

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  return (int)CALL3(fcntl, fd, command, argument);
}

ssize_t send(int fd, const void *from, size_t bytes, int flags) { return CALL6(sendto, fd, from, bytes, flags, 0, 0); }
ssize_t recv(int fd, void *to, size_t bytes, int flags) { return CALL6(recvfrom, fd, to, bytes, flags, 0, 0); }

int poll(struct pollfd *fds, nfds_t n, int timeout_ms) {
  struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
  return (int)CALL6(ppoll, fds, n, timeout_ms < 0 ? NULL : &timeout, NULL, SIGSET_BYTES, 0);
}

int sigemptyset(sigset_t *set) {
  memset(set, 0, sizeof *set);
  return 0;
}

int sigfillset(sigset_t *set) {
  memset(set, 0xff, sizeof *set);
  return 0;
}

int sigaddset(sigset_t *set, int signal) {
  set->__val[0] |= 1ul << (signal - 1);
  return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) { return (int)CALL4(rt_sigprocmask, how, set, old, SIGSET_BYTES); }
int signalfd(int fd, const sigset_t *set, int flags) { return (int)CALL4(signalfd4, fd, set, SIGSET_BYTES, flags); }
int timerfd_create(clockid_t clock, int flags) { return (int)CALL2(timerfd_create, clock, flags); }
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old) {
  return (int)CALL4(timerfd_settime, fd, flags, when, old);
}
int clock_gettime(clockid_t clock, struct timespec *ret) { return (int)CALL2(clock_gettime, clock, ret); }
int kill(pid_t pid, int signal) { return (int)CALL2(kill, pid, signal); }

pid_t fork(void) { return (pid_t)CALL1(clone, SIGCHLD); }
int execve(const char *path, char *const argv[], char *const envp[]) { return (int)CALL3(execve, path, argv, envp); }
pid_t waitpid(pid_t pid, int *status, int options) { return (pid_t)CALL4(wait4, pid, status, options, NULL); }
pid_t getpid(void) { return (pid_t)CALL0(getpid); }
pid_t getppid(void) { return (pid_t)CALL0(getppid); }
pid_t setsid(void) { return (pid_t)CALL0(setsid); }
mode_t umask(mode_t mask) { return (mode_t)CALL1(umask, mask); }
int chdir(const char *path) { return (int)CALL1(chdir, path); }
int setgroups(size_t n, const gid_t *groups) { return (int)CALL2(setgroups, n, groups); }
int setgid(gid_t gid) { return (int)CALL1(setgid, gid); }
int setuid(uid_t uid) { return (int)CALL1(setuid, uid); }
int getrusage(__rusage_who_t who, struct rusage *ret) { return (int)CALL2(getrusage, who, ret); }

int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  long argument = va_arg(list, long);
  va_end(list);
  return (int)CALL6(prctl, option, argument, 0, 0, 0, 0);
}

/* Up to four arguments. */
long syscall(long number, ...) {
  long arguments[4];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 4; i++) arguments[i] = va_arg(list, long);
  va_end(list);
  return checked(kernel(number, arguments[0], arguments[1], arguments[2], arguments[3], 0, 0));
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return (void *)CALL6(mmap, at, bytes, protection, flags, fd, offset);
}
int munmap(void *at, size_t bytes) { return (int)CALL2(munmap, at, bytes); }
void *mremap(void *at, size_t old_bytes, size_t bytes, int flags, ...) { return (void *)CALL4(mremap, at, old_bytes, bytes, flags); }

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int byte, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = (char)byte;
  return to;
}

size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

size_t strnlen(const char *text, size_t max) {
  size_t n = 0;
  while (n < max && text[n]) n++;
  return n;
}

int strncmp(const char *a, const char *b, size_t max) {
  for (size_t i = 0; i < max; i++) {
    if (a[i] != b[i]) return (unsigned char)a[i] - (unsigned char)b[i];
    if (!a[i]) break;
  }
  return 0;
}

char *strchrnul(const char *text, int character) {
  while (*text && *text != (char)character) text++;
  return (char *)text;
}

char *strchr(const char *text, int character) {
  char *at = strchrnul(text, character);
  return *at == (char)character ? at : NULL;
}

char *strrchr(const char *text, int character) {
  char *last = NULL;
  for (; *text; text++)
    if (*text == (char)character) last = (char *)text;
  return last;
}
