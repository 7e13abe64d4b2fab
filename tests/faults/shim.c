/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that fails the Nth allocation, or the Nth system call on files.
 *
 * Allocations are functions of libc that this library defines itself. System calls come from anywhere in libc
 * (stdio and opendir make their own), so the kernel stops each one that is made from libc's code (seccomp),
 * and the handler of SIGSYS makes it from here, where the kernel lets it pass, or returns an error instead.
 * The standard error stream always works: the tests read it.
 *
 * FAULTS_IN=NAME: only requests of the library NAME can fail, its own or those through libc; requests of the
 * program never do.
 */
#include "shim.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fault_run *fault_run;
static __thread bool is_inside;

static bool is_over(unsigned long number) {
  return fault_run->at && (number == fault_run->at || (fault_run->stays && number > fault_run->at));
}

struct range {
  uintptr_t begin, end;
};

static bool is_within(const struct range *ranges, size_t count, const void *address) {
  for (size_t i = 0; i < count; i++)
    if ((uintptr_t)address >= ranges[i].begin && (uintptr_t)address < ranges[i].end)
      return true;
  return false;
}

/* The code of the library whose calls fail; none: those of all do. */
static struct range asking[8];
static size_t asking_count;

/* Whether one of the callers is in that library. */
static bool is_asked_for(void) {
  void *stack[FAULT_FRAMES];
  if (!asking_count)
    return true;
  is_inside = true;
  int depth = backtrace(stack, FAULT_FRAMES);
  is_inside = false;
  for (int i = 0; i < depth; i++)
    if (is_within(asking, asking_count, stack[i]))
      return true;
  return false;
}

/* Counts a call; true if it fails. */
static bool is_failing(enum fault_kind kind, const char *call) {
  struct fault_run *run = fault_run;
  if (!run || run->kind != kind || is_inside || !is_asked_for())
    return false;
  if (!is_over(__atomic_add_fetch(&run->count, 1, __ATOMIC_RELAXED)))
    return false;
  if (__atomic_fetch_add(&run->failed, 1, __ATOMIC_RELAXED) == 0) {
    is_inside = true;
    strncpy(run->call, call, sizeof(run->call) - 1);
    run->depth = backtrace(run->stack, FAULT_FRAMES);
    is_inside = false;
  }
  return true;
}

/* ---- allocations ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

/* libdw and libelf crash without memory, which their callers cannot prevent: their requests are not
 * refused. */
static struct range excused[8];
static size_t excused_count;

static void note_code(const struct dl_phdr_info *info, struct range *ranges, size_t *count) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && part->p_flags & PF_X && *count < 8)
      ranges[(*count)++] = (struct range){begin, begin + part->p_memsz};
  }
}

static int note_libraries(struct dl_phdr_info *info, size_t size, void *user) {
  const char *in = getenv("FAULTS_IN");
  (void)size;
  (void)user;
  if (strstr(info->dlpi_name, "/libdw") || strstr(info->dlpi_name, "/libelf"))
    note_code(info, excused, &excused_count);
  if (in && strstr(info->dlpi_name, in))
    note_code(info, asking, &asking_count);
  return 0;
}

static bool check(const char *call, const void *caller) {
  if (is_within(excused, excused_count, caller) || !is_failing(FAULT_ALLOC, call))
    return false;
  errno = ENOMEM;
  return true;
}

#define IS_REFUSED(call) check(call, __builtin_return_address(0))

void *malloc(size_t size) { return IS_REFUSED("malloc") ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return IS_REFUSED("calloc") ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return IS_REFUSED("realloc") ? NULL : __libc_realloc(old, size); }

void *memalign(size_t align, size_t size) {
  return IS_REFUSED("memalign") ? NULL : __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size) {
  return IS_REFUSED("aligned_alloc") ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size) {
  void *piece = IS_REFUSED("posix_memalign") ? NULL : __libc_memalign(align, size);
  if (!piece)
    return ENOMEM;
  *out = piece;
  return 0;
}

/* ---- system calls made from this library ---- */

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user) {
  return is_failing(FAULT_IO, "pthread_create") ? EAGAIN
                                                : REAL(pthread_create)(thread, attributes, start, user);
}

