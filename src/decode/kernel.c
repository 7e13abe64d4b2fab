/* SPDX-License-Identifier: MIT */
/*
 * Names of the values of fields in the kernel's events: the tables, then the rules, then the code that
 * applies them.
 *
 * The numbers are those of x86 and of asm-generic, not of the machine that reads. Alpha, MIPS, PA-RISC,
 * PowerPC and SPARC have others for some errors and flags; 32-bit and 64-bit ARM for O_DIRECT, O_DIRECTORY,
 * O_NOFOLLOW and O_LARGEFILE.
 */
#include "decode/kernel.h"
#include "schema/parts.h"
#include <string.h>

/* A value of an enumeration, or a flag: it is set if the bits of `mask` are `value`. */
struct number {
  const char *name;
  int64_t value;
  uint64_t mask;
};

enum show { SHOW_LABEL, SHOW_FLAGS, SHOW_OCTAL, SHOW_ADDRESS };
struct table {
  enum show show;
  const struct number *numbers;
};

#define BIT(name, bit) \
  { name, INT64_C(1) << (bit), UINT64_C(1) << (bit) }
#define END \
  { NULL, 0, 0 }
#define TABLE(name, how, ...)                                       \
  static const struct number name##_numbers[] = {__VA_ARGS__, END}; \
  static const struct table name = {how, name##_numbers};

/* ---- tables ---- */

#define E(name, number) \
  { #name, -(number), 0 }
TABLE(errors, SHOW_LABEL, E(EPERM, 1), E(ENOENT, 2), E(ESRCH, 3), E(EINTR, 4), E(EIO, 5), E(ENXIO, 6),
      E(E2BIG, 7), E(ENOEXEC, 8), E(EBADF, 9), E(ECHILD, 10), E(EAGAIN, 11), E(ENOMEM, 12), E(EACCES, 13),
      E(EFAULT, 14), E(ENOTBLK, 15), E(EBUSY, 16), E(EEXIST, 17), E(EXDEV, 18), E(ENODEV, 19), E(ENOTDIR, 20),
      E(EISDIR, 21), E(EINVAL, 22), E(ENFILE, 23), E(EMFILE, 24), E(ENOTTY, 25), E(ETXTBSY, 26), E(EFBIG, 27),
      E(ENOSPC, 28), E(ESPIPE, 29), E(EROFS, 30), E(EMLINK, 31), E(EPIPE, 32), E(EDOM, 33), E(ERANGE, 34),
      E(EDEADLK, 35), E(ENAMETOOLONG, 36), E(ENOLCK, 37), E(ENOSYS, 38), E(ENOTEMPTY, 39), E(ELOOP, 40),
      E(ENOMSG, 42), E(EIDRM, 43), E(ECHRNG, 44), E(EL2NSYNC, 45), E(EL3HLT, 46), E(EL3RST, 47),
      E(ELNRNG, 48), E(EUNATCH, 49), E(ENOCSI, 50), E(EL2HLT, 51), E(EBADE, 52), E(EBADR, 53), E(EXFULL, 54),
      E(ENOANO, 55), E(EBADRQC, 56), E(EBADSLT, 57), E(EBFONT, 59), E(ENOSTR, 60), E(ENODATA, 61),
      E(ETIME, 62), E(ENOSR, 63), E(ENONET, 64), E(ENOPKG, 65), E(EREMOTE, 66), E(ENOLINK, 67), E(EADV, 68),
      E(ESRMNT, 69), E(ECOMM, 70), E(EPROTO, 71), E(EMULTIHOP, 72), E(EDOTDOT, 73), E(EBADMSG, 74),
      E(EOVERFLOW, 75), E(ENOTUNIQ, 76), E(EBADFD, 77), E(EREMCHG, 78), E(ELIBACC, 79), E(ELIBBAD, 80),
      E(ELIBSCN, 81), E(ELIBMAX, 82), E(ELIBEXEC, 83), E(EILSEQ, 84), E(ERESTART, 85), E(ESTRPIPE, 86),
      E(EUSERS, 87), E(ENOTSOCK, 88), E(EDESTADDRREQ, 89), E(EMSGSIZE, 90), E(EPROTOTYPE, 91),
      E(ENOPROTOOPT, 92), E(EPROTONOSUPPORT, 93), E(ESOCKTNOSUPPORT, 94), E(EOPNOTSUPP, 95),
      E(EPFNOSUPPORT, 96), E(EAFNOSUPPORT, 97), E(EADDRINUSE, 98), E(EADDRNOTAVAIL, 99), E(ENETDOWN, 100),
      E(ENETUNREACH, 101), E(ENETRESET, 102), E(ECONNABORTED, 103), E(ECONNRESET, 104), E(ENOBUFS, 105),
      E(EISCONN, 106), E(ENOTCONN, 107), E(ESHUTDOWN, 108), E(ETOOMANYREFS, 109), E(ETIMEDOUT, 110),
      E(ECONNREFUSED, 111), E(EHOSTDOWN, 112), E(EHOSTUNREACH, 113), E(EALREADY, 114), E(EINPROGRESS, 115),
      E(ESTALE, 116), E(EUCLEAN, 117), E(ENOTNAM, 118), E(ENAVAIL, 119), E(EISNAM, 120), E(EREMOTEIO, 121),
      E(EDQUOT, 122), E(ENOMEDIUM, 123), E(EMEDIUMTYPE, 124), E(ECANCELED, 125), E(ENOKEY, 126),
      E(EKEYEXPIRED, 127), E(EKEYREVOKED, 128), E(EKEYREJECTED, 129), E(EOWNERDEAD, 130),
      E(ENOTRECOVERABLE, 131), E(ERFKILL, 132), E(EHWPOISON, 133),
      /* internal to the kernel: the call is restarted */
      E(ERESTARTSYS, 512), E(ERESTARTNOINTR, 513), E(ERESTARTNOHAND, 514), E(ENOIOCTLCMD, 515),
      E(ERESTART_RESTARTBLOCK, 516))

/* Names that contain another one's bits have their own bits here, as in libkymo-calls. */
TABLE(open_flags, SHOW_FLAGS, {"O_RDONLY", 0, 3}, {"O_WRONLY", 1, 3}, {"O_RDWR", 2, 3}, BIT("O_CREAT", 6),
      BIT("O_EXCL", 7), BIT("O_NOCTTY", 8), BIT("O_TRUNC", 9), BIT("O_APPEND", 10), BIT("O_NONBLOCK", 11),
      BIT("O_DSYNC", 12), BIT("O_SYNC", 20), BIT("O_ASYNC", 13), BIT("O_DIRECT", 14), BIT("O_LARGEFILE", 15),
      BIT("O_DIRECTORY", 16), BIT("O_NOFOLLOW", 17), BIT("O_NOATIME", 18), BIT("O_CLOEXEC", 19),
      BIT("O_PATH", 21), BIT("O_TMPFILE", 22))
/* of calls that open no file: without the access mode */
TABLE(pipe_flags, SHOW_FLAGS, BIT("O_NONBLOCK", 11), BIT("O_DIRECT", 14), BIT("O_CLOEXEC", 19))
TABLE(epoll_flags, SHOW_FLAGS, BIT("EPOLL_CLOEXEC", 19))
TABLE(event_flags, SHOW_FLAGS, BIT("EFD_SEMAPHORE", 0), BIT("EFD_NONBLOCK", 11), BIT("EFD_CLOEXEC", 19))
TABLE(timer_flags, SHOW_FLAGS, BIT("TFD_NONBLOCK", 11), BIT("TFD_CLOEXEC", 19))
TABLE(signal_flags, SHOW_FLAGS, BIT("SFD_NONBLOCK", 11), BIT("SFD_CLOEXEC", 19))
TABLE(watch_flags, SHOW_FLAGS, BIT("IN_NONBLOCK", 11), BIT("IN_CLOEXEC", 19))
TABLE(at_flags, SHOW_FLAGS, BIT("AT_SYMLINK_NOFOLLOW", 8), BIT("AT_REMOVEDIR", 9),
      BIT("AT_SYMLINK_FOLLOW", 10), BIT("AT_NO_AUTOMOUNT", 11), BIT("AT_EMPTY_PATH", 12))
TABLE(directories, SHOW_LABEL, {"AT_FDCWD", -100, 0})
static const struct table modes = {SHOW_OCTAL, NULL};

TABLE(families, SHOW_LABEL, {"AF_UNSPEC", 0, 0}, {"AF_UNIX", 1, 0}, {"AF_INET", 2, 0}, {"AF_INET6", 10, 0},
      {"AF_NETLINK", 16, 0}, {"AF_PACKET", 17, 0}, {"AF_BLUETOOTH", 31, 0}, {"AF_ALG", 38, 0},
      {"AF_VSOCK", 40, 0}, {"AF_XDP", 44, 0})
TABLE(sockets, SHOW_FLAGS, {"SOCK_STREAM", 1, 15}, {"SOCK_DGRAM", 2, 15}, {"SOCK_RAW", 3, 15},
      {"SOCK_RDM", 4, 15}, {"SOCK_SEQPACKET", 5, 15}, {"SOCK_DCCP", 6, 15}, {"SOCK_PACKET", 10, 15},
      BIT("SOCK_NONBLOCK", 11), BIT("SOCK_CLOEXEC", 19))
TABLE(socket_flags, SHOW_FLAGS, BIT("SOCK_NONBLOCK", 11), BIT("SOCK_CLOEXEC", 19))
TABLE(message_flags, SHOW_FLAGS, BIT("MSG_OOB", 0), BIT("MSG_PEEK", 1), BIT("MSG_DONTROUTE", 2),
      BIT("MSG_CTRUNC", 3), BIT("MSG_TRUNC", 5), BIT("MSG_DONTWAIT", 6), BIT("MSG_EOR", 7),
      BIT("MSG_WAITALL", 8), BIT("MSG_CONFIRM", 11), BIT("MSG_ERRQUEUE", 13), BIT("MSG_NOSIGNAL", 14),
      BIT("MSG_MORE", 15), BIT("MSG_WAITFORONE", 16), BIT("MSG_ZEROCOPY", 26), BIT("MSG_FASTOPEN", 29),
      BIT("MSG_CMSG_CLOEXEC", 30))
TABLE(hows, SHOW_LABEL, {"SHUT_RD", 0, 0}, {"SHUT_WR", 1, 0}, {"SHUT_RDWR", 2, 0})
static const struct table addresses = {SHOW_ADDRESS, NULL};

TABLE(protections, SHOW_FLAGS, {"PROT_NONE", 0, 7}, BIT("PROT_READ", 0), BIT("PROT_WRITE", 1),
      BIT("PROT_EXEC", 2))
TABLE(map_flags, SHOW_FLAGS, {"MAP_SHARED", 1, 15}, {"MAP_PRIVATE", 2, 15}, {"MAP_SHARED_VALIDATE", 3, 15},
      BIT("MAP_FIXED", 4), BIT("MAP_ANONYMOUS", 5), BIT("MAP_32BIT", 6), BIT("MAP_GROWSDOWN", 8),
      BIT("MAP_LOCKED", 13), BIT("MAP_NORESERVE", 14), BIT("MAP_POPULATE", 15), BIT("MAP_NONBLOCK", 16),
      BIT("MAP_STACK", 17), BIT("MAP_HUGETLB", 18), BIT("MAP_SYNC", 19), BIT("MAP_FIXED_NOREPLACE", 20))
TABLE(advice, SHOW_LABEL, {"MADV_NORMAL", 0, 0}, {"MADV_RANDOM", 1, 0}, {"MADV_SEQUENTIAL", 2, 0},
      {"MADV_WILLNEED", 3, 0}, {"MADV_DONTNEED", 4, 0}, {"MADV_FREE", 8, 0}, {"MADV_REMOVE", 9, 0},
      {"MADV_DONTFORK", 10, 0}, {"MADV_DOFORK", 11, 0}, {"MADV_MERGEABLE", 12, 0},
      {"MADV_UNMERGEABLE", 13, 0}, {"MADV_HUGEPAGE", 14, 0}, {"MADV_NOHUGEPAGE", 15, 0},
      {"MADV_DONTDUMP", 16, 0}, {"MADV_DODUMP", 17, 0}, {"MADV_WIPEONFORK", 18, 0},
      {"MADV_KEEPONFORK", 19, 0}, {"MADV_COLD", 20, 0}, {"MADV_PAGEOUT", 21, 0},
      {"MADV_POPULATE_READ", 22, 0}, {"MADV_POPULATE_WRITE", 23, 0})

TABLE(signals, SHOW_LABEL, {"SIGHUP", 1, 0}, {"SIGINT", 2, 0}, {"SIGQUIT", 3, 0}, {"SIGILL", 4, 0},
      {"SIGTRAP", 5, 0}, {"SIGABRT", 6, 0}, {"SIGBUS", 7, 0}, {"SIGFPE", 8, 0}, {"SIGKILL", 9, 0},
      {"SIGUSR1", 10, 0}, {"SIGSEGV", 11, 0}, {"SIGUSR2", 12, 0}, {"SIGPIPE", 13, 0}, {"SIGALRM", 14, 0},
      {"SIGTERM", 15, 0}, {"SIGSTKFLT", 16, 0}, {"SIGCHLD", 17, 0}, {"SIGCONT", 18, 0}, {"SIGSTOP", 19, 0},
      {"SIGTSTP", 20, 0}, {"SIGTTIN", 21, 0}, {"SIGTTOU", 22, 0}, {"SIGURG", 23, 0}, {"SIGXCPU", 24, 0},
      {"SIGXFSZ", 25, 0}, {"SIGVTALRM", 26, 0}, {"SIGPROF", 27, 0}, {"SIGWINCH", 28, 0}, {"SIGIO", 29, 0},
      {"SIGPWR", 30, 0}, {"SIGSYS", 31, 0})
TABLE(whences, SHOW_LABEL, {"SEEK_SET", 0, 0}, {"SEEK_CUR", 1, 0}, {"SEEK_END", 2, 0}, {"SEEK_DATA", 3, 0},
      {"SEEK_HOLE", 4, 0})
TABLE(file_commands, SHOW_LABEL, {"F_DUPFD", 0, 0}, {"F_GETFD", 1, 0}, {"F_SETFD", 2, 0}, {"F_GETFL", 3, 0},
      {"F_SETFL", 4, 0}, {"F_GETLK", 5, 0}, {"F_SETLK", 6, 0}, {"F_SETLKW", 7, 0}, {"F_SETOWN", 8, 0},
      {"F_GETOWN", 9, 0}, {"F_OFD_GETLK", 36, 0}, {"F_OFD_SETLK", 37, 0}, {"F_OFD_SETLKW", 38, 0},
      {"F_SETLEASE", 1024, 0}, {"F_GETLEASE", 1025, 0}, {"F_DUPFD_CLOEXEC", 1030, 0},
      {"F_SETPIPE_SZ", 1031, 0}, {"F_GETPIPE_SZ", 1032, 0}, {"F_ADD_SEALS", 1033, 0},
      {"F_GET_SEALS", 1034, 0})
TABLE(epoll_commands, SHOW_LABEL, {"EPOLL_CTL_ADD", 1, 0}, {"EPOLL_CTL_DEL", 2, 0}, {"EPOLL_CTL_MOD", 3, 0})
TABLE(futex_commands, SHOW_FLAGS, {"FUTEX_WAIT", 0, 127}, {"FUTEX_WAKE", 1, 127}, {"FUTEX_REQUEUE", 3, 127},
      {"FUTEX_CMP_REQUEUE", 4, 127}, {"FUTEX_WAKE_OP", 5, 127}, {"FUTEX_LOCK_PI", 6, 127},
      {"FUTEX_UNLOCK_PI", 7, 127}, {"FUTEX_TRYLOCK_PI", 8, 127}, {"FUTEX_WAIT_BITSET", 9, 127},
      {"FUTEX_WAKE_BITSET", 10, 127}, {"FUTEX_WAIT_REQUEUE_PI", 11, 127}, {"FUTEX_CMP_REQUEUE_PI", 12, 127},
      {"FUTEX_LOCK_PI2", 13, 127}, BIT("FUTEX_PRIVATE_FLAG", 7), BIT("FUTEX_CLOCK_REALTIME", 8))
TABLE(clocks, SHOW_LABEL, {"CLOCK_REALTIME", 0, 0}, {"CLOCK_MONOTONIC", 1, 0},
      {"CLOCK_PROCESS_CPUTIME_ID", 2, 0}, {"CLOCK_THREAD_CPUTIME_ID", 3, 0}, {"CLOCK_MONOTONIC_RAW", 4, 0},
      {"CLOCK_REALTIME_COARSE", 5, 0}, {"CLOCK_MONOTONIC_COARSE", 6, 0}, {"CLOCK_BOOTTIME", 7, 0},
      {"CLOCK_TAI", 11, 0})
/* The low byte is the signal at the end of the child. */
TABLE(clone_flags, SHOW_FLAGS, {"SIGCHLD", 17, 255}, BIT("CLONE_VM", 8), BIT("CLONE_FS", 9),
      BIT("CLONE_FILES", 10), BIT("CLONE_SIGHAND", 11), BIT("CLONE_PIDFD", 12), BIT("CLONE_PTRACE", 13),
      BIT("CLONE_VFORK", 14), BIT("CLONE_PARENT", 15), BIT("CLONE_THREAD", 16), BIT("CLONE_NEWNS", 17),
      BIT("CLONE_SYSVSEM", 18), BIT("CLONE_SETTLS", 19), BIT("CLONE_PARENT_SETTID", 20),
      BIT("CLONE_CHILD_CLEARTID", 21), BIT("CLONE_CHILD_SETTID", 24), BIT("CLONE_NEWCGROUP", 25),
      BIT("CLONE_NEWUTS", 26), BIT("CLONE_NEWIPC", 27), BIT("CLONE_NEWUSER", 28), BIT("CLONE_NEWPID", 29),
      BIT("CLONE_NEWNET", 30), BIT("CLONE_IO", 31))
TABLE(wait_flags, SHOW_FLAGS, BIT("WNOHANG", 0), BIT("WUNTRACED", 1), BIT("WEXITED", 2), BIT("WCONTINUED", 3),
      BIT("WNOWAIT", 24))
/* Those that are the same in all versions. */
TABLE(task_states, SHOW_LABEL, {"TASK_RUNNING", 0, 0}, {"TASK_INTERRUPTIBLE", 1, 0},
      {"TASK_UNINTERRUPTIBLE", 2, 0}, {"TASK_STOPPED", 4, 0}, {"TASK_TRACED", 8, 0})

/* ---- rules ---- */

/* The words of `events` are names of events, or of system calls; NULL: any. The first rule that fits is
 * used. */
enum where { ENTRY, EXIT, CALL, EVENT };
static const struct rule {
  enum where where;
  const char *events, *fields;
  const struct table *table;
} rules[] = {
    {EXIT, NULL, "ret", &errors},
    {CALL, "open openat", "flags", &open_flags},
    {CALL, "pipe2 dup3", "flags", &pipe_flags},
    {CALL, "epoll_create1", "flags", &epoll_flags},
    {CALL, "eventfd2", "flags", &event_flags},
    {CALL, "timerfd_create", "flags", &timer_flags},
    {CALL, "signalfd4", "flags", &signal_flags},
    {CALL, "inotify_init1", "flags", &watch_flags},
    {CALL, "unlinkat fchownat newfstatat fstatat64 linkat utimensat execveat statx name_to_handle_at",
     "flag flags", &at_flags},
    {CALL, NULL, "dfd olddfd newdfd", &directories},
    {CALL, "open openat creat mkdir mkdirat mknod mknodat chmod fchmod fchmodat mq_open", "mode", &modes},
    {CALL, "umask", "mask", &modes},
    {CALL, "socket socketpair connect accept accept4", "family", &families},
    {CALL, "socket socketpair", "type", &sockets},
    {CALL, "accept4", "flags", &socket_flags},
    {CALL, "send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg", "flags", &message_flags},
    {CALL, "shutdown", "how", &hows},
    {CALL, NULL, "v4addr v6addr", &addresses},
    {CALL, "mmap mmap2 mmap_pgoff mprotect pkey_mprotect", "prot", &protections},
    {CALL, "mmap mmap2 mmap_pgoff", "flags", &map_flags},
    {CALL, "madvise", "behavior", &advice},
    {CALL, "kill tkill tgkill rt_sigaction rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal", "sig",
     &signals},
    {CALL, "lseek llseek", "whence", &whences},
    {CALL, "fcntl fcntl64", "cmd", &file_commands},
    {CALL, "epoll_ctl", "op", &epoll_commands},
    {CALL, "futex futex_time64 futex_time32", "op", &futex_commands},
    {CALL, "clock_gettime clock_settime clock_getres clock_nanosleep clock_adjtime timer_create",
     "which_clock", &clocks},
    {CALL, "timerfd_create", "clockid", &clocks},
    {CALL, "clone", "clone_flags", &clone_flags},
    {CALL, "unshare", "unshare_flags", &clone_flags},
    {CALL, "wait4 waitid", "options", &wait_flags},
    {EVENT, "signal_generate signal_deliver", "sig", &signals},
    {EVENT, "sched_switch", "prev_state", &task_states},
    {EVENT, "block_rq_complete block_bio_complete block_rq_requeue", "error errors", &errors},
    /* within the headers of packets */
    {EVENT, "net_dev_queue net_if_receive_skb net_if_rx netif_receive_skb netif_rx", "saddr daddr",
     &addresses},
};

/* ---- applying them ---- */

struct kymo_kernel_names kymo_kernel_names_begin(struct kymo_arena *arena, const struct kymo_schema *schema) {
  const struct kymo_environment *domain = kymo_schema_environment(schema, "domain");
  const struct kymo_environment *tracer = kymo_schema_environment(schema, "tracer_name");
  return (struct kymo_kernel_names){
      .arena = arena,
      .schema = schema,
      .is_kernel = (domain && domain->text && strcmp(domain->text, "kernel") == 0) ||
                   (tracer && tracer->text && strcmp(tracer->text, "lttng-modules") == 0)};
}

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
      return true;
  }
  return false;
}

