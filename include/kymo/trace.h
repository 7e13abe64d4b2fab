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
 *   KYMO_STRN(name, text, n)         a text of at most n bytes, ended by a zero or by n
 *   KYMO_BLOB(name, pointer, n)      n bytes
 *   KYMO_BLOB_FIXED(name, pointer, n, MAX)  always MAX bytes: n of them, the rest zero (n > MAX: MAX)
 *   KYMO_ARRAY(name, pointer, count) count numbers of the type that the pointer points to
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

#include <kymo/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- fields ---- */

/* A wrapper stands for six things in parentheses, which no expression does. All words that go through the
 * preprocessor begin with kymo: a program may have a macro SIZE or VALUE. */
#define KYMO_AS(name, x) (kymo_value, name, x, 0, 0, kymo_field)
#define KYMO_DEC(name, x) (kymo_value, name, x, 10, 0, kymo_field)
#define KYMO_HEX(name, x) (kymo_value, name, x, 16, 0, kymo_field)
#define KYMO_OCT(name, x) (kymo_value, name, x, 8, 0, kymo_field)
#define KYMO_BIN(name, x) (kymo_value, name, x, 2, 0, kymo_field)
#define KYMO_STRN(name, text, n) (kymo_strn, name, text, n, 0, kymo_field)
#define KYMO_BLOB(name, pointer, n) (kymo_blob, name, pointer, n, 0, kymo_field)
#define KYMO_BLOB_FIXED(name, pointer, n, MAX) (kymo_fixed, name, pointer, n, MAX, kymo_field)
#define KYMO_ARRAY(name, pointer, count) (kymo_array, name, pointer, count, 0, kymo_field)

/* ---- the preprocessor's part ---- */