/* A system call of these would come with all signals blocked, while a thread begins or ends. */
int madvise(void *at, size_t size, int advice) {
  if (!is_failing(FAULT_IO, "madvise"))
    return REAL(madvise)(at, size, advice);
  errno = ENOMEM;
  return -1;
}

int mprotect(void *at, size_t size, int protection) {
  if (!is_failing(FAULT_IO, "mprotect"))
    return REAL(mprotect)(at, size, protection);
  errno = ENOMEM;
  return -1;
}

pid_t fork(void) {
  if (!is_failing(FAULT_IO, "fork"))
    return REAL(fork)();
  errno = EAGAIN;
  return -1;
}

/* ---- system calls ---- */

#ifdef __x86_64__

static const struct file_call {
  int number;
  const char *name;
  int cause;
} file_calls[] = {
    {SYS_open, "open", EMFILE},
    {SYS_openat, "openat", EMFILE},
    {SYS_read, "read", EIO},
    {SYS_readv, "readv", EIO},
    {SYS_pread64, "pread", EIO},
    {SYS_write, "write", ENOSPC},
    {SYS_writev, "writev", ENOSPC},
    {SYS_pwrite64, "pwrite", ENOSPC},
    {SYS_stat, "stat", EACCES},
    {SYS_fstat, "fstat", EIO},
    {SYS_lstat, "lstat", EACCES},
    {SYS_newfstatat, "fstatat", EIO},
    {SYS_statx, "statx", EIO},
    {SYS_lseek, "lseek", EIO},
    {SYS_mmap, "mmap", ENOMEM},
    {SYS_mremap, "mremap", ENOMEM},
    {SYS_ftruncate, "ftruncate", ENOSPC},
    {SYS_fallocate, "fallocate", ENOSPC},
    {SYS_fsync, "fsync", EIO},
    {SYS_fdatasync, "fdatasync", EIO},
    {SYS_rename, "rename", EIO},
    {SYS_renameat, "renameat", EIO},
    {SYS_renameat2, "renameat2", EIO},
    {SYS_mkdir, "mkdir", ENOSPC},
    {SYS_mkdirat, "mkdirat", ENOSPC},
    {SYS_getdents64, "getdents", EIO},
    {SYS_readlink, "readlink", EIO},
    {SYS_readlinkat, "readlinkat", EIO},
    {SYS_getcwd, "getcwd", EIO},
    {SYS_flock, "flock", EIO},
    {SYS_copy_file_range, "copy_file_range", EIO},
    {SYS_sendfile, "sendfile", EIO},
    {SYS_inotify_init1, "inotify_init", EMFILE},
    {SYS_socket, "socket", EMFILE},
    {SYS_connect, "connect", EIO},
    {SYS_bind, "bind", EACCES},
    {SYS_listen, "listen", EIO},
    {SYS_accept4, "accept", EMFILE},
    {SYS_sendto, "send", EIO},
    {SYS_recvfrom, "recv", EIO},
    {SYS_getsockopt, "getsockopt", ENOBUFS},
    {SYS_poll, "poll", ENOMEM},
    {SYS_ppoll, "ppoll", ENOMEM},
    {SYS_fcntl, "fcntl", EMFILE},
    {SYS_access, "access", EIO},
    {SYS_chmod, "chmod", EPERM},
    {SYS_unlink, "unlink", EIO},
    {SYS_unlinkat, "unlinkat", EIO},
    {SYS_rmdir, "rmdir", EIO},
    {SYS_getrandom, "getrandom", ENOSYS},
    {SYS_uname, "uname", EFAULT},
    {SYS_close_range, "close_range", ENOSYS},
    {SYS_membarrier, "membarrier", ENOSYS},
    {SYS_pidfd_open, "pidfd_open", EMFILE},
    {SYS_eventfd2, "eventfd", EMFILE},
    {SYS_timerfd_create, "timerfd", EMFILE},
    {SYS_signalfd4, "signalfd", EMFILE},
    {SYS_epoll_create1, "epoll", EMFILE},
    {SYS_pipe2, "pipe", EMFILE},
};
#define FILE_CALLS (sizeof(file_calls) / sizeof(file_calls[0]))

