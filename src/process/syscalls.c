/* SPDX-License-Identifier: MIT */
/*
 * Names and arguments of system calls that wait. The table has, for each argument, how it is shown:
 *
 *   f descriptor   d number   u size   x hexadecimal   s path   t struct timespec   i milliseconds
 *   p array of struct pollfd, whose length is the next argument
 *
 * The call of a thread that does not run is in /proc/PID/task/TID/syscall, also in disk sleep, and nothing
 * is stopped to read it.
 */
#include "process/syscalls.h"
#include "process/descriptor.h"
#include "process/proc.h"
#include "base/strbuf.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

/* What ends a wait without a signal handler's help if the thread stops: most calls go on afterwards. */
enum interruption {
  GOES_ON,
  FAILS,              /* with EINTR */
  FAILS_WITH_TIMEOUT, /* of a socket that has a timeout (socket(7)) */
};

struct call_name {
  long number;
  const char *name, *arguments;
  enum interruption interruption;
};

#define CALL(name, arguments) \
  { SYS_##name, #name, arguments, GOES_ON }
#define CALL_FAILS(name, arguments) \
  { SYS_##name, #name, arguments, FAILS }
#define CALL_OF_SOCKET(name, arguments) \
  { SYS_##name, #name, arguments, FAILS_WITH_TIMEOUT }

static const struct call_name call_names[] = {
    CALL_OF_SOCKET(read, "fxu"),
    CALL_OF_SOCKET(write, "fxu"),
    CALL_OF_SOCKET(readv, "fxu"),
    CALL_OF_SOCKET(writev, "fxu"),
    CALL(pread64, "fxud"),
    CALL(pwrite64, "fxud"),
    CALL(preadv, "fxud"),
    CALL(pwritev, "fxud"),
    CALL(openat, "fsxx"),
    CALL(close, "f"),
    CALL(ftruncate, "fd"),
    CALL(fallocate, "fxdd"),
    CALL(fsync, "f"),
    CALL(fdatasync, "f"),
    CALL(sync, ""),
    CALL(syncfs, "f"),
    CALL(sync_file_range, "fddx"),
    CALL(msync, "xux"),
    CALL(getdents64, "fxu"),
    CALL(unlinkat, "fsx"),
    CALL(mkdirat, "fsx"),
    CALL(linkat, "fsfsx"),
    CALL(renameat2, "fsfsx"),
    CALL(statfs, "sx"),
    CALL(fstat, "fx"),
    CALL(newfstatat, "fsxx"),
    CALL(statx, "fsxxx"),
    CALL(faccessat, "fsx"),
    CALL(readlinkat, "fsxu"),
    CALL(mount, "sssxx"),
    CALL(umount2, "sx"),
    CALL(ioctl, "fxx"),
    CALL(fcntl, "fdx"),
    CALL(flock, "fd"),
    CALL(mmap, "xuxxfd"),
    CALL(munmap, "xu"),
    CALL(mprotect, "xux"),
    CALL(madvise, "xud"),
    CALL(mlock, "xu"),
    CALL(sendfile, "ffxu"),
    CALL(splice, "fxfxux"),
    CALL(tee, "ffux"),
    CALL(vmsplice, "fxux"),
    CALL(ppoll, "putxu"),
    CALL(pselect6, "dxxxtx"),
    CALL_FAILS(epoll_pwait, "fxdixu"),
    CALL_FAILS(io_getevents, "xddxt"),
    CALL_FAILS(semtimedop, "dxut"),
    CALL_FAILS(semop, "dxu"),
    CALL_FAILS(rt_sigtimedwait, "xxtu"),
    CALL(rt_sigsuspend, "xu"),
    CALL(msgrcv, "dxudx"),
    CALL(msgsnd, "dxux"),
    CALL(mq_timedreceive, "fxuxt"),
    CALL(mq_timedsend, "fxuut"),
    CALL(wait4, "dxxx"),
    CALL(waitid, "ddxxx"),
    CALL(nanosleep, "tx"),
    CALL(clock_nanosleep, "ddtx"),
    CALL(restart_syscall, ""),
    CALL_OF_SOCKET(accept, "fxx"),
    CALL_OF_SOCKET(accept4, "fxxx"),
    CALL_OF_SOCKET(connect, "fxu"),
    CALL_OF_SOCKET(sendto, "fxuxxu"),
    CALL_OF_SOCKET(recvfrom, "fxuxxx"),
    CALL_OF_SOCKET(sendmsg, "fxx"),
    CALL_OF_SOCKET(recvmsg, "fxx"),
    CALL_OF_SOCKET(sendmmsg, "fxux"),
    CALL_OF_SOCKET(recvmmsg, "fxuxt"),
    CALL(execve, "sxx"),
    CALL(execveat, "fsxxx"),
    CALL(clone, "xxxxx"),
    CALL(exit, "d"),
    CALL(exit_group, "d"),
    CALL(getrandom, "xux"),
    CALL(ptrace, "ddxx"),
    CALL(kill, "dd"),
    CALL(futex, "xd"),
#ifdef SYS_futex_waitv
    CALL(futex_waitv, "xuxxd"),
#endif
#ifdef SYS_clone3
    CALL(clone3, "xu"),
#endif
#ifdef SYS_io_uring_enter
    CALL_FAILS(io_uring_enter, "fuuxxu"),
#endif
#ifdef SYS_epoll_pwait2
    CALL_FAILS(epoll_pwait2, "fxdtxu"),
#endif
#ifdef SYS_openat2
    CALL(openat2, "fsxu"),
#endif
#ifdef SYS_userfaultfd
    CALL(userfaultfd, "x"),
#endif
#ifdef SYS_io_pgetevents
    CALL_FAILS(io_pgetevents, "xddxtx"),
#endif
/* calls that newer machines do not have */
#ifdef SYS_open
    CALL(open, "sxx"),
#endif
#ifdef SYS_stat
    CALL(stat, "sx"),
#endif
#ifdef SYS_lstat
    CALL(lstat, "sx"),
#endif
#ifdef SYS_access
    CALL(access, "sx"),
#endif
#ifdef SYS_unlink
    CALL(unlink, "s"),
#endif
#ifdef SYS_rename
    CALL(rename, "ss"),
#endif
#ifdef SYS_mkdir
    CALL(mkdir, "sx"),
#endif
#ifdef SYS_rmdir
    CALL(rmdir, "s"),
#endif
#ifdef SYS_poll
    CALL(poll, "pui"),
#endif
#ifdef SYS_select
    CALL(select, "dxxxx"),
#endif
#ifdef SYS_epoll_wait
    CALL_FAILS(epoll_wait, "fxdi"),
#endif
#ifdef SYS_pause
    CALL(pause, ""),
#endif
#ifdef SYS_fork
    CALL(fork, ""),
#endif
#ifdef SYS_vfork
    CALL(vfork, ""),
#endif
};

static const struct call_name poll_name = {.name = "poll", .arguments = "pui"};

/* ---- arguments ---- */

/* Whose arguments they are. */
struct caller {
  struct process *process;
  const struct process_thread *thread;
  process_memory_reader *memory;
};

static void add_path(struct kymo_strbuf *out, const struct caller *caller, uint64_t address) {
  char text[256];
  size_t length = caller->memory(caller->process, address, text, sizeof text);
  size_t end = strnlen(text, length);
  if (!length)
    kymo_strbuf_printf(out, "0x%" PRIx64, address);
  else
    kymo_strbuf_printf(out, "\"%.*s\"%s", (int)end, text, end == sizeof text ? "…" : "");
}

/* Of 64-bit processes. */
static void add_timespec(struct kymo_strbuf *out, const struct caller *caller, uint64_t address) {
  int64_t time[2];
  if (!address)
    kymo_strbuf_puts(out, "NULL");
  else if (caller->memory(caller->process, address, time, sizeof time) == sizeof time && time[1] >= 0 &&
           time[1] < 1000000000)
    kymo_strbuf_printf(out, "%" PRId64 ".%09" PRId64 " s", time[0], time[1]);
  else
    kymo_strbuf_printf(out, "0x%" PRIx64, address);
}

static void add_descriptor(struct kymo_strbuf *out, const struct caller *caller, uint64_t number) {
  const struct process_descriptor descriptor = {caller->thread->tid, (int)number};
  if ((int)number == -100)
    kymo_strbuf_puts(out, "AT_FDCWD");
  else
    kymo_strbuf_printf(out, "%d%s", (int)number, process_descriptor_text(caller->process, &descriptor));
}

static void add_pollfds(struct kymo_strbuf *out, const struct caller *caller, const uint64_t *arguments) {
  enum { SHOWN_MAX = 8 };
  struct pollfd list[SHOWN_MAX];
  uint64_t count = arguments[1] < SHOWN_MAX ? arguments[1] : SHOWN_MAX;
  count =
      count ? caller->memory(caller->process, arguments[0], list, count * sizeof *list) / sizeof *list : 0;
  kymo_strbuf_puts(out, "[");
  for (uint64_t i = 0; i < count; i++) {
    kymo_strbuf_puts(out, i ? ", " : "");
    add_descriptor(out, caller, (uint64_t)list[i].fd);
  }
  kymo_strbuf_puts(out, count < arguments[1] ? ", …]" : "]");
}

static void add_argument(struct kymo_strbuf *out, const struct caller *caller, char kind,
                         const uint64_t *argument) {
  switch (kind) {
  case 'f': add_descriptor(out, caller, *argument); return;
  case 'd':
  case 'i':
    kymo_strbuf_printf(out, "%d%s", (int)*argument, kind == 'i' && (int)*argument > 0 ? " ms" : "");
    return;
  case 'u': kymo_strbuf_printf(out, "%" PRIu64, *argument); return;
  case 's': add_path(out, caller, *argument); return;
  case 't': add_timespec(out, caller, *argument); return;
  case 'p': add_pollfds(out, caller, argument); return;
  default:
    if (*argument)
      kymo_strbuf_printf(out, "0x%" PRIx64, *argument);
    else
      kymo_strbuf_puts(out, "NULL");
  }
}

/* ---- futexes ---- */

static const char *const futex_names[] = {
    [FUTEX_WAIT] = "FUTEX_WAIT",
    [FUTEX_WAKE] = "FUTEX_WAKE",
    [FUTEX_REQUEUE] = "FUTEX_REQUEUE",
    [FUTEX_CMP_REQUEUE] = "FUTEX_CMP_REQUEUE",
    [FUTEX_WAKE_OP] = "FUTEX_WAKE_OP",
    [FUTEX_LOCK_PI] = "FUTEX_LOCK_PI",
    [FUTEX_UNLOCK_PI] = "FUTEX_UNLOCK_PI",
    [FUTEX_TRYLOCK_PI] = "FUTEX_TRYLOCK_PI",
    [FUTEX_WAIT_BITSET] = "FUTEX_WAIT_BITSET",
    [FUTEX_WAKE_BITSET] = "FUTEX_WAKE_BITSET",
    [FUTEX_WAIT_REQUEUE_PI] = "FUTEX_WAIT_REQUEUE_PI",
    [FUTEX_CMP_REQUEUE_PI] = "FUTEX_CMP_REQUEUE_PI",
    [13] = "FUTEX_LOCK_PI2",
};

static void add_futex(struct kymo_strbuf *out, const struct caller *caller) {
  const uint64_t *arguments = caller->thread->call.arguments;
  unsigned command = (unsigned)arguments[1] & FUTEX_CMD_MASK;
  const char *name = command < sizeof futex_names / sizeof *futex_names ? futex_names[command] : NULL;
  kymo_strbuf_printf(out, "futex(0x%" PRIx64 ", ", arguments[0]);
  if (name)
    kymo_strbuf_printf(out, "%s%s%s", name, arguments[1] & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
                       arguments[1] & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
  else
    kymo_strbuf_printf(out, "%u", (unsigned)arguments[1]);
  kymo_strbuf_printf(out, ", %u, ", (unsigned)arguments[2]);
  add_timespec(out, caller, arguments[3]);
  kymo_strbuf_puts(out, ")");
}

static bool is_futex_wait(uint64_t operation) {
  unsigned command = (unsigned)operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
         command == FUTEX_WAIT_REQUEUE_PI || command == 13;
}

static void read_words(struct process *process, struct process_thread *thread,
                       process_memory_reader *memory) {
  uint64_t address = thread->call.arguments[0];
  uint8_t before[PROCESS_WORD_BEFORE];
  thread->words_after =
      (unsigned)memory(process, address, thread->words + PROCESS_WORD_BEFORE, PROCESS_WORD_AFTER);
  thread->words_before =
      memory(process, address - PROCESS_WORD_BEFORE, before, sizeof before) == sizeof before
          ? PROCESS_WORD_BEFORE
          : 0;
  if (thread->words_before)
    memcpy(thread->words, before, sizeof before);
  thread->has_words = thread->words_after >= sizeof(uint32_t);
}

/* ---- calls ---- */

static const struct call_name *find_call(long number) {
  for (size_t i = 0; i < sizeof call_names / sizeof *call_names; i++)
    if (call_names[i].number == number)
      return &call_names[i];
  return NULL;
}

static void add_call(struct kymo_strbuf *out, const struct caller *caller, const struct call_name *name) {
  kymo_strbuf_printf(out, "%s(", name->name);
  for (size_t i = 0; name->arguments[i] && i < 6; i++) {
    kymo_strbuf_puts(out, i ? ", " : "");
    add_argument(out, caller, name->arguments[i], &caller->thread->call.arguments[i]);
  }
  kymo_strbuf_puts(out, ")");
}

/* After an interruption the kernel restarts some calls under another number, with the same arguments. */
static bool is_futex(const struct process_thread *thread) {
  const struct process_call *call = &thread->call;
  return (call->number == SYS_futex ||
          (call->number == SYS_restart_syscall && strncmp(thread->wchan, "futex", 5) == 0)) &&
         is_futex_wait(call->arguments[1]);
}

/* select is not restarted that way. */
static bool is_poll(const struct process_thread *thread) {
#ifdef SYS_poll
  return thread->call.number == SYS_restart_syscall && strncmp(thread->wchan, "poll_", 5) == 0;
#else
  (void)thread;
  return false;
#endif
}

static bool is_for_children(long number) {
  static const long numbers[] = {
      SYS_wait4,  SYS_waitid, SYS_clone,
#ifdef SYS_clone3
      SYS_clone3,
#endif
#ifdef SYS_vfork
      SYS_vfork,
#endif
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] == number)
      return true;
  return false;
}

static void find_peer(struct process *process, struct process_thread *thread) {
  struct process_call *call = &thread->call;
  bool reads = call->number == SYS_read || call->number == SYS_readv,
       writes = call->number == SYS_write || call->number == SYS_writev;
  if (process->core || process->is_32_bit)
    return;
  if (reads || writes)
    call->peer = process_pipe_peers(
        process, &(struct process_descriptor){thread->tid, (int)call->arguments[0]}, reads);
  else if (is_for_children(call->number))
    call->peer = process_children(process, thread->tid);
}

/* Of a 32-bit process nothing is known, and nothing risked. */
static bool must_not_stop(struct process *process, int tid, const struct process_call *call) {
  const struct process_descriptor descriptor = {tid, (int)call->arguments[0]};
  const struct call_name *name = process->is_32_bit ? NULL : find_call(call->number);
  if (!call->is_known || !call->is_inside || process->core)
    return false;
  if (process->is_32_bit)
    return true;
  return name && (name->interruption == FAILS || (name->interruption == FAILS_WITH_TIMEOUT &&
                                                  process_socket_has_timeout(process, &descriptor)));
}

void process_decode_call(struct process *process, struct process_thread *thread,
                         process_memory_reader *memory) {
  struct process_call *call = &thread->call;
  const struct caller caller = {process, thread, memory};
  struct kymo_strbuf text = {0};
  if (!call->is_known || !call->is_inside)
    return;
  const struct call_name *name = process->is_32_bit ? NULL : find_call(call->number);
  call->is_futex = !process->is_32_bit && is_futex(thread);
  if (call->is_futex)
    add_futex(&text, &caller);
  else if (is_poll(thread))
    add_call(&text, &caller, &poll_name);
  else if (name)
    add_call(&text, &caller, name);
  else
    kymo_strbuf_printf(&text, "system call %ld%s(0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", …)",
                       call->number, process->is_32_bit ? " of 32 bits" : "", call->arguments[0],
                       call->arguments[1], call->arguments[2]);
  if (text.text && !text.failed)
    call->text = process_board_text(process->board, "%s", text.text);
  kymo_strbuf_free(&text);
  if (call->is_futex)
    read_words(process, thread, memory);
  call->must_not_stop = must_not_stop(process, thread->tid, call);
  find_peer(process, thread);
}

/* "NUMBER ARGUMENT… STACK INSTRUCTION", "-1 STACK INSTRUCTION" outside of calls, "running". */
static void parse_call(const struct process *process, const struct process_thread *thread,
                       struct process_call *call) {
  char text[512], *end = text;
  *call = (struct process_call){0};
  if (proc_read(text, sizeof text, "/proc/%d/task/%d/syscall", process->pid, thread->tid) <= 0)
    return;
  call->is_known = true;
  if (strncmp(text, "running", 7) == 0)
    return;
  call->number = strtol(text, &end, 0);
  call->is_inside = call->number != -1;
  for (int i = 0; call->is_inside && i < 6; i++)
    call->arguments[i] = strtoull(end, &end, 0);
  call->stack = strtoull(end, &end, 0);
  call->instruction = strtoull(end, &end, 0);
}

bool process_must_not_stop(struct process *process, const struct process_thread *thread) {
  struct process_call call;
  parse_call(process, thread, &call);
  return must_not_stop(process, thread->tid, &call);
}

void process_read_call(struct process *process, struct process_thread *thread) {
  if (!thread->state || thread->state == 'Z')
    return;
  parse_call(process, thread, &thread->call);
  process_decode_call(process, thread, proc_memory);
}
