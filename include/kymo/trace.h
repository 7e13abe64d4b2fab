/* SPDX-License-Identifier: MIT */
/*
 * kymo/trace.h: tracepoints for C11 and C++11.
 *
 *   KYMO(net, rx, port, len, iface);
 *
 * is a tracepoint "net:rx" with three fields, named after the expressions. Nothing has to be declared.
 * Switched off it costs one load and one branch, and its arguments are not evaluated; switched on it costs
 * little more than one read of the clock. Link with libkymo-trace (pkg-config kymo-trace); compile with
 * -DKYMO_DISABLE to leave everything out, with -DKYMO_PATCH to have nops instead of loads and branches
 * (docs/recording.md).
 *
 *   KYMO_SAME(net, parsed, type);
 *
 * is one that reads no clock: it takes the time stamp of this thread's previous event, and costs a third. It
 * is for the second and third event of one instant; switch them on together with the first, or the stamp is
 * that of whatever the thread recorded last. A thread's first event reads the clock, and so does one whose
 * predecessor was lost. Events of handlers that interrupt an event in progress do not count as previous to
 * what they interrupt.
 *
 *   KYMO_EVENT(net, rx, KYMO_ARGS(uint16_t port, const char *ifname), KYMO_LEVEL(debug), KYMO_HEX(port,
 *   port), ifname);
 *
 * in a header declares the tracepoint "net:rx" as an inline function, kymo_net_rx(port, ifname), for any
 * number of source files, programs and libraries: its fields are expressions of the parameters, and wherever
 * it is called from, it is one event. It costs what KYMO() costs, but its arguments are those of a function,
 * evaluated in any case. KYMO_ARGS(): it takes none. KYMO_EVENT_FP is the same for fast paths: a function
 * that does nothing unless compiled with -DKYMO_FP.
 *
 *   KYMO_SPAN_BEGIN(db, query, text);  …  KYMO_SPAN_END(db, query, rows);
 *   KYMO_SPAN(db, query, text);
 *
 * are the events "db:query_begin" and "db:query_end" of something that lasts; readers know that they belong
 * together (what begins and ends in one thread, inner ones first). KYMO_SPAN, a declaration, records the one
 * where it stands and the other, without fields, when its scope is left, in whatever way but longjmp: by
 * cleanup attribute, in C++ by a destructor.
 *
 *   KYMO_BUILD(&build, room, size, net, request, id, KYMO_LATER_TEXT(path));  …  kymo_build_commit(&build);
 *
 * is one whose last fields are put in pieces; see kymo/build.h.
 *
 *   KYMO_PRINTF(log, note, "got %u bytes from %s", n, host);
 *
 * is one whose fields are the arguments of a format, from which readers make the text; see
 * kymo/printf.h.
 *
 * Fields (up to 16, together with what is said of the event):
 *   an expression                    integers, bool, char, enum, float, double, pointers, C strings
 *   KYMO_AS(name, expr)              the same under another name
 *   KYMO_HEX(name, expr)             an integer printed in base 16; KYMO_DEC, KYMO_OCT, KYMO_BIN likewise
 *   KYMO_HEX(expr)                   the same of an expression under its own name; so of the next two lines
 *   KYMO_CHAR(name, expr)            … as a character; KYMO_ADDRESS(name, expr): as an address
 *   KYMO_BE(name, expr)              a number as it came off the wire, big-endian; KYMO_LE: little-endian
 *   KYMO_TYPED(name, TYPE, expr)     a number whose typedef's name is kept: KYMO_TYPED(pid, pid_t, p->pid)
 *   KYMO_STRN(name, text, n)         a text of at most n bytes, ended by a zero or by n
 *   KYMO_BLOB(name, pointer, n)      n bytes
 *   KYMO_BLOB_FIXED(name, pointer, n, MAX)  always MAX bytes: n of them, the rest zero (n > MAX: MAX)
 *   KYMO_ARRAY(name, pointer, count) count numbers of the type that the pointer points to
 *                                    BLOB, BLOB_FIXED and ARRAY of a negative count or of NULL: none
 *   KYMO_OPTIONAL(name, condition, expr)    expr, evaluated and stored only if the condition holds
 *
 * Fields of types that the program has listed (see kymo/types.h):
 *   KYMO_STRUCT(name, TYPE, pointer) the struct; a null pointer of its type: one of zeroes
 *   KYMO_STRUCT_ARRAY(name, TYPE, pointer, count)  count of them; NULL or a negative count: none
 *   KYMO_OPTIONAL_STRUCT(name, TYPE, pointer)      the struct, or nothing if the pointer is NULL
 *   KYMO_ENUM(name, TYPE, expr)      an integer with names; KYMO_FLAGS(name, TYPE, expr): of named bits
 *   KYMO_UNION(name, TYPE, pointer)  all bytes of a union; NULL: zeroes
 *   KYMO_VARIANT(name, TYPE, tag, pointer)  the member of a union that the tag chooses
 *
 * Said of the event, anywhere among the fields:
 *   KYMO_LEVEL(level)                emergency alert critical error warning notice info debug_system
 *                                    debug_program debug_process debug_module debug_unit debug_function
 *                                    debug_line debug
 *   KYMO_ABOUT("text")               what the event means, in at most 511 bytes
 *
 * Fields are evaluated once, before anything is stored: a text or pointer must stay valid
 * after its own expression, so name what is a temporary (no std::string(…).c_str() in a field).
 *
 * A bit-field needs a cast, (unsigned)s.bits, since neither _Generic nor typeof takes one. A
 * char array is read up to its size even without a zero; a flexible array member or a VLA needs
 * KYMO_STRN or &a[0]. Texts are read through 16-byte loads that never leave the page; define
 * KYMO_PLAIN_STRINGS for tools (valgrind) that mind; sanitizers are recognised.
 *
 * Life of an event: test the enable word → evaluate the arguments into locals → mark the thread busy → check
 * for room → read the clock → store header and fields → publish the new end of the packet → clear busy. No
 * lock, no locked instruction, no system call, and no call but one of a function in the same file that begins
 * the event. The bytes stored are CTF; see ARCHITECTURE.md for the ring and docs/recording.md for the
 * variables (KYMO_ENABLE, KYMO_OUT, …) that switch tracing on.
 */
