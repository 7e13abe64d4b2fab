/* SPDX-License-Identifier: MIT */
/*
 * The pool: a directory of this process with the pool file and the description of what its rings hold.
 *
 * The file is sparse and mapped whole, without access. A slot becomes accessible and receives memory when a
 * thread claims it for the first time, by MADV_POPULATE_WRITE: that reports a full file system where a plain
 * store would raise SIGBUS, and needs no descriptor, which may be closed or reused by then (daemons, chroot,
 * seccomp).
 *
 * pool_state is pid << 2 | step, so that a forked child sees at once that the pool is not its own, whatever
 * call created the child. The child's own pool is made by its first event, with system calls alone.
 */
#include "base/tsan.h"
#include "record/session.h"
#include "ring/clocks.h"
#include "ring/life.h"
#include "ring/pools.h"
#include "ring/ring.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum step { STEP_NONE, STEP_MAKING, STEP_READY, STEP_FAILED };
enum {
  SLOTS_MAX = 4096,
  SLOTS_SPREAD =
      16, /* short-lived threads reuse this many slots in turn, or their events would soon be overwritten
           * or lost */
  POOLS_KEPT = 8, /* of one program, this process's included */
};
static const uint64_t POOL_MAX = sizeof(void *) > 4 ? UINT64_C(1) << 36 : UINT64_C(1) << 27;

bool kymo_pool_is_ours(void) {
  /* word 0 is zero in a child; partner: the end of make */
  return kymo_session_.pool.ends && __atomic_load_n(&kymo_session_.pool.ends[0], __ATOMIC_ACQUIRE);
}

/* ---- sizes ---- */

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static void choose_sizes(struct kymo_pool *pool, struct kymo_pool_header *h) {
  uint32_t ring = kymo_session_.options.buffer_bytes;
  h->packets = 16;
  h->packet_size = ring / h->packets;
  if (h->packet_size < 4096)
    h->packet_size = 4096;
  if (h->packet_size > KYMO_PACKET_SIZE_MAX)
    h->packet_size = KYMO_PACKET_SIZE_MAX;
  h->packets = ring / h->packet_size;
  h->alternate_packets = 4;
  uint64_t packets = h->packets + h->alternate_packets, page = (uint64_t)sysconf(_SC_PAGESIZE);
  h->control_size = (uint32_t)round_up(
      sizeof(struct kymo_slot_control) + packets * sizeof(struct kymo_packet_control), page);
  h->slot_size = round_up(h->control_size + packets * h->packet_size, page);
  h->header_size = (uint32_t)page;
  uint64_t room = POOL_MAX;
  struct rlimit limit;
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / 4 < room)
    room = limit.rlim_cur / 4;
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < room)
    room = limit.rlim_cur;
  uint64_t slots = room > h->header_size ? (room - h->header_size) / h->slot_size : 0;
  h->slots = slots < SLOTS_MAX ? (uint32_t)slots : SLOTS_MAX;
  *pool = (struct kymo_pool){.size = h->header_size + h->slots * h->slot_size,
                             .slot_size = h->slot_size,
                             .slots = h->slots,
                             .packet_size = h->packet_size,
                             .control_size = h->control_size};
}

/* ---- text without snprintf, for the slow path ---- */

static char *put_text(char *at, const char *end, const char *text) {
  while (*text && at + 1 < end)
    *at++ = *text++;
  *at = 0;
  return at;
}

static char *put_number(char *at, const char *end, uint32_t n) {
  char digits[12], *d = digits + sizeof digits - 1;
  *d = 0;
  do
    *--d = (char)('0' + n % 10);
  while (n /= 10);
  return put_text(at, end, d);
}

