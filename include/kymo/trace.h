/* SPDX-License-Identifier: MIT */
/*
 * kymo/trace.h: tracepoints for C11 and C++11.
 *
 *   KYMO(net, rx, port, len, iface);
 *
 * is a tracepoint "net:rx" with three fields, named after the expressions. Nothing has
 * to be declared. Switched off it costs one load and one branch, and its arguments are not
 * evaluated; switched on it costs little more than one read of the clock. Link with
 * libkymo-trace (pkg-config kymo-trace); compile with -DKYMO_DISABLE to leave everything out.
 *
 * Fields (up to 16):
 *   an expression                    integers, bool, char, enum, float, double, pointers, C strings
 *   KYMO_AS(name, expr)              the same under another name
 *   KYMO_HEX(name, expr)             an integer printed in base 16; KYMO_DEC, KYMO_OCT, KYMO_BIN likewise
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
 * Fields of types that the program has listed (kymo/types.h tells how):
 *   KYMO_STRUCT(name, TYPE, pointer) the struct; a null pointer of its type: one of zeroes
 *   KYMO_STRUCT_ARRAY(name, TYPE, pointer, count)  count of them; NULL or a negative count: none
 *   KYMO_OPTIONAL_STRUCT(name, TYPE, pointer)      the struct, or nothing if the pointer is NULL
 *   KYMO_ENUM(name, TYPE, expr)      an integer with names; KYMO_FLAGS(name, TYPE, expr): of named bits
 *   KYMO_UNION(name, TYPE, pointer)  all bytes of a union; NULL: zeroes
 *   KYMO_VARIANT(name, TYPE, tag, pointer)  the member of a union that the tag chooses
 *
 * Fields are evaluated once, before anything is stored: a text or pointer must live on behind its own expression, so
 * name what is a temporary (no std::string(…).c_str() in a field).
 *
 * A bit-field needs a cast, (unsigned)s.bits, since neither _Generic nor typeof takes one. A
 * char array is read up to its size even without a zero; a flexible array member or a VLA needs
 * KYMO_STRN or &a[0]. Texts are read through 16-byte loads that never leave the page; define
 * KYMO_PLAIN_STRINGS for tools (valgrind) that mind; sanitizers are recognised.
 *
 * Life of an event: test the enable word → evaluate the arguments into locals → mark the
 * thread busy → check for room → read the clock → store header and fields → publish the new end
 * of the packet → clear busy. No lock, no locked instruction, no call, no system call. The bytes
 * stored are CTF; see ARCHITECTURE.md for the ring and docs/recording.md for the variables
 * (KYMO_ENABLE, KYMO_OUT, …) that switch tracing on.
 */
#ifndef KYMO_TRACE_H
#define KYMO_TRACE_H

#include <kymo/fields.h>

#ifdef KYMO_DISABLE

#define KYMO(...)                                                                                            \
  do {                                                                                                       \
    if (0) { KYMO_EACH_(KYMO_FIELD_MENTION_, __VA_ARGS__) }                                                  \
  } while (0)
#define KYMO_NAMED(...) KYMO(name, __VA_ARGS__)
#define kymo_save(directory) ((void)(directory), 0)
#define kymo_thread_init() 0
#define kymo_args(argc, argv) ((void)(argc), (void)(argv))

#else

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions for programs ---- */

/*
 * Saves what the rings of this process hold now as a CTF trace, whatever the threads are
 * doing meanwhile. `directory` is created; it must not exist or be empty. NULL: a new
 * directory NAME-yyyy-mm-dd-[AP]M-hh-mm-ss under $KYMO_OUT, else under $HOME/kymo-traces.
 * Returns 0, or -1 with errno set (ENODATA: this process has recorded nothing). Thread-safe;
 * not for signal handlers.
 */
int kymo_save(const char *directory);

/*
 * Gives the calling thread its ring now, so that its first event costs no more than the others.
 * Returns 0, or -1 if tracing is off or there is no room. Async-signal-safe.
 */
int kymo_thread_init(void);

/*
 * Takes --trace=PATTERNS, --trace-mode=MODE, --trace-dir=DIRECTORY and --trace-bufsz=SIZE off
 * a program's command line and acts as KYMO_ENABLE, KYMO_MODE, KYMO_OUT and KYMO_BUFFER would.
 * Call it first in main. *argc and argv are changed in place.
 */
void kymo_args(int *argc, char **argv);

/* ---- everything below serves the macros ---- */