#ifndef KYMO_TRACE_H
#define KYMO_TRACE_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/check.h>
#ifndef KYMO_DISABLE
#include <kymo/sdt.h>
#include <kymo/site.h>
#endif

/* What a ring does when it is full (kymo_mode_set). */
enum kymo_mode { KYMO_DISCARD, KYMO_OVERWRITE };

#ifdef KYMO_DISABLE

#define KYMO(...)                                  \
  do {                                             \
    if (0) {                                       \
      KYMO_EACH_(KYMO_FIELD_MENTION_, __VA_ARGS__) \
    }                                              \
  } while (0)
#define KYMO_NAMED(...) KYMO(name, __VA_ARGS__)
#define KYMO_SAME(...) KYMO(__VA_ARGS__)
#define KYMO_SPAN_BEGIN(...) KYMO(__VA_ARGS__)
#define KYMO_SPAN_END(...) KYMO(__VA_ARGS__)
#define KYMO_SPAN(...) KYMO(__VA_ARGS__)
#define KYMO_EVENT(group, name, ...)                                          \
  KYMO_EVENT_INLINE_ void kymo_##group##_##name KYMO_FIRST_(__VA_ARGS__, ~) { \
    KYMO_EVENT_NOTHING_(__VA_ARGS__)                                          \
  }                                                                           \
  struct kymo_tracepoint
#define kymo_rings_save(directory) ((void)(directory), 0)
#define kymo_thread_init() 0
#define kymo_args_apply(argc, argv) ((void)(argc), (void)(argv))
#define kymo_tracepoint_enable(pattern) ((void)(pattern), 0)
#define kymo_tracepoint_disable(pattern) ((void)(pattern), 0)
#define kymo_tracepoint_lookup(name) ((void)(name), (const struct kymo_tracepoint *)0)
#define kymo_tracepoint_is_enabled(name) ((void)(name), 0)
#define kymo_mode_set(mode) ((void)(mode), 0)

#else

#include <kymo/counter.h>
#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions for programs ---- */

/*
 * Saves the current contents of this process's rings as a CTF trace; the threads may go on recording.
 * `directory` is created; it must be missing or empty. NULL: a new directory NAME-yyyy-mm-dd-[AP]M-hh-mm-ss
 * under $KYMO_OUT, else under $HOME/kymo-traces. Returns 0, or -1 with errno set (ENODATA: this process has
 * recorded nothing). Thread-safe; not for signal handlers. The files are written, and survive the end of the
 * program, but they are not forced to the disk (fsync), since that could block the program for seconds; `kymo
 * record` and `kymo snapshot` do force them.
 */
int kymo_rings_save(const char *directory);

/*
 * Claims a ring for the calling thread now, so that its first event costs no more than the others. Returns 0,
 * or -1 if tracing is off or there is no space for a ring. Async-signal-safe.
 */
int kymo_thread_init(void);

/*
 * Removes --trace=PATTERNS, --trace-mode=MODE, --trace-dir=DIRECTORY and --trace-bufsz=SIZE from a program's
 * command line and applies them as KYMO_ENABLE, KYMO_MODE, KYMO_OUT and KYMO_BUFFER would. Call it first in
 * main. *argc and argv are changed in place.
 */
void kymo_args_apply(int *argc, char **argv);

/*
 * Enables or disables tracepoints while the program runs. A pattern is "net:rx", a glob, a group, "re:REGEX",
 * or several separated by commas; a leading "!" excludes (docs/recording.md). The call also applies to
 * running threads, and to tracepoints of libraries that are loaded later; if two calls match a tracepoint,
 * the later call applies. The first call creates the rings. Returns the number of existing tracepoints that
 * match, or -1 with errno: EINVAL for a malformed pattern; else the reason why no rings could be created, and
 * those tracepoints stay disabled. Thread-safe; not for signal handlers.
 */