/* The system call of an event, and whether it is its entry or exit; else the event's own name. */
static const char *call_of(const char *name, enum where *where) {
  static const char entry[] = "syscall_entry_", exit[] = "syscall_exit_", compat[] = "compat_";
  const char *call = strncmp(name, compat, sizeof compat - 1) == 0 ? name + sizeof compat - 1 : name;
  *where = strncmp(call, entry, sizeof entry - 1) == 0 ? ENTRY
           : strncmp(call, exit, sizeof exit - 1) == 0 ? EXIT
                                                       : EVENT;
  return *where == ENTRY ? call + sizeof entry - 1 : *where == EXIT ? call + sizeof exit - 1 : name;
}

static bool is_plain_integer(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER && !type->is_enumeration && type->mapping_count == 0 &&
         !type->is_address && type->encoding == KYMO_ENCODING_NONE;
}

/* 4 or 16 bytes, one by one or by twos. */
static bool is_address(const struct kymo_type *type) {
  const struct kymo_type *element = type->element;
  return (type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE) && is_plain_integer(element) &&
         !element->is_signed && (element->size_bits == 8 || element->size_bits == 16);
}

static const struct table *find_table(const char *call, enum where where, const char *field,
                                      const struct kymo_type *type) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const struct rule *rule = &rules[i];
    bool is_there = rule->where == where || (rule->where == CALL && where != EVENT);
    if (!is_there || (rule->events && !has_word(rule->events, call)) || !has_word(rule->fields, field))
      continue;
    bool fits = rule->table->show == SHOW_ADDRESS ? is_address(type) : is_plain_integer(type);
    if (rule->table ==
        &errors) /* unsigned in calls that return addresses: as 64-bit values, errors are the last ones */
      fits = fits && (type->is_signed || type->size_bits == 64);
    return fits ? rule->table : NULL;
  }
  return NULL;
}