static long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static const struct file_call *find_call(int number) {
  for (size_t i = 0; i < FILE_CALLS; i++)
    if (file_calls[i].number == number)
      return &file_calls[i];
  return NULL;
}

static bool is_about_bytes(int number) {
  return number == SYS_read || number == SYS_write || number == SYS_pread64 || number == SYS_pwrite64;
}

/* Short calls move half of the requested bytes, at least one. */
static long shortened(int number, long size) {
  if (!is_about_bytes(number) || size < 2 || !is_failing(FAULT_SHORT, "short"))
    return size;
  return size / 2;
}

static void on_system_call(int signal_number, siginfo_t *info, void *context) {
  (void)signal_number;
  int saved = errno;
  greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
  const struct file_call *call = find_call(info->si_syscall);
  bool is_about_words = is_about_bytes(info->si_syscall) && r[REG_RDI] == STDERR_FILENO;
  if (call && !is_about_words && is_failing(FAULT_IO, call->name)) {
    r[REG_RAX] = -call->cause;
  } else {
    long size = is_about_words ? r[REG_RDX] : shortened(info->si_syscall, r[REG_RDX]);
    r[REG_RAX] =
        call_kernel(info->si_syscall, r[REG_RDI], r[REG_RSI], size, r[REG_R10], r[REG_R8], r[REG_R9]);
  }
  errno = saved;
}

/* The range of libc's code, of which the lower half of addresses is compared. */
static int find_code(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  struct range *range = user;
  uintptr_t wanted = (uintptr_t)gnu_get_libc_version;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && part->p_flags & PF_X && wanted >= begin && wanted - begin < part->p_memsz)
      *range = (struct range){begin, begin + part->p_memsz};
  }
  return 0;
}

#define LOAD(place) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(place))
#define IP offsetof(struct seccomp_data, instruction_pointer)
#define HEAD 6

/* The filter: calls that are listed and come from libc's code raise SIGSYS, all others pass. */
static bool intercept(void) {
  struct range code = {0, 0};
  dl_iterate_phdr(find_code, &code);
  if (code.begin >> 32 != code.end >> 32)
    code.end = code.begin | UINT32_MAX;
  struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSYS, &action, NULL);
  const uint8_t pass =
      HEAD + FILE_CALLS; /* the statement that lets a call pass; the one after it raises the signal */
  struct sock_filter program[HEAD + FILE_CALLS + 2] = {
      LOAD(IP + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(code.begin >> 32), 0, pass - 2),
      LOAD(IP),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)code.begin, 0, pass - 4),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)code.end, pass - 5, 0),
      LOAD(offsetof(struct seccomp_data, nr)),
  };
  for (size_t i = 0; i < FILE_CALLS; i++)
    program[HEAD + i] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)file_calls[i].number, (uint8_t)(FILE_CALLS - i), 0);
  program[pass] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[pass + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  struct sock_fprog filter = {.len = HEAD + FILE_CALLS + 2, .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* The signal of intercepted calls is never blocked: the kernel would end the process. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  sigset_t open;
  if (set) {
    open = *set;
    sigdelset(&open, SIGSYS);
  }
  return (int)-call_kernel(SYS_rt_sigprocmask, how, (long)(set ? &open : NULL), (long)old, _NSIG / 8, 0, 0);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  int cause = pthread_sigmask(how, set, old);
  errno = cause ? cause : errno;
  return cause ? -1 : 0;
}

int sigaction(int signal_number, const struct sigaction *action, struct sigaction *old) {
  if (fault_run && signal_number == SIGSYS)
    return 0;
  return REAL(sigaction)(signal_number, action, old);
}

#else

static bool intercept(void) { return false; }

#endif

bool fault_begin(struct fault_run *run) {
  void *once[4];
  backtrace(once, 4); /* loads the libraries that it needs */
  dl_iterate_phdr(note_libraries, NULL);
  if (run->kind != FAULT_ALLOC && !intercept())
    return false;
  fault_run = run;
  return true;
}