int kymo_tracepoint_enable(const char *pattern);
int kymo_tracepoint_disable(const char *pattern);

/*
 * The tracepoint "group:name" of this program, the first one if several call sites share the name; NULL if
 * there is none. It is static data of the program or library that defines it. Thread-safe; not for signal
 * handlers.
 */
const struct kymo_tracepoint *kymo_tracepoint_lookup(const char *name);

/* Whether a tracepoint of that name is enabled: 1 or 0; -1 with errno ENOENT if there is none. See
 * kymo_tracepoint_lookup. */
int kymo_tracepoint_is_enabled(const char *name);

/*
 * Sets what happens when a ring is full, from the next packet on: new events are lost and counted until a
 * reader has emptied the ring, or old events are overwritten. Returns 0, or -1 with errno: EINVAL; EBUSY
 * while a recorder is attached, since the recorder has chosen the mode. Thread-safe; not for signal handlers.
 */
int kymo_mode_set(enum kymo_mode mode);

/* ---- everything below serves the macros ---- */

/* The writer's side of a ring. */
struct kymo_ring {
  uint64_t word; /* where the next event begins: on an 8-byte boundary */
  /* End of the usable part of the open packet; 0: take the slow path. It is in memory that is zeroed in a
   * forked child (MADV_WIPEONFORK), so the child's first event cannot reach its parent's ring. */
  uint32_t *end;
  unsigned char *packet;           /* the open packet */
  struct kymo_ring_public *shared; /* in the pool file */
  uintptr_t outer;                 /* alternate ring: kymo_thread.busy of the event that was interrupted */
  size_t stored;                   /* of the text that kymo_begin_text_ has stored, its zero included */
  uint64_t time;                   /* of the event that was begun last */
};

/* State of a thread. `busy` is the stack pointer of the event in progress (bit 0: the event goes to the
 * alternate ring), so that a frame left by a jump is recognised. */
struct kymo_thread {
  struct kymo_ring *ring;
  uintptr_t busy;
  uint32_t own_work; /* not 0: the recorder itself is running, and calls it makes are not events of the
                      * program */
};
extern __thread struct kymo_thread kymo_self_ __attribute__((tls_model("initial-exec")));

/* Where an event is stored: its ring (NULL: the event is lost and counted) and its time. */
struct kymo_place {
  uint64_t time; /* first, since the clock and the calls return it in the same register */
  struct kymo_ring *ring;
};

/* The slow path: no space, no ring yet, another clock, or (busy is not 0) another event of this thread is in
 * progress. */
struct kymo_place kymo_begin_slow_(size_t size, uintptr_t busy);
struct kymo_place kymo_begin_same_slow_(size_t size, uintptr_t busy);
/* Looks for libraries that were loaded or unloaded since the load map was written; false: not now. For
 * tracers of code in such libraries (libkymo-functions). */
bool kymo_modules_note_(void);
/* Ends an event that was begun but cannot be stored: it is counted as lost. */
void kymo_abandon_(struct kymo_ring *ring);
/* An event without fields. */
void kymo_record_(const struct kymo_tracepoint *point);

/* Volatile rather than atomic: gcc 12 for powerpc without optimisation fails on atomic loads of thread-local
 * data, and misplaces atomic stores. */
KYMO_INLINE_ volatile uintptr_t *kymo_busy_(void) { return &kymo_self_.busy; }

/* Marks the thread busy with the stack pointer, which is even on every machine. */
KYMO_INLINE_ void kymo_mark_busy_(void) {
#if defined(__x86_64__) && defined(__LP64__)
  __asm__ __volatile__("movq %%rsp, %0" : "=m"(kymo_self_.busy));
#else
  uintptr_t sp;
#if defined(__i386__)
  __asm__ __volatile__("movl %%esp, %0" : "=r"(sp));
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ __volatile__("mov %0, sp" : "=r"(sp));
#else
  sp = (uintptr_t)__builtin_frame_address(0);
#endif
  *kymo_busy_() = sp;
#endif
}

/* A barrier for the compiler, not for the processor: a signal handler of this thread sees the stores in
 * order. */
#define KYMO_SIGNAL_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Marks the thread busy and returns its ring. NULL, and nothing is marked: the thread is busy already, or the
 * ring has no space for `size` bytes, header included. */
KYMO_INLINE_ struct kymo_ring *kymo_claim_ring_(size_t size) {
  if (KYMO_LIKELY_(*kymo_busy_() == 0)) {
    kymo_mark_busy_();
    KYMO_SIGNAL_FENCE_();
    struct kymo_ring *ring = kymo_self_.ring;
    /* others poison the end with a relaxed store; then the owner closes the packet; partner: place_in */
    if (KYMO_LIKELY_((uint16_t)ring->word + (uint32_t)size <= __atomic_load_n(ring->end, __ATOMIC_RELAXED)))
      return ring;
    *kymo_busy_() = 0;
  }
  return NULL;
}