/* Adds the runs of bits that are 1, counted from `first`. */
static void add_bits(struct kymo_type *type, struct kymo_mapping *mappings, const char *name, uint64_t bits,
                     uint64_t first) {
  for (uint64_t low = 0; low < 64; low++) {
    if (!(bits >> low & 1))
      continue;
    uint64_t high = low;
    while (high < 63 && bits >> (high + 1) & 1)
      high++;
    mappings[type->mapping_count++] = (struct kymo_mapping){name, first + low, first + high};
    low = high;
  }
}

/* The meaning of flags of several bits is in their mappings: struct kymo_mapping. */
static void add_mappings(struct kymo_type *type, struct kymo_mapping *mappings, const struct table *table) {
  for (const struct number *number = table->numbers; number->name; number++) {
    uint64_t value = (uint64_t)number->value;
    if (table->show == SHOW_LABEL) {
      mappings[type->mapping_count++] = (struct kymo_mapping){number->name, value, value};
      continue;
    }
    add_bits(type, mappings, number->name, value, 0);
    add_bits(type, mappings, number->name, number->mask & ~value, 64);
  }
}

/* Flags have at most one run of ones and of zeros for every two of their bits. */
#define MAPPINGS_MAX 256

static const struct kymo_type *make_type(struct kymo_kernel_names *names, const struct kymo_type *of,
                                         const struct table *table) {
  struct kymo_mapping mappings[MAPPINGS_MAX], *kept;
  struct kymo_type *type = kymo_arena_alloc(names->arena, sizeof *type);
  if (!type)
    return NULL;
  *type = *of;
  type->id = names->schema->type_count + names->count;
  if (table->show == SHOW_ADDRESS)
    type->is_address = true;
  else if (table->show == SHOW_OCTAL)
    type->base = 8;
  if (!table->numbers)
    return type;
  add_mappings(type, mappings, table);
  kept = kymo_arena_array(names->arena, type->mapping_count, sizeof *kept);
  if (!kept)
    return NULL;
  memcpy(kept, mappings, type->mapping_count * sizeof *kept);
  type->mappings = kept;
  /* not an enumeration: numbers without a name are equally valid */
  if (table->show == SHOW_FLAGS) {
    type->kind = KYMO_KIND_BITMAP;
    type->is_signed = false;
  }
  return type;
}

static const struct kymo_type *type_of(struct kymo_kernel_names *names, const struct kymo_type *of,
                                       const struct table *table) {
  for (uint32_t i = 0; i < names->count; i++)
    if (names->types[i].of == of && names->types[i].table == table)
      return names->types[i].shown;
  if (names->count == names->capacity) {
    uint32_t capacity = names->capacity ? names->capacity * 2 : 32;
    struct kymo_kernel_type *types = kymo_arena_array(names->arena, capacity, sizeof *types);
    if (!types)
      return NULL;
    if (names->count)
      memcpy(types, names->types, names->count * sizeof *types);
    names->types = types;
    names->capacity = capacity;
  }
  const struct kymo_type *shown = make_type(names, of, table);
  if (shown)
    names->types[names->count++] = (struct kymo_kernel_type){of, shown, table};
  return shown;
}

const struct kymo_type *kymo_kernel_shown(struct kymo_kernel_names *names,
                                          const struct kymo_event_class *class_, const char *field,
                                          const struct kymo_type *type) {
  enum where where;
  if (!names->is_kernel || !class_->name || !field)
    return NULL;
  const char *call = call_of(class_->name, &where);
  const struct table *table = find_table(call, where, field, type);
  return table ? type_of(names, type, table) : NULL;
}