/* The writer's side of a ring. */
struct kymo_ring {
  uint64_t word;                   /* where the next event begins: on an 8-byte border */
  /* End of the usable part of the open packet, 0 = take the slow path. It lies in memory that a forked child
   * finds zeroed (MADV_WIPEONFORK), so the child's first event cannot reach its parent's ring. */
  uint32_t *end;
  unsigned char *packet;           /* the open packet */
  struct kymo_ring_public *shared; /* in the pool file */
  uintptr_t outer;                 /* alternate ring: kymo_thread.busy of the event that was interrupted */
};

/* Per thread. `busy` holds the stack pointer of the event in progress (bit 0: it goes to the alternate
 * ring), so that a frame that was left by a jump is recognised. */
struct kymo_thread {
  struct kymo_ring *ring;
  uintptr_t busy;
};
extern __thread struct kymo_thread kymo_self_ __attribute__((tls_model("initial-exec")));

/* Where an event goes: its ring (NULL: the event is lost, and counted) and its time. */
struct kymo_place {
  uint64_t time; /* first, since both the clock and calls leave it in the same register */
  struct kymo_ring *ring;
};

void kymo_register_(const int32_t *begin, const int32_t *end);
void kymo_unregister_(const int32_t *begin);
/* No room, no ring yet, another clock, or (busy is not 0) an event of this thread is in progress already. */
struct kymo_place kymo_begin_slow_(size_t size, uintptr_t busy);
/* Ends an event that was begun and cannot be stored: it is counted as lost. */
void kymo_abandon_(struct kymo_ring *ring);


/* The session's clock is the counter, or kymo_begin_slow_ reads it. */
KYMO_INLINE_ uint64_t kymo_clock_(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

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
  __atomic_store_n(&kymo_self_.busy, sp, __ATOMIC_RELAXED);
#endif
}

/* Stops the compiler, not the processor: what a signal handler of this thread sees is in order. */
#define KYMO_SIGNAL_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Finds room for `size` bytes, header included, and takes the time. */
KYMO_INLINE_ struct kymo_place kymo_begin_(size_t size) {
  uintptr_t busy = __atomic_load_n(&kymo_self_.busy, __ATOMIC_RELAXED);
  if (KYMO_LIKELY_(busy == 0)) {
    kymo_mark_busy_();
    KYMO_SIGNAL_FENCE_();
    struct kymo_ring *ring = kymo_self_.ring;
    /* others poison the end with a relaxed store, the owner then closes the packet; partner: place_in */
    if (KYMO_LIKELY_((uint16_t)ring->word + (uint32_t)size <= __atomic_load_n(ring->end, __ATOMIC_RELAXED))) {
      struct kymo_place place = {kymo_clock_(), ring};
      return place;
    }
  }
  return kymo_begin_slow_(size, busy);
}

/* Stores the event header; the fields come behind it, and after it: on little-endian machines the time is
 * stored whole, over their first two bytes. */
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