/* Where an event's fields go, and its ring (NULL: the event is lost, and counted). */
struct kymo_space_ {
  unsigned char *kymo_at; /* macros use the names: a program may have a macro at */
  struct kymo_ring *ring;
};

/* Stores the event header. The fields follow it, and are stored after it: on little-endian machines the time
 * is stored as 8 bytes, the last two of which the fields overwrite. */
KYMO_INLINE_ unsigned char *kymo_put_header_(unsigned char *start, uint64_t time, uint32_t id) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint16_t low = (uint16_t)id;
  memcpy(start + 2, &time, sizeof time);
  memcpy(start, &low, sizeof low);
#else
  uint64_t header = (uint64_t)id << 48 | (time & 0xffffffffffffu);
  memcpy(start, &header, sizeof header);
#endif
  return start + 8;
}

KYMO_INLINE_ struct kymo_space_ kymo_open_event_(struct kymo_place place, uint32_t id) {
  struct kymo_space_ space = {NULL, place.ring};
  if (KYMO_LIKELY_(place.ring)) {
    space.kymo_at = kymo_put_header_(place.ring->packet + (uint16_t)place.ring->word, place.time, id);
    place.ring->time = place.time;
  }
  return space;
}

/* Marks the thread busy, unless it is; returns what it was. */
KYMO_INLINE_ uintptr_t kymo_was_busy_(void) {
  uintptr_t busy = *kymo_busy_();
  if (busy == 0) {
    kymo_mark_busy_();
    KYMO_SIGNAL_FENCE_();
  }
  return busy;
}
/* The rest of kymo_begin_, apart from it: a function that calls others as its last act only needs no
 * frame. */
KYMO_SHARED_ struct kymo_space_ kymo_begin_late_(size_t size, uint32_t id) {
  return kymo_open_event_(kymo_begin_slow_(size, kymo_was_busy_()), id);
}

/* One function for all tracepoints of a source file: their code is half as large and compiles in half the
 * time. Events are no slower: reading the clock takes longer than the call, and both overlap. */
KYMO_SHARED_ struct kymo_space_ kymo_begin_(size_t size, uint32_t id) {
  struct kymo_ring *ring = kymo_claim_ring_(size);
  if (KYMO_LIKELY_(ring)) {
    const struct kymo_place place = {kymo_clock_(), ring};
    return kymo_open_event_(place, id);
  }
  return kymo_begin_late_(size, id);
}

/* KYMO_SAME reads no clock, so here it is inline: the time is that of the ring's last event. */
KYMO_INLINE_ struct kymo_space_ kymo_begin_same_(size_t size, uint32_t id) {
  struct kymo_ring *ring = kymo_claim_ring_(size);
  if (KYMO_LIKELY_(ring)) {
    struct kymo_place place = {ring->shared->last, ring};
    return kymo_open_event_(place, id);
  }
  return kymo_open_event_(kymo_begin_same_slow_(size, kymo_was_busy_()), id);
}

/* The rest of kymo_begin_text_: texts that are long or near the end of a page, rings without room. */
KYMO_SHARED_ struct kymo_space_ kymo_begin_text_late_(size_t size, uint32_t id, size_t offset,
                                                      const char *text, size_t bound) {
  const struct kymo_text_ taken = kymo_take_text_(text, bound);
  const struct kymo_space_ space = kymo_begin_(size + taken.length + 1, id);
  if (space.ring) {
    unsigned char *at = space.kymo_at + offset;
    space.ring->stored = (size_t)(kymo_put_text_(at, &taken) - at);
  }
  return space;
}

/*
 * Begins an event whose size is `size` without this text, and stores the text where it belongs, `offset`
 * bytes after the first field's begin: the tracepoint has no test and no call of its own for it. The ring
 * keeps how many bytes that were: a local variable whose address is taken would make hardened functions check
 * their stack.
 */
KYMO_SHARED_ struct kymo_space_ kymo_begin_text_(size_t size, uint32_t id, size_t offset, const char *text,
                                                 size_t bound) {
#ifdef KYMO_VECTOR_TEXT_
  __asm__("" : "+r"(text)); /* hides the size of the object, since bytes after its end are read */
  if (KYMO_LIKELY_(kymo_is_within_page_(text) && bound >= 16)) {
    const kymo_vector_ first = kymo_load_vector_(text);
    const unsigned zeroes = kymo_zeroes_(first);
    if (KYMO_LIKELY_(zeroes)) {
      const size_t length = (size_t)__builtin_ctz(zeroes);
      struct kymo_ring *ring = kymo_claim_ring_(size + length + 1);
      if (KYMO_LIKELY_(ring)) {
        const struct kymo_place place = {kymo_clock_(), ring};
        const struct kymo_space_ space = kymo_open_event_(place, id);
        kymo_store_vector_(space.kymo_at + offset, kymo_keep_first_(first, length));
        ring->stored = length + 1;
        return space;
      }
    }
  }
#endif
  return kymo_begin_text_late_(size, id, offset, text, bound);
}