#define KYMO_CAT_(a, b) KYMO_CAT2_(a, b)
#define KYMO_CAT2_(a, b) a##b
#define KYMO_FIRST_(...) KYMO_FIRST2_(__VA_ARGS__, ~)
#define KYMO_FIRST2_(a, ...) a
#define KYMO_COUNT_(...) KYMO_COUNT2_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KYMO_COUNT2_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, n, ...) n
/* `KYMO_PROBE_ field` is a count for "(…) …" and KYMO_PROBE_ itself for anything else; 6 makes a wrapper. */
#define KYMO_PROBE_(...) KYMO_COUNT_(__VA_ARGS__)
#define KYMO_IS_KYMO_PROBE_ 0, ~
#define KYMO_IS_1 0, ~
#define KYMO_IS_2 0, ~
#define KYMO_IS_3 0, ~
#define KYMO_IS_4 0, ~
#define KYMO_IS_5 0, ~
#define KYMO_IS_6 1, ~
#define KYMO_IS_7 0, ~
#define KYMO_IS_8 0, ~
#define KYMO_IS_9 0, ~
#define KYMO_IS_10 0, ~
#define KYMO_IS_11 0, ~
#define KYMO_IS_12 0, ~
#define KYMO_IS_13 0, ~
#define KYMO_IS_14 0, ~
#define KYMO_IS_15 0, ~
#define KYMO_IS_16 0, ~
#define KYMO_IS_17 0, ~
#define KYMO_IS_18 0, ~
#define KYMO_IS_19 0, ~
#define KYMO_IS_20 0, ~
#define KYMO_IS_FIELD_(x) KYMO_FIRST_(KYMO_CAT_(KYMO_IS_, KYMO_PROBE_ x))
#define KYMO_OPEN_(...) __VA_ARGS__
#define KYMO_DO_(OP, i, x) KYMO_CAT_(KYMO_DO_, KYMO_IS_FIELD_(x))(OP, i, x)
#define KYMO_DO_0(OP, i, x) OP##_kymo_value_(i, kymo_unnamed, x, 0, 0)
#define KYMO_DO_1(OP, i, x) KYMO_DO2_(OP, i, KYMO_OPEN_ x)
#define KYMO_DO2_(...) KYMO_DO3_(__VA_ARGS__)
#define KYMO_DO3_(OP, i, KIND, name, a, b, c, end) OP##_##KIND##_(i, name, a, b, c)
#define KYMO_FIELD_CODE_(i, x) KYMO_DO_(KYMO_CODE, i, x)
#define KYMO_FIELD_TAKE_(i, x) KYMO_DO_(KYMO_TAKE, i, x)
#define KYMO_FIELD_SIZE_(i, x) KYMO_DO_(KYMO_SIZE, i, x)
#define KYMO_FIELD_PUT_(i, x) KYMO_DO_(KYMO_PUT, i, x)
#define KYMO_FIELD_MENTION_(i, x) KYMO_DO_(KYMO_MENTION, i, x)
#define KYMO_EACH_2(M, g, n)
#define KYMO_EACH_3(M, g, n, f1) M(1, f1)
#define KYMO_EACH_4(M, g, n, f1, f2) M(1, f1) M(2, f2)
#define KYMO_EACH_5(M, g, n, f1, f2, f3) M(1, f1) M(2, f2) M(3, f3)
#define KYMO_EACH_6(M, g, n, f1, f2, f3, f4) M(1, f1) M(2, f2) M(3, f3) M(4, f4)
#define KYMO_EACH_7(M, g, n, f1, f2, f3, f4, f5) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5)
#define KYMO_EACH_8(M, g, n, f1, f2, f3, f4, f5, f6) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6)
#define KYMO_EACH_9(M, g, n, f1, f2, f3, f4, f5, f6, f7) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7)
#define KYMO_EACH_10(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8)
#define KYMO_EACH_11(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9)
#define KYMO_EACH_12(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10)
#define KYMO_EACH_13(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11)
#define KYMO_EACH_14(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11) M(12, f12)
#define KYMO_EACH_15(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11) M(12, f12) M(13, f13)
#define KYMO_EACH_16(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11) M(12, f12) M(13, f13) M(14, f14)
#define KYMO_EACH_17(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11) M(12, f12) M(13, f13) M(14, f14) M(15, f15)
#define KYMO_EACH_18(M, g, n, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16) M(1, f1) M(2, f2) M(3, f3) M(4, f4) M(5, f5) M(6, f6) M(7, f7) M(8, f8) M(9, f9) M(10, f10) M(11, f11) M(12, f12) M(13, f13) M(14, f14) M(15, f15) M(16, f16)
#define KYMO_EACH_(M, ...) KYMO_CAT_(KYMO_EACH_, KYMO_COUNT_(__VA_ARGS__))(M, __VA_ARGS__)

#ifdef KYMO_DISABLE

/* Nothing is evaluated, but what is only traced does not count as unused. */
#define KYMO_MENTION_kymo_value_(i, name, x, n, c) (void)(x);
#define KYMO_MENTION_kymo_strn_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_blob_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_fixed_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_array_(i, name, x, n, c) (void)(x), (void)(n);
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
#include <type_traits>
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
size_t kymo_measure_long_(const char *text, size_t bound);
unsigned char *kymo_put_long_(unsigned char *at, const char *text, size_t length);

#define KYMO_LIKELY_(x) __builtin_expect(!!(x), 1)
#define KYMO_INLINE_ static inline __attribute__((always_inline, unused))

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

/* ---- texts ---- */

#if defined(__SSE2__) && !defined(KYMO_PLAIN_STRINGS) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define KYMO_VECTOR_TEXT_ 1
#endif
#else
#define KYMO_VECTOR_TEXT_ 1
#endif
#endif

/* A text about to be stored. Short ones are loaded once, so that a text which another thread changes
 * meanwhile cannot grow behind the check; long ones are checked while they are copied. */
struct kymo_text_ {
  const char *text;
  size_t length;
#ifdef KYMO_VECTOR_TEXT_
  __m128i bytes; /* the text and zeroes, if length < 16 */
#endif
};
#define KYMO_TEXT_MAX_ ((size_t)1 << 27) /* longer than any packet; 16 of them fit 32 bits */