static bool make_directory(struct kymo_pool *pool, int pid) {
  const char *end = pool->directory + sizeof pool->directory;
  char *at = put_text(pool->directory, end, kymo_session_.base);
  at = put_text(at, end, "/");
  at = put_text(at, end, kymo_session_.program);
  at = put_text(at, end, "-");
  at = put_number(at, end, (uint32_t)pid);
  for (uint32_t again = 1; mkdir(pool->directory, 0700); again++) { /* the pid is in use: left by this
                                                                     * process before an exec */
    if (errno != EEXIST || again > 1000)
      return false;
    put_number(put_text(at, end, "."), end, again);
  }
  return true;
}

enum { INSIDE_MAX = KYMO_PATH_MAX + 16 };

static const char *inside(char path[INSIDE_MAX], const struct kymo_pool *pool, const char *name) {
  const char *end = path + INSIDE_MAX;
  put_text(put_text(put_text(path, end, pool->directory), end, "/"), end, name);
  return path;
}

static int open_in(const struct kymo_pool *pool, const char *name, int flags) {
  char path[INSIDE_MAX];
  return open(inside(path, pool, name), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* ---- making ---- */

static void *anonymous(uint64_t size) {
  void *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return m == MAP_FAILED ? NULL : m;
}

static bool map_private(struct kymo_pool *pool) {
  pool->rings = anonymous((uint64_t)pool->slots * 2 * sizeof *pool->rings);
  pool->slot = anonymous((uint64_t)pool->slots * sizeof *pool->slot);
  uint64_t ends = ((uint64_t)pool->slots * 2 + 1) * KYMO_ENDS_STRIDE * sizeof *pool->ends;
  pool->ends = anonymous(ends);
  if (!pool->rings || !pool->slot || !pool->ends)
    return false;
  return !madvise(pool->ends, ends, MADV_WIPEONFORK);
}

/* The lock that shows that this process lives; the mapping keeps it. It fails on file systems that map
 * another file than the opened one. */
static bool is_locked(const struct kymo_pool *pool) {
  int fd = open_in(pool, KYMO_POOL_FILE, O_RDONLY);
  bool is = fd >= 0 && kymo_life_by_lock(fd) == KYMO_LIFE_ALIVE;
  if (fd >= 0)
    close(fd);
  return is;
}

static bool map_file(struct kymo_pool *pool, struct kymo_pool_header *h) {
  int fd = open_in(pool, KYMO_POOL_FILE, O_RDWR | O_CREAT | O_EXCL);
  if (fd < 0)
    return false;
  /* the header's page is allocated before anything is stored in it; the length of a sparse file guarantees no
   * space */
  int failed = posix_fallocate(fd, 0, h->header_size);
  if (failed)
    errno = failed;
  bool holds = !failed && kymo_life_hold(fd);
  if (!failed && !ftruncate(fd, (off_t)pool->size)) {
    void *m = mmap(NULL, pool->size, PROT_NONE, MAP_SHARED, fd, 0);
    if (m != MAP_FAILED)
      pool->header = m;
  }
  int reason = errno;
  close(fd);
  h->is_locked = holds && is_locked(pool);
  errno = reason;
  return pool->header && !mprotect(pool->header, h->header_size, PROT_READ | PROT_WRITE);
}

static void fill_header(struct kymo_pool *pool, struct kymo_pool_header *h, int pid) {
  h->version = KYMO_POOL_VERSION;
  h->mode = kymo_session_.options.mode;
  h->pid = pid;
  if (!kymo_process_start_time(pid, &h->start_time))
    h->start_time = 0; /* unknown */
  h->pid_namespace = kymo_pid_namespace();
  memcpy(h->name, kymo_session_.program, sizeof h->name);
  h->start_clock = kymo_session_clock_read(&kymo_session_.clock);
  h->wakes = 1;
  *pool->header = *h;
  __atomic_store_n(&pool->header->magic, KYMO_POOL_MAGIC, __ATOMIC_RELEASE);
}

static bool write_description(const struct kymo_pool *pool, const uint8_t uuid[16], int pid) {
  char path[INSIDE_MAX];
  struct kymo_pool_file files[KYMO_POOL_FILES + 1];
  kymo_description_files(uuid, pid, files);
  files[KYMO_POOL_FILES] = kymo_modules_file();
  if (mkdir(inside(path, pool, KYMO_HIDDEN), 0700))
    return false;
  for (int i = 0; i < KYMO_POOL_FILES + 1; i++) {
    int fd = open_in(pool, files[i].name, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
      return false;
    bool whole = write(fd, files[i].bytes, files[i].written) == (ssize_t)files[i].written;
    close(fd);
    if (!whole)
      return false;
  }
  return true;
}

/* The current clocks are the first entry of the list of clock snapshots. */
static bool write_clocks(const struct kymo_pool *pool) {
  if (kymo_session_.clock.is_none)
    return true;
  struct kymo_clocks_head head = {.is_counter = kymo_session_.clock.is_counter,
                                  .frequency = kymo_session_.clock.frequency};
  struct kymo_clock_snapshot now;
  char text[KYMO_CLOCKS_HEAD_MAX + KYMO_CLOCKS_LINE_MAX];
  memcpy(head.host, kymo_session_.host, sizeof head.host);
  int reason = kymo_boot_id(head.boot);
  if (reason && reason != ENOENT) /* else it has no /proc */
    kymo_warn("traces will have no clock snapshots: cannot read " KYMO_BOOT_ID_FILE ": ",
              strerrordesc_np(reason), NULL);
  kymo_clocks_look(head.is_counter, &now);
  size_t length = kymo_clocks_put_head(text, &head);
  length += kymo_clocks_put(text + length, &now);
  int fd = open_in(pool, KYMO_HIDDEN_CLOCKS, O_WRONLY | O_CREAT | O_EXCL);
  if (fd < 0)
    return false;
  bool whole = write(fd, text, length) == (ssize_t)length;
  close(fd);
  return whole;
}

/* The part that needs only system calls. Call with the registry's lock held. */
static bool make(int pid) {
  struct kymo_pool *pool = &kymo_session_.pool;
  struct kymo_pool_header h = {0};
  choose_sizes(pool, &h);
  if (!pool->slots)
    errno = EFBIG;
  if (!pool->slots || syscall(SYS_getrandom, h.uuid, sizeof h.uuid, 0) != sizeof h.uuid)
    return false;
  h.uuid[6] = (uint8_t)((h.uuid[6] & 0x0f) | 0x40); /* version 4 */
  h.uuid[8] = (uint8_t)((h.uuid[8] & 0x3f) | 0x80);
  if (!make_directory(pool, pid))
    return false;
  if (!map_private(pool) || !map_file(pool, &h) || !write_description(pool, h.uuid, pid) ||
      !write_clocks(pool)) {
    int reason = errno;
    kymo_pool_delete(pool->directory);
    if (pool->header)
      munmap(pool->header, pool->size);
    pool->header = NULL;
    errno = reason;
    return false;
  }
  fill_header(pool, &h, pid);
  __atomic_store_n(&pool->ends[0], 1, __ATOMIC_RELEASE);
  return true;
}

/* Another user has the name of the usual directory: the rings are elsewhere, which users should know. */
static void warn_taken(void) {
  char taken[KYMO_PATH_MAX], user[12];
  unsigned owner;
  size_t length;
  if (kymo_session_.options.rings || !kymo_place_is_taken(taken, &owner))
    return;
  length = strlen(taken);
  if (!strncmp(kymo_session_.base, taken, length) && kymo_session_.base[length] == '-') {
    put_number(user, user + sizeof user, owner);
    kymo_warn(taken, " belongs to user ", user, "; the rings are in ", kymo_session_.base, NULL);
  }
}

static bool prepare(void) {
  static bool prepared; /* a forked child inherits all this */
  if (prepared)
    return true;
  if (!kymo_pool_base(kymo_session_.base, kymo_session_.options.rings))
    return false;
  warn_taken();
  char machine[KYMO_PATH_MAX]; /* one calibration for all pools, wherever they are */
  bool shared = kymo_pool_base(machine, NULL);
  kymo_session_clock_start(&kymo_session_.clock, kymo_session_.options.clock, shared ? machine : NULL);
  if (kymo_session_.options.origin)
    kymo_session_clock_take_origin(&kymo_session_.clock, kymo_session_.options.origin, false);
  if (!kymo_session_.options.keep_all)
    kymo_pool_clean(kymo_session_.base, kymo_session_.program, POOLS_KEPT - 1);
  kymo_modules_begin();
  return prepared = kymo_description_start();
}

/* The parent's mappings stay: an event interrupted by the handler that forked may still be stored there. */
void kymo_pool_forget(void) { memset(&kymo_session_.pool, 0, sizeof kymo_session_.pool); }

void kymo_pool_retry(void) {
  uint32_t failed = (uint32_t)getpid() << 2 | STEP_FAILED;
  __atomic_compare_exchange_n(&kymo_session_.pool_state, &failed, 0, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

bool kymo_pool_make(bool from_slow_path) {
  static int reason; /* of the last failure */
  uint32_t pid = (uint32_t)getpid(), *state = &kymo_session_.pool_state;
  uint32_t seen = __atomic_load_n(state, __ATOMIC_ACQUIRE); /* partner: the store below */
  /* a thread in the slow path leaves it soon, since this thread has the lock */
  while (!from_slow_path && seen == (pid << 2 | STEP_MAKING)) {
    sched_yield();
    seen = __atomic_load_n(state, __ATOMIC_ACQUIRE);
  }
  while (seen >> 2 != pid || (seen & 3) == STEP_NONE) {
    if (!__atomic_compare_exchange_n(state, &seen, pid << 2 | STEP_MAKING, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_ACQUIRE))
      continue;
    bool locked = !from_slow_path || kymo_try_lock(), made = false;
    if (locked) {
      if (seen >> 2)
        kymo_pool_forget(); /* our parent's */
      made = (from_slow_path || prepare()) && make((int)pid);
      reason = errno;
      if (!made)
        kymo_warn("not tracing: no rings in ", kymo_session_.base, ": ", strerrordesc_np(reason), NULL);
      if (from_slow_path)
        kymo_unlock();
      else if (made)
        kymo_service_start(KYMO_SERVICE_RINGS);
    }
    /* without the lock: the next event tries again */
    seen = pid << 2 | (made ? STEP_READY : locked ? STEP_FAILED : STEP_NONE);
    __atomic_store_n(state, seen, __ATOMIC_RELEASE);
    errno = reason;
    return made;
  }
  errno = reason;
  return (seen & 3) == STEP_READY;
}

bool kymo_pool_append(const struct kymo_pool_file *file) {
  size_t length = file->length - file->written;
  int fd = open_in(&kymo_session_.pool, file->name, O_WRONLY);
  if (fd < 0)
    return false;
  bool whole = pwrite(fd, file->bytes + file->written, length, (off_t)file->written) == (ssize_t)length;
  int reason = errno;
  if (!whole && ftruncate(fd, (off_t)file->written))
    reason = errno; /* a partial write ends the file until the next try */
  close(fd);
  errno = reason;
  return whole;
}

/* ---- slots ---- */

/* Allocates the memory of a slot. Before Linux 5.14 it allocates in the file. Several threads may do this for
 * one slot while one of them already traces into it, so nothing is stored (posix_fallocate would store where
 * a file system cannot allocate). */
static bool populate(uint32_t slot) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint64_t at = pool->header->header_size + slot * pool->slot_size;
  char *memory = (char *)pool->header + at;
  if (mprotect(memory, pool->slot_size, PROT_READ | PROT_WRITE))
    return false;
  if (!madvise(memory, pool->slot_size, MADV_POPULATE_WRITE))
    return true;
  if (errno != EINVAL)
    return false;
  int fd = open_in(pool, KYMO_POOL_FILE, O_RDWR);
  if (fd < 0)
    return false;
  bool there = !fallocate(fd, 0, (off_t)at, (off_t)pool->slot_size);
  close(fd);
  return there;
}

static void point_ring_at_slot(uint32_t slot, uint32_t alternate) {
  struct kymo_pool *pool = &kymo_session_.pool;
  struct kymo_ring_writer *ring = &pool->rings[slot * 2 + alternate];
  const struct kymo_pool_header *h = pool->header;
  unsigned char *base = (unsigned char *)pool->header + h->header_size + slot * pool->slot_size;
  struct kymo_slot_control *control = (struct kymo_slot_control *)(void *)base;
  ring->packet = control->packet + (alternate ? h->packets : 0);
  ring->packets = alternate ? h->alternate_packets : h->packets;
  ring->data = base + pool->control_size + (alternate ? (uint64_t)h->packets * pool->packet_size : 0);
  ring->hot.end = &pool->ends[(slot * 2 + alternate + 1) * KYMO_ENDS_STRIDE];
  ring->hot.shared = &control->ring[alternate].shared;
  /* release: the rest comes first; partner: kymo_writer_poison */
  __atomic_store_n(&ring->control, &control->ring[alternate], __ATOMIC_RELEASE);
}

static void raise_slots_used(uint32_t to) {
  uint32_t *used = &kymo_session_.pool.header->slots_used, seen = __atomic_load_n(used, __ATOMIC_RELAXED);
  /* release: the slot's control is in place; partner: kymo_pool_slots */
  while (seen < to &&
         !__atomic_compare_exchange_n(used, &seen, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

/*
 * Takes the slot from `seen` to used; false if another thread was faster, or there is no space (*full).
 *
 * A slot has its memory before a thread takes it, and choose skips no new slot, so all slots below slots_used
 * have memory: readers may access each of them. A hole that a full file system cannot fill would raise
 * SIGBUS.
 */
static bool take(uint32_t slot, uint32_t seen, bool *full) {
  struct kymo_pool *pool = &kymo_session_.pool;
  if (seen == KYMO_SLOT_NEW && !populate(slot)) {
    *full = true;
    return false;
  }
  /* acquire: the former owner's stores to the ring are done; partner: kymo_pool_give_back */
  if (!__atomic_compare_exchange_n(&pool->slot[slot].state, &seen, KYMO_SLOT_USED, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return false;
  kymo_tsan_acquire(&pool->slot[slot]);
  if (seen != KYMO_SLOT_NEW)
    return true;
  point_ring_at_slot(slot, 0);
  point_ring_at_slot(slot, 1);
  raise_slots_used(slot + 1);
  return true;
}

/* The slot that has been free for longest, or a new one while there are few; -1: there is neither. */
static int choose(bool full, uint32_t *state) {
  struct kymo_pool *pool = &kymo_session_.pool;
  int rested = -1, unused = -1;
  uint32_t rest = 0, now = __atomic_load_n(&pool->releases, __ATOMIC_RELAXED), slot = 0;
  for (; slot < pool->slots && unused < 0; slot++) {
    uint32_t seen = __atomic_load_n(&pool->slot[slot].state, __ATOMIC_RELAXED);
    uint32_t since = now - __atomic_load_n(&pool->slot[slot].released, __ATOMIC_RELAXED);
    if (seen == KYMO_SLOT_NEW)
      unused = (int)slot;
    else if (seen == KYMO_SLOT_FREE && (rested < 0 || since > rest))
      rested = (int)slot, rest = since;
  }
  if (full || (rested >= 0 && unused >= SLOTS_SPREAD))
    unused = -1;
  *state = unused >= 0 ? KYMO_SLOT_NEW : KYMO_SLOT_FREE;
  return unused >= 0 ? unused : rested;
}

/* The slot of a thread that ended without releasing it: it traced after its last destructor, or never ran
 * them. -1: there is none. */
static int take_from_the_dead(int32_t self) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint32_t used = __atomic_load_n(&pool->header->slots_used, __ATOMIC_RELAXED);
  for (uint32_t slot = 0; slot < used; slot++) {
    int32_t tid = __atomic_load_n(&pool->slot[slot].tid, __ATOMIC_RELAXED);
    bool dead = tid && (tid == self || (syscall(SYS_tgkill, pool->header->pid, tid, 0) && errno == ESRCH));
    if (dead && __atomic_compare_exchange_n(&pool->slot[slot].tid, &tid, self, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED))
      return (int)slot;
  }
  return -1;
}

int kymo_pool_claim(void) {
  struct kymo_pool *pool = &kymo_session_.pool;
  bool full = false;
  /* a child of vfork uses its parent's slot, so its end does not free the slot */
  int32_t self = getpid() == pool->header->pid ? (int32_t)syscall(SYS_gettid) : 0;
  for (;;) {
    uint32_t state;
    int slot = choose(full, &state), dead = -1;
    if (self && (slot < 0 || (slot >= SLOTS_SPREAD && state == KYMO_SLOT_NEW)))
      dead = take_from_the_dead(self);
    if (dead >= 0)
      return dead;
    if (slot >= 0 && !take((uint32_t)slot, state, &full)) {
      if (full)
        kymo_warn("no space for more rings in ", pool->directory, "; the events of some threads are lost",
                  NULL);
      continue;
    }
    if (slot >= 0) /* partner: take_from_the_dead */
      __atomic_store_n(&pool->slot[slot].tid, self, __ATOMIC_RELEASE);
    return slot;
  }
}

/* Whether a thread that takes this ring has space for a while. */
static bool is_half_empty(const struct kymo_ring_writer *ring) {
  uint64_t opened = __atomic_load_n(&ring->control->opened, __ATOMIC_RELAXED);
  return opened - __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED) <= ring->packets / 2;
}

/* Reserves one more slot within the limit of growth. */
static bool grow(uint64_t most) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint64_t grown = __atomic_add_fetch(&pool->grown, pool->slot_size, __ATOMIC_RELAXED);
  if (grown <= most)
    return true;
  __atomic_sub_fetch(&pool->grown, pool->slot_size, __ATOMIC_RELAXED);
  return false;
}

int kymo_pool_claim_more(void) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint64_t most = __atomic_load_n(&kymo_session_.grow_bytes, __ATOMIC_RELAXED);
  bool full = false, may_grow = most && getpid() == pool->header->pid;
  for (uint32_t slot = 0; may_grow && !full && slot < pool->slots; slot++) {
    uint32_t state = __atomic_load_n(&pool->slot[slot].state, __ATOMIC_ACQUIRE);
    bool is_new = state == KYMO_SLOT_NEW;
    if (state == KYMO_SLOT_USED || (!is_new && !is_half_empty(&pool->rings[slot * 2])))
      continue;
    if (is_new && !grow(most))
      return -1;
    if (take(slot, state, &full)) {
      __atomic_store_n(&pool->slot[slot].tid, (int32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
      return (int)slot;
    }
    if (is_new)
      __atomic_sub_fetch(&pool->grown, pool->slot_size, __ATOMIC_RELAXED);
  }
  return -1;
}

void kymo_pool_give_back(uint32_t slot) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint32_t now = __atomic_add_fetch(&pool->releases, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->slot[slot].released, now, __ATOMIC_RELAXED);
  kymo_tsan_release(&pool->slot[slot]);
  __atomic_store_n(&pool->slot[slot].tid, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->slot[slot].state, KYMO_SLOT_FREE, __ATOMIC_RELEASE); /* partner: take */
}