/* Publishes the ring's event that was begun and is `size` bytes long. */
KYMO_INLINE_ void kymo_commit_(struct kymo_ring *ring, size_t size) {
  struct kymo_ring_public *shared = ring->shared;
  /* not when the event begins: a reader of an open packet takes it for the time of the last event */
  __atomic_store_n(&shared->last, ring->time, __ATOMIC_RELAXED);
  uint64_t word = ring->word + ((uint64_t)1 << 16);
  ring->word = word + ((size + 7) & ~(size_t)7);
  /* release: a reader that acquires the word sees the bytes below it; partner: kymo_ring_copy */
  __atomic_store_n(&shared->word, word + size, __ATOMIC_RELEASE);
  KYMO_SIGNAL_FENCE_();
  *kymo_busy_() = ring->outer;
}

/* The same of an event that ends there and has texts. Of others the size is a constant. */
KYMO_SHARED_ void kymo_commit_texts_(struct kymo_ring *ring, const unsigned char *end) {
  kymo_commit_(ring, (size_t)(end - (ring->packet + (uint16_t)ring->word)));
}

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- tracepoints ---- */

/* Group and name for kymo/sdt.h: the text between the quotes of two directives, so that the name can be
 * continued. */
#define KYMO_NAMES_(group, name, ...) KYMO_NAMES2_(group, name)
#define KYMO_NAMES2_(group, name) KYMO_NAMES_QUOTED_(#group, #name)
#define KYMO_NAMES_QUOTED_(group, name) group "\"\n\t.ascii \"" name

/* Which fields are texts, as bits, and the only one: storing a text may run over what follows it, so one that
 * is stored first has none before it. In KYMO_SAME none is the only one. */
#define KYMO_FIND_TEXTS_(is_same, ...)                                                             \
  enum {                                                                                           \
    kymo_texts_ = 0 KYMO_EACH_(KYMO_FIELD_IS_TEXT_, __VA_ARGS__),                                  \
    kymo_only_text_ = (is_same) || (kymo_texts_ & (kymo_texts_ - 1)) != 0 ? 0 : (kymo_texts_ & ~1) \
  };
#define KYMO_BEGIN_(flags, offset)                                                                          \
  (((flags)&KYMO_POINT_SAME_) ? kymo_begin_same_(kymo_size_, KYMO_HEAD_.id)                                 \
   : kymo_only_text_                                                                                        \
       ? kymo_begin_text_(kymo_size_, KYMO_HEAD_.id, (offset), kymo_tail_.kymo_text, kymo_tail_.kymo_bound) \
       : kymo_begin_(kymo_size_, KYMO_HEAD_.id))
#define KYMO_POINT_(names, written, flags, ...)                                                           \
  do {                                                                                                    \
    KYMO_DESCRIBE_(written, flags, __VA_ARGS__);                                                          \
    if (!KYMO_LIKELY_(!KYMO_IS_ON_(KYMO_HEAD_))) {                                                        \
      KYMO_FIND_TEXTS_((flags)&KYMO_POINT_SAME_, __VA_ARGS__)                                             \
      struct kymo_tail_ kymo_tail_;                                                                       \
      KYMO_EACH_(KYMO_FIELD_TAKE_, __VA_ARGS__)                                                           \
      KYMO_PROBE_HERE_(names, KYMO_HEAD_, __VA_ARGS__)                                                    \
      if (!KYMO_RECORDED_(KYMO_HEAD_))                                                                    \
        break;                                                                                            \
      const size_t kymo_size_ = 8 KYMO_EACH_(KYMO_FIELD_SIZE_, __VA_ARGS__);                              \
      struct kymo_space_ kymo_place_ = KYMO_BEGIN_(flags, 0 KYMO_EACH_(KYMO_FIELD_BEFORE_, __VA_ARGS__)); \
      if (KYMO_LIKELY_(kymo_place_.ring)) {                                                               \
        unsigned char *kymo_at_ = kymo_place_.kymo_at;                                                    \
        KYMO_EACH_(KYMO_FIELD_PUT_, __VA_ARGS__)                                                          \
        if (kymo_texts_)                                                                                  \
          kymo_commit_texts_(kymo_place_.ring, kymo_at_);                                                 \
        else                                                                                              \
          kymo_commit_(kymo_place_.ring, (size_t)(kymo_at_ - kymo_place_.kymo_at) + 8);                   \
      }                                                                                                   \
    }                                                                                                     \
  } while (0)