/* Publishes the event that was stored at `word` of its ring and is `size` bytes long. */
KYMO_INLINE_ void kymo_commit_(struct kymo_place place, uint64_t word, size_t size) {
  struct kymo_ring *ring = place.ring;
  struct kymo_ring_public *shared = ring->shared;
  word += (uint64_t)1 << 16;
  ring->word = word + ((size + 7) & ~(size_t)7);
  __atomic_store_n(&shared->last, place.time, __ATOMIC_RELAXED);
  /* release: whoever acquires the word sees the bytes below it; partner: kymo_ring_copy */
  __atomic_store_n(&shared->word, word + size, __ATOMIC_RELEASE);
  KYMO_SIGNAL_FENCE_();
  __atomic_store_n(&kymo_self_.busy, ring->outer, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- call sites ---- */

/* Where a DSO's call sites stand, and the hooks that register them when it is loaded and unloaded. Each
 * source file brings the hooks; the linker keeps one pair a DSO. */
#if defined(__pic__) && __SIZEOF_POINTER__ == 4
#define KYMO_FAR_SITES_ 1
#endif
#ifdef __cplusplus
extern "C" {
#endif
extern const int32_t __start_kymo_sites[] __attribute__((weak, visibility("hidden")));
extern const int32_t __stop_kymo_sites[] __attribute__((weak, visibility("hidden")));
#ifdef KYMO_FAR_SITES_
/* Position-independent code of 32-bit machines: no symbol is an operand there. Entries are data, pointers until the hook
 * makes them the offsets that kymo_sites has. */
struct kymo_far_site_ {
  uintptr_t point, text;
};
extern struct kymo_far_site_ __start_kymo_far_sites[] __attribute__((weak, visibility("hidden")));
extern struct kymo_far_site_ __stop_kymo_far_sites[] __attribute__((weak, visibility("hidden")));
extern bool kymo_far_entered_ __attribute__((weak, visibility("hidden")));
bool kymo_far_entered_ = false;
KYMO_INLINE_ void kymo_enter_far_(struct kymo_far_site_ *begin, struct kymo_far_site_ *end) {
  for (struct kymo_far_site_ *site = begin; site != end; site++) {
    site->point -= (uintptr_t)&site->point;
    site->text -= (uintptr_t)&site->text;
  }
  kymo_register_((const int32_t *)(const void *)begin, (const int32_t *)(const void *)end);
}
#endif
void kymo_dso_enter_(void) __attribute__((weak, visibility("hidden"), constructor));
void kymo_dso_leave_(void) __attribute__((weak, visibility("hidden"), destructor));
void kymo_dso_enter_(void) {
#ifdef KYMO_FAR_SITES_
  if (&__start_kymo_far_sites[0] != &__stop_kymo_far_sites[0] && !kymo_far_entered_)
    kymo_enter_far_(__start_kymo_far_sites, __stop_kymo_far_sites);
  kymo_far_entered_ = true;
#endif
  if (&__start_kymo_sites[0] != &__stop_kymo_sites[0]) kymo_register_(__start_kymo_sites, __stop_kymo_sites);
}
void kymo_dso_leave_(void) {
#ifdef KYMO_FAR_SITES_
  if (&__start_kymo_far_sites[0] != &__stop_kymo_far_sites[0])
    kymo_unregister_((const int32_t *)(const void *)__start_kymo_far_sites);
#endif
  if (&__start_kymo_sites[0] != &__stop_kymo_sites[0]) kymo_unregister_(__start_kymo_sites);
}
#ifdef __cplusplus
}
#endif

#ifndef KYMO_FAR_SITES_
/* The offsets are relative, so the entry needs no relocation; "?" puts it into the group of the function
 * it stands in, so it goes when the linker drops a second copy of an inline function. */
#define KYMO_SITE_(point, text)                                                                              \
  __asm__ __volatile__(".pushsection kymo_sites,\"a?\"\n\t.balign 4\n\t.long %c0 - .\n\t.long %c1 - .\n\t"   \
                       ".popsection" ::KYMO_SYMBOL_(point), KYMO_SYMBOL_(text))
#if defined(__aarch64__) && !defined(__clang__) /* there "i" takes no symbol of a template in PIC */
#define KYMO_SYMBOL_(x) "S"(x)
#else
#define KYMO_SYMBOL_(x) "i"(x)
#endif
#elif !defined(__cplusplus)
#define KYMO_SITE_(point, text)                                                                              \
  static struct {                                                                                            \
    const void *point_, *text_;                                                                              \
  } kymo_site_ __attribute__((used, section("kymo_far_sites"))) = {point, text}
#else
/* g++ knows no sections for what inline functions and templates share: each entry registers itself. */
namespace kymo_detail {
template <class Tag, class Site> struct __attribute__((visibility("hidden"))) far_site {
  kymo_far_site_ entry;
  far_site() : entry{(uintptr_t)&Site::point, (uintptr_t)Tag::kymo_text()} { kymo_enter_far_(&entry, &entry + 1); }
  ~far_site() { kymo_unregister_((const int32_t *)(const void *)&entry); }
  static far_site one;
};
template <class Tag, class Site> far_site<Tag, Site> far_site<Tag, Site>::one;
} // namespace kymo_detail
#define KYMO_SITE_(point, text) (void)text, (void)kymo_detail::far_site<kymo_tag_, kymo_site_>::one
#endif
#ifndef __cplusplus
#define KYMO_DESCRIBE_(written, point_flags, ...)                                                            \
  static const char kymo_written_[] = written "\0" __FILE__;                                                 \
  KYMO_EACH_(KYMO_FIELD_DECLARE_, __VA_ARGS__)                                                               \
  static struct {                                                                                            \
    struct kymo_tracepoint head;                                                                             \
    uint64_t fields[KYMO_COUNT_(__VA_ARGS__) - 1];                                                           \
    KYMO_EACH_(KYMO_FIELD_SLOT_, __VA_ARGS__)                                                                \
  } kymo_point_ = {{0, 0, __LINE__, KYMO_COUNT_(__VA_ARGS__) - 2, point_flags},                              \
                   {0 KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)},                                            \
                   KYMO_EACH_(KYMO_FIELD_LISTING_, __VA_ARGS__)};                                            \
  KYMO_SITE_(&kymo_point_, kymo_written_)
#define KYMO_HEAD_ kymo_point_.head
#else
namespace kymo_detail {
template <class Tag, size_t count, bool = std::is_empty<typename Tag::kymo_slots>::value> struct point {
  template <class... Codes>
  constexpr point(Codes... codes) : head{0, 0, Tag::kymo_line, (uint16_t)count, Tag::kymo_flags}, fields{0, codes...} {}
  struct kymo_tracepoint head;
  uint64_t fields[count + 1];
};
template <class Tag, size_t count> struct point<Tag, count, false> {
  template <class... Codes>
  constexpr point(Codes... codes)
      : head{0, 0, Tag::kymo_line, (uint16_t)count, Tag::kymo_flags}, fields{0, codes...}, listings(Tag::kymo_listings()) {}
  struct kymo_tracepoint head;
  uint64_t fields[count + 1];
  typename Tag::kymo_slots listings;
};
/* The descriptor of one call site. Hidden, so that its address is a constant also in PIC. */
template <class Tag, uint64_t... Codes> struct __attribute__((visibility("hidden"))) site {
  static kymo_detail::point<Tag, sizeof...(Codes)> point;
};
template <class Tag, uint64_t... Codes>
kymo_detail::point<Tag, sizeof...(Codes)> site<Tag, Codes...>::point{Codes...};
} // namespace kymo_detail
#define KYMO_DESCRIBE_(written, point_flags, ...)                                                            \
  KYMO_EACH_(KYMO_FIELD_DECLARE_, __VA_ARGS__)                                                               \
  struct kymo_tag_ {                                                                                         \
    static constexpr const char *kymo_text() { return written "\0" __FILE__; }                                    \
    enum : uint32_t { kymo_line = __LINE__ };                                                                     \
    enum : uint16_t { kymo_flags = point_flags };                                                                 \
    struct kymo_slots { KYMO_EACH_(KYMO_FIELD_SLOT_, __VA_ARGS__) };                                              \
    static constexpr kymo_slots kymo_listings() { return kymo_slots{KYMO_EACH_(KYMO_FIELD_LISTING_, __VA_ARGS__)}; }        \
  };                                                                                                         \
  using kymo_site_ = kymo_detail::site<kymo_tag_ KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)>;                 \
  constexpr const char *kymo_written_ = kymo_tag_::kymo_text(); /* clang -O0 takes no call for a constant */      \
  KYMO_SITE_(&kymo_site_::point, kymo_written_)