KYMO_INLINE_ struct kymo_text_ kymo_take_text_(const char *text, size_t bound) {
  struct kymo_text_ t;
  if (!text) text = "(null)", bound = KYMO_TEXT_MAX_;
  __asm__("" : "+r"(text)); /* the compiler shall not know the size of what is read past */
  t.text = text;
#ifdef KYMO_VECTOR_TEXT_
  if (KYMO_LIKELY_(((uintptr_t)text & 4095) <= 4080 && bound > 0)) {
    static const unsigned char keep[32] __attribute__((aligned(16))) = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)text);
    unsigned zeroes = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
    if (bound < 16) zeroes |= 1u << bound;
    if (KYMO_LIKELY_(zeroes)) {
      t.length = (size_t)__builtin_ctz(zeroes);
      t.bytes = _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(const void *)(keep + 16 - t.length)));
      return t;
    }
  }
  t.bytes = _mm_setzero_si128();
#endif
  t.length = kymo_measure_long_(text, bound < KYMO_TEXT_MAX_ ? bound : KYMO_TEXT_MAX_);
  return t;
}

/* Stores may run up to 15 bytes past the event: each packet keeps that much room behind its end. */
KYMO_INLINE_ unsigned char *kymo_put_text_(unsigned char *at, const struct kymo_text_ *t) {
#ifdef KYMO_VECTOR_TEXT_
  if (KYMO_LIKELY_(t->length < 16 && ((uintptr_t)t->text & 4095) <= 4080)) {
    _mm_storeu_si128((__m128i *)(void *)at, t->bytes);
    return at + t->length + 1;
  }
#endif
  return kymo_put_long_(at, t->text, t->length);
}

KYMO_INLINE_ unsigned char *kymo_put_blob_(unsigned char *at, const void *data, size_t bytes, uint32_t count) {
  memcpy(at, &count, sizeof count);
  if (bytes) memcpy(at + sizeof count, data, bytes);
  return at + sizeof count + bytes;
}

KYMO_INLINE_ unsigned char *kymo_put_fixed_(unsigned char *at, const void *data, size_t bytes, size_t max) {
  if (bytes) memcpy(at, data, bytes);
  memset(at + bytes, 0, max - bytes);
  return at + max;
}

#define KYMO_CLAMP_(n, max) ((n) < (max) ? (size_t)(n) : (size_t)(max))

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- types of expressions ---- */

#define KYMO_CHAR_TYPE_ (KYMO_TYPE_CHAR_ | 1)
#ifndef __cplusplus

#define KYMO_AUTO_ __extension__ __auto_type
#define KYMO_TYPE_OF_(x)                                                                                     \
  _Generic((x), _Bool: KYMO_TYPE_BOOL_ | 1, char: KYMO_CHAR_TYPE_, signed char: KYMO_TYPE_SIGNED_ | 1,      \
           unsigned char: KYMO_TYPE_UNSIGNED_ | 1, short: KYMO_TYPE_SIGNED_ | sizeof(short),                 \
           unsigned short: KYMO_TYPE_UNSIGNED_ | sizeof(short), int: KYMO_TYPE_SIGNED_ | sizeof(int),        \
           unsigned int: KYMO_TYPE_UNSIGNED_ | sizeof(int), long: KYMO_CODE_LONG_ | KYMO_TYPE_SIGNED_ | sizeof(long), \
           unsigned long: KYMO_CODE_LONG_ | KYMO_TYPE_UNSIGNED_ | sizeof(long), long long: KYMO_TYPE_SIGNED_ | sizeof(long long), \
           unsigned long long: KYMO_TYPE_UNSIGNED_ | sizeof(long long), float: KYMO_TYPE_FLOAT_ | 4,         \
           double: KYMO_TYPE_FLOAT_ | 8, long double: KYMO_TYPE_FLOAT_ | 8, char *: KYMO_TYPE_TEXT_,         \
           const char *: KYMO_TYPE_TEXT_, default: KYMO_TYPE_POINTER_ | sizeof(void *))
#define KYMO_IS_TEXT_(v) _Generic((v), char *: 1, const char *: 1, default: 0)
#define KYMO_TEXT_OF_(v) _Generic((v), char *: (v), const char *: (v), default: (const char *)0)
/* how much of a char array may be read */
#define KYMO_BOUND_(x)                                                                                       \
  _Generic((__typeof__(x) *)0, char(*)[sizeof(x)]: sizeof(x), const char(*)[sizeof(x)]: sizeof(x),           \
           default: KYMO_TEXT_MAX_)