/* A tracepoint "group:name". The arguments become text here, before any macro in them is expanded. */
#define KYMO(...)                                                                            \
  do {                                                                                       \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                                 \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                                 \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                             \
    KYMO_ASSERTED_() KYMO_POINT_(KYMO_NAMES_(__VA_ARGS__, ~), #__VA_ARGS__, 0, __VA_ARGS__); \
  } while (0)
/* A tracepoint with a free dotted name: KYMO_NAMED(app.trace.string, text). */
#define KYMO_NAMED(...)                                                                                 \
  do {                                                                                                  \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(name, __VA_ARGS__)))                                      \
    KYMO_CHECKED_("name, " #__VA_ARGS__, name, __VA_ARGS__)                                             \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                        \
    KYMO_ASSERTED_()                                                                                    \
    KYMO_POINT_(KYMO_NAMES_(kymo, __VA_ARGS__, ~), #__VA_ARGS__, KYMO_POINT_NAMED_, name, __VA_ARGS__); \
  } while (0)
/* A tracepoint "group:name" that takes the time of the thread's previous event. */
#define KYMO_SAME(...)                                                                                      \
  do {                                                                                                      \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                                                \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                                                \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                            \
    KYMO_ASSERTED_() KYMO_POINT_(KYMO_NAMES_(__VA_ARGS__, ~), #__VA_ARGS__, KYMO_POINT_SAME_, __VA_ARGS__); \
  } while (0)

/* ---- spans ---- */

#define KYMO_SPAN_BEGIN(...)                                                                         \
  do {                                                                                               \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                                         \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                                         \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                     \
    KYMO_ASSERTED_()                                                                                 \
    KYMO_POINT_(KYMO_NAMES_(__VA_ARGS__, ~) "_begin", #__VA_ARGS__, KYMO_POINT_BEGIN_, __VA_ARGS__); \
  } while (0)
#define KYMO_SPAN_END(...)                                                                       \
  do {                                                                                           \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                                     \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                                     \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                 \
    KYMO_ASSERTED_()                                                                             \
    KYMO_POINT_(KYMO_NAMES_(__VA_ARGS__, ~) "_end", #__VA_ARGS__, KYMO_POINT_END_, __VA_ARGS__); \
  } while (0)
#define KYMO_SPAN(...)                                                                               \
  KYMO_SCOPE_ KYMO_CAT_(kymo_scope_, __LINE__) = {0};                                                \
  do {                                                                                               \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                                         \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                                         \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                     \
    KYMO_ASSERTED_() KYMO_DESCRIBE_(#__VA_ARGS__, KYMO_POINT_END_ | KYMO_POINT_BARE_, __VA_ARGS__);  \
    kymo_enter_scope_(&KYMO_CAT_(kymo_scope_, __LINE__), &KYMO_HEAD_);                               \
  } while (0);                                                                                       \
  do {                                                                                               \
    KYMO_EACH_(KYMO_FIELD_CHECK_, __VA_ARGS__)                                                       \
    KYMO_POINT_(KYMO_NAMES_(__VA_ARGS__, ~) "_begin", #__VA_ARGS__, KYMO_POINT_BEGIN_, __VA_ARGS__); \
  } while (0)

/* The scope of a span. */
struct kymo_scope_ {
  const struct kymo_tracepoint *end;
#ifdef __cplusplus
  inline ~kymo_scope_() __attribute__((always_inline, no_instrument_function));
#endif
};
KYMO_INLINE_ void kymo_enter_scope_(struct kymo_scope_ *scope, const struct kymo_tracepoint *end) {
  scope->end = end;
}
KYMO_INLINE_ void kymo_leave_scope_(const struct kymo_scope_ *scope) {
  /* NULL: a goto jumped past the beginning; partner: as in KYMO_POINT_ */
  if (!KYMO_LIKELY_(!scope->end || __atomic_load_n(&scope->end->enabled, __ATOMIC_RELAXED) == 0))
    kymo_record_(scope->end);
}
#ifdef __cplusplus
kymo_scope_::~kymo_scope_() { kymo_leave_scope_(this); }
#define KYMO_SCOPE_ struct kymo_scope_
#else
#define KYMO_SCOPE_ struct kymo_scope_ __attribute__((cleanup(kymo_leave_scope_)))
#endif

/* A tracepoint "group:name" that is an inline function kymo_group_name. Its name is written here: compilers
 * that point to the function then name one macro only. */
#define KYMO_EVENT(group, name, ...)                                                                      \
  KYMO_EVENT_INLINE_ void kymo_##group##_##name KYMO_FIRST_(__VA_ARGS__, ~) {                             \
    KYMO_EVENT_BODY_(KYMO_NAMES_QUOTED_(#group, #name), #group ", " #name ", " #__VA_ARGS__, __VA_ARGS__) \
  }                                                                                                       \
  struct kymo_tracepoint
/* Always inlined, so that the call costs a load and a branch while the tracepoint is disabled. */
#define KYMO_EVENT_BODY_(names, written, ...)                          \
  KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(kymo_event, __VA_ARGS__))) \
  KYMO_CHECKED_(written, kymo_event, __VA_ARGS__)                      \
  KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                         \
  KYMO_ASSERTED_() KYMO_POINT_(names, written, KYMO_POINT_DECLARED_, kymo_event, __VA_ARGS__);

#endif /* KYMO_DISABLE */

#include <kymo/build.h>
#include <kymo/printf.h>

/* ---- tracepoints like printf ---- */

/* The call that the compiler checks (-Wformat). gcc prints a line for each header on the way to the macro in
 * which the format was written, so this is here. */
#define KYMO_FORMAT_OF_(group, name, format, ...) format
#ifndef __clang__
#define KYMO_PRINTED_NAME_(...)                                                                             \
  KYMO_COUNT2_(                                                                                             \
      __VA_ARGS__, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_,     \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, KYMO_UNPRINTED_, \
      KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_,             \
      KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_,             \
      KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_PRINTED_, KYMO_UNPRINTED_,           \
      KYMO_UNPRINTED_, KYMO_UNPRINTED_)
#define KYMO_UNPRINTED_(...) (void)0
#define KYMO_PRINTED_(...)                                       \
  kymo_check_format_(KYMO_FORMAT_OF_(__VA_ARGS__, "", "", "", ~) \
                         KYMO_ARGUMENTS_(KYMO_LESS_FORMAT_(__VA_ARGS__)))
#define KYMO_ARGUMENTS_(...) KYMO_EACH_(KYMO_FIELD_ARGUMENT_, __VA_ARGS__)
#define KYMO_FIELD_ARGUMENT_(ID, i, previous, x) KYMO_PRINT_DO_(KYMO_ARGUMENT, i, x)
#define KYMO_ARGUMENT_kymo_none_(i, name, a, b, c) , 0
#define KYMO_ARGUMENT_kymo_value_(i, name, x, format, c) , x
#define KYMO_ARGUMENT_kymo_level_(i, name, level, b, c)
#define KYMO_ARGUMENT_kymo_about_(i, name, text, b, c)
#else
/*
 * clang prints each macro that an argument passes through: two, KYMO_PRINTF and the one below of its number
 * of arguments. So an argument stands as it is written, and what KYMO_ARGUMENT_ makes of its form is
 * before it: a comma, or a macro that takes a word.
 */
#define KYMO_PRINTED_NAME_(...) KYMO_CAT_(KYMO_PRINTED_, KYMO_PRINTED_COUNT_(__VA_ARGS__))
#define KYMO_PRINTED_kymo_few(...) (void)0
#define KYMO_PRINTED_kymo_many(...) (void)0
#define KYMO_PRINTED_3(group, name, format) kymo_check_format_(format)
#define KYMO_PRINTED_4(group, name, format, a1) kymo_check_format_(format KYMO_ARGUMENT_(a1) a1)
#define KYMO_PRINTED_5(group, name, format, a1, a2) \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2)
#define KYMO_PRINTED_6(group, name, format, a1, a2, a3) \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) a3)
#define KYMO_PRINTED_7(group, name, format, a1, a2, a3, a4)                                \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) \
                         a3 KYMO_ARGUMENT_(a4) a4)
#define KYMO_PRINTED_8(group, name, format, a1, a2, a3, a4, a5)                            \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5)
#define KYMO_PRINTED_9(group, name, format, a1, a2, a3, a4, a5, a6)                        \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6) a6)
#define KYMO_PRINTED_10(group, name, format, a1, a2, a3, a4, a5, a6, a7)                \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_( \
      a3) a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6) a6 KYMO_ARGUMENT_(a7) a7)
#define KYMO_PRINTED_11(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8)               \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6) \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8)
#define KYMO_PRINTED_12(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9)           \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6) \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9) a9)
#define KYMO_PRINTED_13(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)          \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)     \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)     \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9) \
                                 a9 KYMO_ARGUMENT_(a10) a10)
