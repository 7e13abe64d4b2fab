/* SPDX-License-Identifier: MIT */
/*
 * The slow path of an event: the thread's first one, a full packet, another clock, or an event of a signal
 * handler that interrupted one of its own thread.
 *
 *   kymo_self_.ring ──► boot ring (always full) ── first event ──► main ring of a slot
 *   kymo_self_.busy ──► 0: idle
 *                       even: stack pointer of the event in progress in the main ring
 *                       odd:  the same of a handler's event in the alternate ring; its ring's `outer` holds
 * the interrupted one
 *
 * An event in progress whose stack frame is gone (siglongjmp out of a handler) is abandoned: its ring's
 * position has not moved, so no reader sees any of it.
 *
 * Only a ring's owner opens and closes its packets. Closing sets the entry's `closed` before the public word
 * moves on; opening stores the entry's `sequence` last; see kymo_ring_copy for the other side.
 */
#include "base/tsan.h"
#include "base/utf8.h"
#include "record/session.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

static uint32_t always_full; /* stays 0 */
static struct kymo_ring boot_ring = {.end = &always_full};
__thread struct kymo_thread kymo_self_ __attribute__((tls_model("initial-exec"))) = {.ring = &boot_ring};

/* State of a thread that only the slow path uses. */
static __thread struct {
  int32_t slot; /* of the pool below */
  bool has_slot;
  uint32_t refused_at; /* kymo_pool.releases when no slot was free */
  bool refused;
  uint32_t full_for; /* this many more events find the ring full before the next search for another one */
} own __attribute__((tls_model("initial-exec")));

static pthread_key_t exit_key;
static bool has_exit_key;

static struct kymo_ring_writer *writer_of(struct kymo_ring *ring) {
  return (struct kymo_ring_writer *)(void *)ring;
}

/* ---- packets ---- */

static void close_packet(struct kymo_ring_writer *ring) {
  if (!ring->is_open)
    return;
  struct kymo_packet_control *packet = &ring->packet[(ring->opened - 1) & (ring->packets - 1)];
  packet->end = ring->control->shared.last;
  packet->discarded = __atomic_load_n(&ring->control->discarded, __ATOMIC_RELAXED);
  packet->discarded_large = (uint32_t)__atomic_load_n(&ring->control->discarded_large, __ATOMIC_RELAXED);
  packet->discarded_nested = (uint32_t)__atomic_load_n(&ring->control->discarded_nested, __ATOMIC_RELAXED);
  /* release: the fields above come first; partner: kymo_ring_copy */
  __atomic_store_n(&packet->closed, ring->control->shared.word, __ATOMIC_RELEASE);
  ring->first_event = ring->hot.word >> 16;
  ring->is_open = false;
  __atomic_store_n(ring->hot.end, 0, __ATOMIC_RELAXED);
}

/* False: the ring is full (discard mode). */
static bool open_packet(struct kymo_ring_writer *ring, uint64_t time) {
  const struct kymo_pool_header *h = kymo_session_.pool.header;
  uint64_t number = ring->opened;
  /* acquire: the reader's copies are done; partner: kymo_ring_release */
  if (__atomic_load_n(&h->mode, __ATOMIC_RELAXED) == KYMO_MODE_DISCARD && /* partner: kymo_switch_mode */
      number - __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE) >= ring->packets)
    return false;
  uint64_t index = number & (ring->packets - 1);
  struct kymo_packet_control *packet = &ring->packet[index];
  if (number >= ring->packets &&
      number - ring->packets >= __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED))
    __atomic_store_n(&ring->control->overwritten,
                     ring->control->overwritten + (packet->closed >> 16) - packet->first_event,
                     __ATOMIC_RELAXED); /* partner: kymo stat */
  __atomic_store_n(&packet->sequence, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees a store below also sees the 0 when it
                                            * checks again; partner: kymo_ring_copy */
  __atomic_store_n(&packet->closed, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&packet->begin, time, __ATOMIC_RELAXED); /* partner: kymo_writer_poison */
  packet->end = time;
  packet->first_event = ring->first_event;
  packet->discarded = __atomic_load_n(&ring->control->discarded, __ATOMIC_RELAXED);
  /* partner: kymo_ring_discarded_before */
  __atomic_store_n(&packet->discarded_before, packet->discarded, __ATOMIC_RELAXED);
  packet->tid = (int32_t)syscall(SYS_gettid);
  prctl(PR_GET_NAME, packet->thread_name, 0, 0, 0);
  uint64_t word = ring->first_event << 16 | KYMO_PACKET_HEADER_SIZE;
  /* release: `closed` of the previous packet comes first; partner: kymo_ring_copy */
  __atomic_store_n(&ring->control->shared.word, word, __ATOMIC_RELEASE);
  __atomic_store_n(&packet->sequence, number + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->control->opened, number + 1, __ATOMIC_RELEASE); /* partner: kymo_ring_range */
  ring->opened = number + 1;
  ring->is_open = true;
  ring->limit = kymo_session_.pool.packet_size - KYMO_PACKET_SLACK;
  ring->hot.packet = ring->data + index * kymo_session_.pool.packet_size;
  ring->hot.word = word;
  __atomic_store_n(ring->hot.end, kymo_session_.clock.is_counter ? ring->limit : 0, __ATOMIC_RELAXED);
  return true;
}