#define KYMO_STORED_(i)                                                                                      \
  __typeof__(_Generic((kymo_raw##i), long double: (double)0, default: kymo_raw##i)) kymo_v##i = kymo_raw##i
#define KYMO_ASSERT_ _Static_assert
/* A struct is no field (KYMO_BLOB takes its bytes): this is where the compiler says so. */
#define KYMO_ONLY_SCALARS_(v) (void)sizeof(!(v))
#define KYMO_NO_TEXT_ ((struct kymo_text_){0})

#else

namespace kymo_detail {
template <class T> struct plain { typedef typename std::decay<T>::type type; };
template <class T, class = void> struct stored { typedef T type; };
template <> struct stored<long double> { typedef double type; };
template <class T> constexpr uint64_t type_code() {
  static_assert(std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value,
                "kymo: a field is an integer, bool, char, enum, float, pointer or C string");
  return std::is_same<T, bool>::value      ? (KYMO_TYPE_BOOL_ | 1u)
         : std::is_same<T, char>::value    ? (KYMO_TYPE_CHAR_ | 1u)
         : std::is_floating_point<T>::value ? (KYMO_TYPE_FLOAT_ | (sizeof(T) > 8 ? 8u : (unsigned)sizeof(T)))
         : std::is_same<T, char *>::value || std::is_same<T, const char *>::value ? (unsigned)KYMO_TYPE_TEXT_
         : std::is_pointer<T>::value       ? (KYMO_TYPE_POINTER_ | (unsigned)sizeof(T))
         : std::is_enum<T>::value ? ((T)-1 < (T)0 ? KYMO_TYPE_SIGNED_ : KYMO_TYPE_UNSIGNED_) | (unsigned)sizeof(T)
         : (std::is_signed<T>::value ? KYMO_TYPE_SIGNED_ : KYMO_TYPE_UNSIGNED_) | (unsigned)sizeof(T) |
               (std::is_same<T, long>::value || std::is_same<T, unsigned long>::value ? KYMO_CODE_LONG_ : 0);
}
template <class T> struct bound { static constexpr size_t value = KYMO_TEXT_MAX_; };
template <size_t N> struct bound<char[N]> { static constexpr size_t value = N; };
template <size_t N> struct bound<const char[N]> { static constexpr size_t value = N; };
inline const char *text_of(const char *text) { return text; }
inline const char *text_of(char *text) { return text; }
template <class T> inline const char *text_of(const T &) { return nullptr; }
template <class T> struct is_text {
  static constexpr bool value = std::is_same<T, char *>::value || std::is_same<T, const char *>::value;
};
/* The descriptor of one call site. Hidden, so that its address is a constant also in PIC. */
template <class Tag, uint64_t... Codes> struct __attribute__((visibility("hidden"))) site {
  struct data { struct kymo_tracepoint head; uint64_t fields[sizeof...(Codes) + 1]; };
  static data point;
};
template <class Tag, uint64_t... Codes>
typename site<Tag, Codes...>::data site<Tag, Codes...>::point = {
    {0, 0, Tag::line, (uint16_t)sizeof...(Codes), Tag::flags}, {0, Codes...}};
} // namespace kymo_detail

#define KYMO_AUTO_ auto
#define KYMO_TYPE_OF_(x) kymo_detail::type_code<typename kymo_detail::plain<decltype(x)>::type>()
#define KYMO_IS_TEXT_(v) kymo_detail::is_text<typename std::remove_cv<decltype(v)>::type>::value
#define KYMO_TEXT_OF_(v) kymo_detail::text_of(v)
#define KYMO_BOUND_(x) kymo_detail::bound<typename std::remove_reference<decltype(x)>::type>::value
#define KYMO_STORED_(i) typename kymo_detail::stored<decltype(kymo_raw##i)>::type kymo_v##i = kymo_raw##i
#define KYMO_ASSERT_ static_assert
#define KYMO_ONLY_SCALARS_(v) (void)0 /* type_code says so */
#define KYMO_NO_TEXT_ kymo_text_()

#endif

/* ---- kinds of fields ---- */

/* What each kind of field adds to the descriptor (CODE), does before the event begins (TAKE: evaluate the
 * arguments, once), adds to its size (SIZE), and stores (PUT). i is the field's number. */
#define KYMO_CODE_kymo_value_(i, name, x, base, c) , KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_OF_(x), base, 0)
#define KYMO_TAKE_kymo_value_(i, name, x, base, c)                                                                \
  KYMO_AUTO_ kymo_raw##i = (x);                                                                              \
  KYMO_ONLY_SCALARS_(kymo_raw##i);                                                                           \
  KYMO_STORED_(i);                                                                                           \
  KYMO_ASSERT_(KYMO_IS_TEXT_(kymo_raw##i) || sizeof(kymo_v##i) == (KYMO_TYPE_OF_(kymo_raw##i) & 15),         \
               "kymo: no field can have this type");                                                         \
  struct kymo_text_ kymo_text##i = KYMO_IS_TEXT_(kymo_raw##i)                                                \
                                       ? kymo_take_text_(KYMO_TEXT_OF_(kymo_raw##i), KYMO_BOUND_(x))              \
                                       : KYMO_NO_TEXT_;
#define KYMO_SIZE_kymo_value_(i, name, x, base, c)                                                                \
  +(KYMO_IS_TEXT_(kymo_raw##i) ? kymo_text##i.length + 1 : sizeof(kymo_v##i))
#define KYMO_PUT_kymo_value_(i, name, x, base, c)                                                                 \
  if (KYMO_IS_TEXT_(kymo_raw##i)) kymo_at_ = kymo_put_text_(kymo_at_, &kymo_text##i);                        \
  else memcpy(kymo_at_, &kymo_v##i, sizeof(kymo_v##i)), kymo_at_ += sizeof(kymo_v##i);

#define KYMO_CODE_kymo_strn_(i, name, x, n, c) , KYMO_CODE_(KYMO_KIND_STRN_, KYMO_TYPE_TEXT_, 0, 0)
#define KYMO_TAKE_kymo_strn_(i, name, x, n, c) struct kymo_text_ kymo_text##i = kymo_take_text_((x), (size_t)(n));
#define KYMO_SIZE_kymo_strn_(i, name, x, n, c) +kymo_text##i.length + 1
#define KYMO_PUT_kymo_strn_(i, name, x, n, c) kymo_at_ = kymo_put_text_(kymo_at_, &kymo_text##i);

#define KYMO_CODE_kymo_blob_(i, name, x, n, c) , KYMO_CODE_(KYMO_KIND_BLOB_, KYMO_TYPE_UNSIGNED_ | 1, 16, 0)
#define KYMO_TAKE_kymo_blob_(i, name, x, n, c)                                                                    \
  const void *kymo_data##i = (x);                                                                            \
  size_t kymo_n##i = KYMO_CLAMP_((size_t)(n), KYMO_TEXT_MAX_);
#define KYMO_SIZE_kymo_blob_(i, name, x, n, c) +4 + kymo_n##i
#define KYMO_PUT_kymo_blob_(i, name, x, n, c)                                                                     \
  kymo_at_ = kymo_put_blob_(kymo_at_, kymo_data##i, kymo_n##i, (uint32_t)kymo_n##i);

#define KYMO_CODE_kymo_fixed_(i, name, x, n, max) , KYMO_CODE_(KYMO_KIND_FIXED_, KYMO_TYPE_UNSIGNED_ | 1, 16, max)
#define KYMO_TAKE_kymo_fixed_(i, name, x, n, max)                                                                 \
  const void *kymo_data##i = (x);                                                                            \
  KYMO_ASSERT_((max) > 0 && (max) <= 65536, "kymo: KYMO_BLOB_FIXED takes 1 to 65536 bytes");                 \
  size_t kymo_n##i = KYMO_CLAMP_((size_t)(n), (size_t)(max));
#define KYMO_SIZE_kymo_fixed_(i, name, x, n, max) +(size_t)(max)
#define KYMO_PUT_kymo_fixed_(i, name, x, n, max)                                                                  \
  kymo_at_ = kymo_put_fixed_(kymo_at_, kymo_data##i, kymo_n##i, (size_t)(max));

#define KYMO_CODE_kymo_array_(i, name, x, n, c) , KYMO_CODE_(KYMO_KIND_ARRAY_, KYMO_TYPE_OF_(*(x)), 0, 0)
#define KYMO_TAKE_kymo_array_(i, name, x, n, c)                                                                   \
  const void *kymo_data##i = (x);                                                                            \
  KYMO_ASSERT_(sizeof(*(x)) == (KYMO_TYPE_OF_(*(x)) & 15), "kymo: KYMO_ARRAY takes numbers");                \
  size_t kymo_n##i = KYMO_CLAMP_((size_t)(n), KYMO_TEXT_MAX_ / sizeof(*(x)));
#define KYMO_SIZE_kymo_array_(i, name, x, n, c) +4 + kymo_n##i * sizeof(*(x))
#define KYMO_PUT_kymo_array_(i, name, x, n, c)                                                                    \
  kymo_at_ = kymo_put_blob_(kymo_at_, kymo_data##i, kymo_n##i * sizeof(*(x)), (uint32_t)kymo_n##i);

/* ---- call sites ---- */

/* Where a DSO's call sites stand, and the hooks that register them when it is loaded and unloaded. Each
 * source file brings the hooks; the linker keeps one pair a DSO. */
#ifdef __cplusplus
extern "C" {
#endif
extern const int32_t __start_kymo_sites[] __attribute__((weak, visibility("hidden")));
extern const int32_t __stop_kymo_sites[] __attribute__((weak, visibility("hidden")));
void kymo_dso_enter_(void) __attribute__((weak, visibility("hidden"), constructor));
void kymo_dso_leave_(void) __attribute__((weak, visibility("hidden"), destructor));
void kymo_dso_enter_(void) {
  if (&__start_kymo_sites[0] != &__stop_kymo_sites[0]) kymo_register_(__start_kymo_sites, __stop_kymo_sites);
}
void kymo_dso_leave_(void) {
  if (&__start_kymo_sites[0] != &__stop_kymo_sites[0]) kymo_unregister_(__start_kymo_sites);
}
#ifdef __cplusplus
}
#endif

/* The offsets are relative, so the entry needs no relocation; "?" puts it into the group of the function
 * it stands in, so it goes when the linker drops a second copy of an inline function. */
#define KYMO_SITE_(point, text)                                                                              \
  __asm__ __volatile__(".pushsection kymo_sites,\"a?\"\n\t.balign 4\n\t.long %c0 - .\n\t.long %c1 - .\n\t"   \
                       ".popsection" ::"i"(point), "i"(text))
#ifndef __cplusplus
#define KYMO_DESCRIBE_(written, point_flags, ...)                                                            \
  static const char kymo_written_[] = written "\0" __FILE__;                                                 \
  static struct {                                                                                            \
    struct kymo_tracepoint head;                                                                             \
    uint64_t fields[KYMO_COUNT_(__VA_ARGS__) - 1];                                                           \
  } kymo_point_ = {{0, 0, __LINE__, KYMO_COUNT_(__VA_ARGS__) - 2, point_flags},                              \
                   {0 KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)}};                                           \
  KYMO_SITE_(&kymo_point_, kymo_written_)
#define KYMO_HEAD_ kymo_point_.head
#else
#define KYMO_DESCRIBE_(written, point_flags, ...)                                                            \
  struct kymo_tag_ {                                                                                         \
    static constexpr const char *text() { return written "\0" __FILE__; }                                    \
    enum : uint32_t { line = __LINE__ };                                                                     \
    enum : uint16_t { flags = point_flags };                                                                 \
  };                                                                                                         \
  using kymo_site_ = kymo_detail::site<kymo_tag_ KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)>;                 \
  KYMO_SITE_(&kymo_site_::point, kymo_tag_::text())
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