#define KYMO_PRINTED_14(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)     \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)     \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)     \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9) \
                                 a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11)
#define KYMO_PRINTED_15(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)      \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)      \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9)  \
                                 a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11 KYMO_ARGUMENT_(a12) a12)
#define KYMO_PRINTED_16(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)    \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)              \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)              \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9)          \
                                 a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11 KYMO_ARGUMENT_(a12) \
                                     a12 KYMO_ARGUMENT_(a13) a13)
#define KYMO_PRINTED_17(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14) \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)                \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)                \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9)            \
                                 a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11 KYMO_ARGUMENT_(a12)   \
                                     a12 KYMO_ARGUMENT_(a13) a13 KYMO_ARGUMENT_(a14) a14)
#define KYMO_PRINTED_18(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14,  \
                        a15)                                                                               \
  kymo_check_format_(                                                                                      \
      format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3) a3 KYMO_ARGUMENT_(a4)          \
          a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6) a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8)          \
              a8 KYMO_ARGUMENT_(a9) a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11 KYMO_ARGUMENT_(a12) \
                  a12 KYMO_ARGUMENT_(a13) a13 KYMO_ARGUMENT_(a14) a14 KYMO_ARGUMENT_(a15) a15)
#define KYMO_PRINTED_19(group, name, format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14,    \
                        a15, a16)                                                                            \
  kymo_check_format_(format KYMO_ARGUMENT_(a1) a1 KYMO_ARGUMENT_(a2) a2 KYMO_ARGUMENT_(a3)                   \
                         a3 KYMO_ARGUMENT_(a4) a4 KYMO_ARGUMENT_(a5) a5 KYMO_ARGUMENT_(a6)                   \
                             a6 KYMO_ARGUMENT_(a7) a7 KYMO_ARGUMENT_(a8) a8 KYMO_ARGUMENT_(a9)               \
                                 a9 KYMO_ARGUMENT_(a10) a10 KYMO_ARGUMENT_(a11) a11 KYMO_ARGUMENT_(a12)      \
                                     a12 KYMO_ARGUMENT_(a13) a13 KYMO_ARGUMENT_(a14) a14 KYMO_ARGUMENT_(a15) \
                                         a15 KYMO_ARGUMENT_(a16) a16)