#define KYMO_HEAD_ kymo_site_::point.head
#endif

#define KYMO_POINT_(written, flags, ...)                                                                     \
  do {                                                                                                       \
    KYMO_DESCRIBE_(written, flags, __VA_ARGS__);                                                             \
    /* partner: the registry stores it after the class is described on disk */                               \
    if (!KYMO_LIKELY_(__atomic_load_n(&KYMO_HEAD_.enabled, __ATOMIC_RELAXED) == 0)) {                        \
      KYMO_EACH_(KYMO_FIELD_TAKE_, __VA_ARGS__)                                                              \
      struct kymo_place kymo_place_ = kymo_begin_(8 KYMO_EACH_(KYMO_FIELD_SIZE_, __VA_ARGS__));                \
      if (KYMO_LIKELY_(kymo_place_.ring)) {                                                                  \
        uint64_t kymo_word_ = kymo_place_.ring->word;                                                        \
        unsigned char *kymo_start_ = kymo_place_.ring->packet + (uint16_t)kymo_word_;                        \
        unsigned char *kymo_at_ = kymo_put_header_(kymo_start_, kymo_place_.time, KYMO_HEAD_.id);            \
        KYMO_EACH_(KYMO_FIELD_PUT_, __VA_ARGS__)                                                             \
        kymo_commit_(kymo_place_, kymo_word_, (size_t)(kymo_at_ - kymo_start_));                             \
      }                                                                                                      \
    }                                                                                                        \
  } while (0)

/* A tracepoint "group:name". The arguments are turned into text here, before anything is expanded. */
#define KYMO(...) KYMO_POINT_(#__VA_ARGS__, 0, __VA_ARGS__)
/* A tracepoint with a free dotted name: KYMO_NAMED(app.trace.string, text). */
#define KYMO_NAMED(...) KYMO_POINT_(#__VA_ARGS__, KYMO_POINT_NAMED_, name, __VA_ARGS__)

#endif /* KYMO_DISABLE */
#endif