/* Wakes a reader that sleeps until there is a closed packet. */
static void wake_reader(void) {
  uint32_t *waits = &kymo_session_.pool.header->waits;
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* after the packet; partner: kymo_sleep_ask */
  if (__builtin_expect(__atomic_load_n(waits, __ATOMIC_RELAXED) == 0, 1))
    return;
  if (__atomic_exchange_n(waits, 0, __ATOMIC_RELAXED))
    syscall(SYS_futex, waits, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void lose(uint64_t *counter, uint64_t *cause) {
  /* atomic: a handler may count in the middle */
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  if (cause)
    __atomic_fetch_add(cause, 1, __ATOMIC_RELAXED);
}

/* A request for space for an event. */
struct request {
  size_t size;  /* bytes, header included */
  bool is_same; /* it takes the time of the previous event */
};

/* The time of an event. KYMO_SAME takes the time only from the open packet, since an event may have been lost
 * after a closed one, and only while the 48 bits in event headers leave the time of the next event
 * unambiguous. */
static uint64_t time_of(const struct kymo_ring_writer *ring, const struct request *request) {
  const uint64_t old = UINT64_C(1) << 46;
  uint64_t now = kymo_session_clock_read(&kymo_session_.clock);
  if (!request->is_same || !ring->is_open)
    return now;
  const struct kymo_ring_writer *main = &kymo_session_.pool.rings[own.slot * 2];
  uint64_t last = ring->control->shared.last;
  if (last < main->control->shared.last)
    last = main->control->shared.last; /* of the event that the handler interrupted */
  return now - last < old ? last : now;
}

/* Another ring for a thread whose main ring was not drained in time, or NULL. The full ring is released with
 * its contents, and the drainer empties it. */
static struct kymo_ring_writer *change_ring(const struct kymo_ring_writer *full) {
  enum { EVENTS_BETWEEN = 256 };
  struct kymo_pool *pool = &kymo_session_.pool;
  uint32_t old = (uint32_t)own.slot;
  if (full != &pool->rings[old * 2])
    return NULL;
  if (own.full_for) {
    own.full_for--;
    return NULL;
  }
  int slot = kymo_pool_claim_more();
  if (slot < 0) {
    own.full_for = EVENTS_BETWEEN;
    return NULL;
  }
  close_packet(&pool->rings[slot * 2]); /* left open by an owner that ended early */
  close_packet(&pool->rings[slot * 2 + 1]);
  own.slot = slot;
  kymo_self_.ring = &pool->rings[slot * 2].hot;
  KYMO_SIGNAL_FENCE_(); /* from here on handlers use the new slot's alternate ring */
  close_packet(&pool->rings[old * 2 + 1]);
  kymo_pool_give_back(old);
  return &pool->rings[slot * 2];
}

/* Space in a ring for an event. The thread is marked busy with it. */
static struct kymo_place place_in(struct kymo_ring_writer *ring, const struct request *request) {
  struct kymo_place lost = {0, NULL};
  size_t size = request->size;
  uint64_t time = time_of(ring, request);
  if (size > kymo_session_.pool.packet_size - KYMO_PACKET_SLACK - KYMO_PACKET_HEADER_SIZE) {
    lose(&ring->control->discarded, &ring->control->discarded_large);
    return lost;
  }
  bool fits = ring->is_open && (uint16_t)ring->hot.word + size <= ring->limit;
  bool poisoned =
      ring->is_open && kymo_session_.clock.is_counter && !__atomic_load_n(ring->hot.end, __ATOMIC_RELAXED);
  if (!fits || poisoned) {
    close_packet(ring);
    bool is_open = open_packet(ring, time);
    struct kymo_ring_writer *other = is_open ? NULL : change_ring(ring);
    if (other) {
      ring = other;
      time = kymo_session_clock_read(&kymo_session_.clock); /* not the time of another event, which is in
                                                          * another ring */
      is_open = open_packet(ring, time);
    }
    wake_reader();
    if (!is_open) {
      lose(&ring->control->discarded, NULL);
      return lost;
    }
  }
  return (struct kymo_place){time, &ring->hot};
}

/* Sends the next event of each ring whose open packet began before `time` to the slow path, where its owner
 * closes the packet. Any thread may call this: it only stores a word, which only the owner raises again. */
void kymo_writer_poison(uint64_t time) {
  struct kymo_pool *pool = &kymo_session_.pool;
  uint32_t rings = __atomic_load_n(&pool->header->slots_used, __ATOMIC_ACQUIRE) * 2;
  for (uint32_t i = 0; i < rings; i++) {
    const struct kymo_ring_writer *ring = &pool->rings[i];
    /* partner: point_ring_at_slot; NULL: its first owner is about to begin */
    const struct kymo_ring_control *control = __atomic_load_n(&ring->control, __ATOMIC_ACQUIRE);
    uint64_t opened = control ? __atomic_load_n(&control->opened, __ATOMIC_ACQUIRE) : 0;
    if (opened &&
        __atomic_load_n(&ring->packet[(opened - 1) & (ring->packets - 1)].begin, __ATOMIC_RELAXED) <= time)
      __atomic_store_n(ring->hot.end, 0, __ATOMIC_RELAXED); /* partner: kymo_begin_, place_in */
  }
}

/* ---- threads ---- */

/* Events of threads that came while another one created the child's pool, and that the pool has not counted
 * yet. */
static uint64_t events_before_pool;

/* A slot for this thread, if the process has a pool or can create one. */
static bool attach(void) {
  struct kymo_pool *pool = &kymo_session_.pool;
  if (!kymo_pool_is_ours()) { /* the first event of a forked child */
    own.has_slot = own.refused = false;
    kymo_self_.ring = &boot_ring;
    kymo_self_.own_work++;
    bool made = kymo_pool_make(true);
    kymo_self_.own_work--;
    if (!made) { /* another thread is creating it, or it cannot be created */
      __atomic_fetch_add(&events_before_pool, 1, __ATOMIC_RELAXED);
      return false;
    }
  }
  if (own.has_slot)
    return true;
  uint64_t before = __atomic_exchange_n(&events_before_pool, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&pool->header->events_refused, before, __ATOMIC_RELAXED);
  uint32_t releases = __atomic_load_n(&pool->releases, __ATOMIC_RELAXED);
  int slot = own.refused && own.refused_at == releases ? -1 : kymo_pool_claim();
  if (slot < 0) {
    if (!own.refused)
      __atomic_fetch_add(&pool->header->threads_refused, 1, __ATOMIC_RELAXED);
    own.refused = true;
    own.refused_at = releases;
    __atomic_fetch_add(&pool->header->events_refused, 1, __ATOMIC_RELAXED);
    return false;
  }
  own.slot = slot;
  own.has_slot = true;
  own.refused = false;
  close_packet(&pool->rings[slot * 2]); /* left open by an owner that ended early */
  close_packet(&pool->rings[slot * 2 + 1]);
  kymo_self_.own_work++; /* this may allocate */
  if (has_exit_key)
    pthread_setspecific(exit_key, &own);
  kymo_self_.own_work--;
  kymo_self_.ring = &pool->rings[slot * 2].hot;
  return true;
}

void kymo_writer_release_thread(void) {
  if (!own.has_slot || !kymo_pool_is_ours())
    return;
  kymo_self_.busy =
      (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)1; /* handlers use the alternate ring … */
  KYMO_SIGNAL_FENCE_();
  uint32_t slot = (uint32_t)own.slot;
  close_packet(&kymo_session_.pool.rings[slot * 2]);
  kymo_self_.ring = &boot_ring;
  own.has_slot = false;
  kymo_self_.busy = 0;
  KYMO_SIGNAL_FENCE_();
  close_packet(&kymo_session_.pool.rings[slot * 2 + 1]); /* … which no handler uses any more */
  kymo_pool_give_back(slot);
}

static void at_thread_exit(void *unused) {
  (void)unused;
  kymo_writer_release_thread();
}

void kymo_writer_start(void) { has_exit_key = !pthread_key_create(&exit_key, at_thread_exit); }

int kymo_thread_init(void) {
  int reason = errno;
  kymo_session_init();
  bool ready = kymo_session_.pool_state && attach();
  errno = reason;
  return ready ? 0 : -1;
}

/* ---- handlers ---- */

#if defined(__x86_64__) && defined(__LP64__)

/* Whether a handler may be running on this stack between the two addresses: the kernel stores the interrupted
 * context on the stack, and a context whose stack pointer is near the mark is that of the event. Contexts of
 * frames that were left by a jump may still be in memory; then the answer is wrong on the safe side. */
__attribute__((no_sanitize("address"))) static bool is_interrupted(uintptr_t here, uintptr_t marked) {
  /* how far below and above the mark the interrupted code may have been: in the slow path, or after it */
  enum { BELOW = 4096, ABOVE = 256, FAR = 1 << 16, USER_CODE_SEGMENT = 0x33 };
  if (marked - here > FAR || __tsan_init) /* ThreadSanitizer calls handlers as plain functions */
    return true;
  for (uintptr_t at = (here + 7) & ~(uintptr_t)7; at + sizeof(mcontext_t) <= marked; at += 8) {
    const mcontext_t *context = (const mcontext_t *)at;
    uintptr_t sp = (uintptr_t)context->gregs[REG_RSP];
    bool is_context = (context->gregs[REG_CSGSFS] & 0xffff) == USER_CODE_SEGMENT;
    if (is_context && sp < marked + ABOVE && sp + BELOW > marked)
      return true;
  }
  return false;
}

#else

static bool is_interrupted(uintptr_t here, uintptr_t marked) {
  (void)here, (void)marked;
  return true;
}

#endif

/* Whether the frame that marked an event in progress has been left; `here` is the frame of the caller. In
 * doubt the frame still exists: the alternate ring has less space, but no event is torn. */
static bool frame_is_gone(uintptr_t marked, uintptr_t here) {
  enum {
    NEAR = 256
  }; /* signal frames are larger: anything closer is a later call of the same or an outer function */
  stack_t stack;
  marked &= ~(uintptr_t)1;
  if (!sigaltstack(NULL, &stack) && !(stack.ss_flags & SS_DISABLE)) {
    uintptr_t low = (uintptr_t)stack.ss_sp, high = low + stack.ss_size;
    bool here_on_it = here >= low && here < high, marked_on_it = marked >= low && marked < high;
    if (here_on_it != marked_on_it)
      return marked_on_it;
  }
  return here + NEAR >= marked || !is_interrupted(here, marked);
}

static struct kymo_place place_in_main(const struct request *request) {
  struct kymo_place lost = {0, NULL};
  return attach() ? place_in(writer_of(kymo_self_.ring), request) : lost;
}

/* An event of this thread is marked as in progress: its own, if its frame is gone, else that of the
 * interrupted code. */
static struct kymo_place place_nested(const struct request *request, uintptr_t busy, uintptr_t here) {
  struct kymo_place lost = {0, NULL};
  struct kymo_ring_writer *alternate =
      own.has_slot && kymo_pool_is_ours() ? &kymo_session_.pool.rings[own.slot * 2 + 1] : NULL;
  bool gone = frame_is_gone(busy, here);
  if (busy & 1 && gone && alternate) {
    busy = alternate->hot.outer;
    gone = frame_is_gone(busy, here);
  } else if (busy & 1 && alternate) {
    lose(&alternate->control->discarded, &alternate->control->discarded_nested);
    return lost;
  }
  if (gone) {
    kymo_self_.busy = here;
    KYMO_SIGNAL_FENCE_();
    return place_in_main(request);
  }
  if (!alternate) { /* while the thread is attaching: there is no ring to use yet */
    if (kymo_pool_is_ours())
      __atomic_fetch_add(&kymo_session_.pool.header->events_refused, 1, __ATOMIC_RELAXED);
    return lost;
  }
  alternate->hot.outer = busy;
  KYMO_SIGNAL_FENCE_();
  kymo_self_.busy = here | 1;
  KYMO_SIGNAL_FENCE_();
  return place_in(alternate, request);
}

/* `here` is the frame of the function that the macro called. */
static struct kymo_place begin_slow(const struct request *request, uintptr_t busy, uintptr_t here) {
  int reason = errno;
  struct kymo_place place = busy ? place_nested(request, busy, here) : place_in_main(request);
  if (!place.ring && !busy)
    kymo_self_.busy = 0;
  /* a lost event of the third level never marked itself; the others did, and restore the mark that they
   * found */
  else if (!place.ring && kymo_self_.busy != busy)
    kymo_self_.busy = kymo_self_.busy & 1 ? kymo_session_.pool.rings[own.slot * 2 + 1].hot.outer : 0;
  errno = reason;
  return place;
}

struct kymo_place kymo_begin_slow_(size_t size, uintptr_t busy) {
  return begin_slow(&(struct request){size, false}, busy,
                    (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)1);
}

struct kymo_place kymo_begin_same_slow_(size_t size, uintptr_t busy) {
  return begin_slow(&(struct request){size, true}, busy,
                    (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)1);
}

void kymo_abandon_(struct kymo_ring *ring) {
  lose(&writer_of(ring)->control->discarded, NULL);
  KYMO_SIGNAL_FENCE_();
  *kymo_busy_() = ring->outer;
}

void kymo_record_(const struct kymo_tracepoint *point) {
  struct kymo_space_ space = kymo_begin_(8, point->id);
  if (space.ring)
    kymo_commit_(space.ring, 8);
}

/* ---- texts ---- */

size_t kymo_measure_long_(const char *text, size_t bound) { return strnlen(text, bound); }

/* The text may have changed since it was measured: the copy ends where it ends now. */
unsigned char *kymo_put_long_(unsigned char *at, const char *text, size_t length) {
  memcpy(at, text, length);
  unsigned char *end = memchr(at, 0, length);
  if (!end)
    end = at + length;
  *end = 0;
  return end + 1;
}

/* Bytes of a character in UTF-8. */
static size_t wide_bytes(wchar_t character) {
  char bytes[4];
  return (size_t)(kymo_put_character(bytes, kymo_sound_character((uint32_t)character)) - bytes);
}

struct kymo_wide_ kymo_measure_wide_(const wchar_t *text, size_t bound, size_t bytes) {
  struct kymo_wide_ wide = {text ? text : bytes < 6 ? L"" : L"(null)", 0, 0};
  if (!text)
    bound = 6;
  while (wide.count < bound && wide.length < bytes && wide.text[wide.count]) {
    size_t more = wide_bytes(wide.text[wide.count]);
    if (more > bytes - wide.length)
      break;
    wide.length += more;
    wide.count++;
  }
  return wide;
}

unsigned char *kymo_put_wide_(unsigned char *at, struct kymo_wide_ wide) {
  const unsigned char *end = at + wide.length;
  for (size_t i = 0; i < wide.count; i++) {
    wchar_t character = *(const volatile wchar_t *)&wide.text[i];
    if (!character || wide_bytes(character) > (size_t)(end - at))
      break;
    at = (unsigned char *)kymo_put_character((char *)at, kymo_sound_character((uint32_t)character));
  }
  *at = 0;
  return at + 1;
}