#define KYMO_ARGUMENT_(x) KYMO_CAT_(KYMO_ARGUMENT_, KYMO_FORM_(x))
#define KYMO_ARGUMENT_0 ,
#define KYMO_ARGUMENT_1 KYMO_ARGUMENT_WORD_
#define KYMO_ARGUMENT_2 ,
#define KYMO_ARGUMENT_WORD_(KIND, name, x, b, c, end) KYMO_ARGUMENT_##KIND##_(x)
#define KYMO_ARGUMENT_kymo_value_(x) , x
#define KYMO_ARGUMENT_kymo_level_(x)
#define KYMO_ARGUMENT_kymo_about_(x)
#endif

#ifdef KYMO_DISABLE

#define KYMO_PRINTF(...)                            \
  do {                                              \
    if (0)                                          \
      KYMO_PRINTED_NAME_(__VA_ARGS__)(__VA_ARGS__); \
  } while (0)

#else

#define KYMO_PRINTF(...)                                                                                     \
  do {                                                                                                       \
    KYMO_STOP_(kymo_refuse_words_(KYMO_PRINTED_WORDS_(KYMO_LESS_FORMAT_(__VA_ARGS__))))                      \
    KYMO_CHECK_PRINTED_(KYMO_LESS_FORMAT_(__VA_ARGS__))                                                      \
    KYMO_CHECKED_(#__VA_ARGS__, KYMO_LESS_FORMAT_(__VA_ARGS__))                                              \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                                             \
    KYMO_ASSERTED_()                                                                                         \
    KYMO_CHECK_COUNTS_(KYMO_COUNT_(__VA_ARGS__), KYMO_FORMAT_OF_(__VA_ARGS__, "", "", "", ~),                \
                       KYMO_LESS_FORMAT_(__VA_ARGS__))                                                       \
    KYMO_STOP_(kymo_refuse_format_(kymo_wrong_format_)) if (0) KYMO_PRINTED_NAME_(__VA_ARGS__)(__VA_ARGS__); \
    KYMO_PRINTF_(KYMO_NAMES_(__VA_ARGS__, ~, ~), #__VA_ARGS__, KYMO_FORMAT_OF_(__VA_ARGS__, "", "", "", ~),  \
                 KYMO_LESS_FORMAT_(__VA_ARGS__));                                                            \
  } while (0)
#endif

/* ---- declared tracepoints ---- */

#ifdef __cplusplus
#define KYMO_EVENT_INLINE_ inline __attribute__((always_inline, unused, no_instrument_function))
#else
#define KYMO_EVENT_INLINE_ static inline __attribute__((always_inline, unused, no_instrument_function))
#endif
#define KYMO_ARGS(...) KYMO_CAT_(KYMO_ARGS_, KYMO_NOTHING_(__VA_ARGS__))(__VA_ARGS__)
#define KYMO_ARGS_1(...) (__VA_ARGS__)
#define KYMO_ARGS_2(...) (void)
#define KYMO_FIRST_(first, ...) first
#define KYMO_EVENT_NOTHING_(...)                             \
  if (0) {                                                   \
    KYMO_EACH_(KYMO_FIELD_MENTION_, kymo_event, __VA_ARGS__) \
  }
#if defined(KYMO_FP) && !defined(KYMO_DISABLE)
#define KYMO_EVENT_FP(group, name, ...)                                                                   \
  KYMO_EVENT_INLINE_ void kymo_##group##_##name KYMO_FIRST_(__VA_ARGS__, ~) {                             \
    KYMO_EVENT_BODY_(KYMO_NAMES_QUOTED_(#group, #name), #group ", " #name ", " #__VA_ARGS__, __VA_ARGS__) \
  }                                                                                                       \
  struct kymo_tracepoint
#else
#define KYMO_EVENT_FP(group, name, ...)                                       \
  KYMO_EVENT_INLINE_ void kymo_##group##_##name KYMO_FIRST_(__VA_ARGS__, ~) { \
    KYMO_EVENT_NOTHING_(__VA_ARGS__)                                          \
  }                                                                           \
  struct kymo_tracepoint
#endif
#endif
