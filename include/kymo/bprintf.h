/* SPDX-License-Identifier: MIT */
/*
 * kymo/bprintf.h: a printf that stores binary, for logs of kymo/log.h.
 *
 *   kymo_bprintf(log, "%1b%2n%s%<8b", kind, name, time);
 *
 * stores one byte of kind, two of the event's length, the bytes of name, eight of time, little-endian:
 * exactly what the format says. The format is a literal; an optimising compiler turns it into plain stores. A
 * pointer for %b, a number for %s, and too few or too many arguments do not compile, with optimisation or
 * without (kymo/bcheck.h); after a directive with a width, or one of printf's, and with more than 15
 * arguments, the call fails with EINVAL.
 *
 *   %b         an integer of 8 bytes; %1b %2b %4b %8b of 1 to 8 bytes, upper ones cut. %W.Pb: P bytes in a
 *              field of W, zeroes before it, with - after. %<4b little-endian, %>4b big-endian; else as the
 *              machine has it. %4b*3: three of them
 *   %n         no argument: the length of the whole event, in 2 bytes; %1n %2n %4n. %<n %>n
 *   %s         bytes of a text, without its zero; %0s: with it. Width and precision as of printf. NULL:
 *              (null)
 *   %S         the length in 2 bytes, and the bytes; %1S %2S %4S; precision: the maximum. %<S %>S
 *   %m %M      memory: a pointer; as many bytes as the precision says (1), raw, or as hexadecimal digits
 *   %o         an object: a pointer and its length: the length in 4 bytes (%1o %2o %4o), and the bytes. %.8o:
 *              an array of elements of 8 bytes: a pointer and their count. %<o %>o: of the number
 *   %c         a byte
 *   %d %i %u %x %X %e %f %g %a … and %p   text, as printf writes it; widths and precisions up to 200
 *   %%         a per cent sign; everything else is stored as it stands
 *
 * Widths and precisions may be *: an int before the value. Arguments know their types: %b and %d take
 * integers of any size.
 *
 * The result: the bytes stored; 0 if the log is off; -1 with errno if nothing was stored (EINVAL: the
 * format or an argument, ENOBUFS: no space). If the event does not fit the log's largest event, or the
 * smallest %n, it ends before the first directive that does not fit, and is counted (kymo_log_count). A %S
 * that is longer than its number can express is cut and counted likewise.
 *
 * Async-signal-safe, but for floats.
 */
#ifndef KYMO_BPRINTF_H
#define KYMO_BPRINTF_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/bcheck.h>
#include <kymo/log.h>
#include <kymo/words.h>
#include <string.h>
#ifdef __cplusplus
#include <type_traits>
#endif

/* An argument with its type, for kymo_bvprintf: KYMO_BARG(x). */
enum kymo_barg_kind {
  KYMO_BARG_SIGNED = 1,
  KYMO_BARG_UNSIGNED,
  KYMO_BARG_FLOAT,
  KYMO_BARG_TEXT,
  KYMO_BARG_POINTER
};
struct kymo_barg {
  uint64_t number; /* or the bits of a double */
  const void *pointer;
  size_t length; /* of a text, where it is known */
  uint8_t kind, bytes;
};

/* Events in pieces: kymo_bevent_begin, kymo_bevent_printf as often as needed, kymo_bevent_commit. The members
 * are private to the library. */
struct kymo_bevent {
  struct kymo_log *log; /* NULL: off, or abandoned */
  unsigned char *begin, *at, *end;
  uint32_t holes;
  bool is_cut;
  struct kymo_bhole {
    uint32_t at;
    uint8_t size, order;
  } hole[8];
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The same with a format that need not be a literal, and arguments in a vector, KYMO_BARGS(x, y): an
 * untrusted format can read nothing but them. The format is parsed at each call.
 */
int kymo_bvprintf(struct kymo_log *log, const char *format, const struct kymo_barg *args, size_t count);
/* What is wrong with a format, and where; NULL: nothing. */
const char *kymo_bformat_fault(const char *format, size_t *at);

/*
 * An event that several calls build in the caller's memory: %n is the length of the whole event, and the
 * commit stores the event as a whole, at that time. If it does not fit the buffer, it ends before the first
 * directive that does not fit.
 */
void kymo_bevent_begin(struct kymo_bevent *event, struct kymo_log *log, void *room, size_t size);
int kymo_bevent_vprintf(struct kymo_bevent *event, const char *format, const struct kymo_barg *args,
                        size_t count);
/* Reserves bytes, which the caller fills before the next call. NULL: there is no space, or the log is
 * off. */
void *kymo_bevent_space(struct kymo_bevent *event, size_t size);
/* The result is that of kymo_bprintf. */
int kymo_bevent_commit(struct kymo_bevent *event);

/* The format of a call site, parsed at its first call. */
struct kymo_bcache_ {
  const struct kymo_bprogram *program;
};
int kymo_bprintf_slow_(struct kymo_log *log, struct kymo_bcache_ *cache, const char *format,
                       const struct kymo_barg *args, size_t count);

#ifdef __cplusplus
}
#endif

/* ---- arguments ---- */

KYMO_INLINE_ struct kymo_barg kymo_barg_make_(uint64_t number, const void *pointer, uint8_t kind,
                                              uint8_t bytes) {
  struct kymo_barg arg;
  arg.number = number;
  arg.pointer = pointer;
  arg.length = 0;
  arg.kind = kind;
  arg.bytes = bytes;
  return arg;
}
KYMO_INLINE_ struct kymo_barg kymo_barg_float_(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return kymo_barg_make_(bits, 0, KYMO_BARG_FLOAT, 8);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_text_(const char *text) {
  return kymo_barg_make_(0, text, KYMO_BARG_TEXT, 0);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_pointer_(const volatile void *pointer) {
  return kymo_barg_make_((uintptr_t)pointer, (const void *)pointer, KYMO_BARG_POINTER, 8);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_signed_(int value) {
  return kymo_barg_make_((uint64_t)(int64_t)value, 0, KYMO_BARG_SIGNED, 4);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_unsigned_(unsigned value) {
  return kymo_barg_make_(value, 0, KYMO_BARG_UNSIGNED, 4);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_signed_long_(long long value) {
  return kymo_barg_make_((uint64_t)value, 0, KYMO_BARG_SIGNED, 8);
}
KYMO_INLINE_ struct kymo_barg kymo_barg_unsigned_long_(unsigned long long value) {
  return kymo_barg_make_(value, 0, KYMO_BARG_UNSIGNED, 8);
}

#ifndef __cplusplus
/* clang-format off */
#define KYMO_BARG(x) \
  _Generic((x), _Bool: kymo_barg_unsigned_, char: kymo_barg_signed_, signed char: kymo_barg_signed_, \
           unsigned char: kymo_barg_unsigned_, short: kymo_barg_signed_, \
           unsigned short: kymo_barg_unsigned_, int: kymo_barg_signed_, unsigned: kymo_barg_unsigned_, \
           long: kymo_barg_signed_long_, unsigned long: kymo_barg_unsigned_long_, \
           long long: kymo_barg_signed_long_, unsigned long long: kymo_barg_unsigned_long_, \
           float: kymo_barg_float_, double: kymo_barg_float_, \
           char *: kymo_barg_text_, const char *: kymo_barg_text_, default: kymo_barg_pointer_)(x)
/* clang-format on */
/* A struct, which kymo/bcheck.h reports: NULL replaces it. */
#define KYMO_BARG_OR_NULL_(x) KYMO_BARG(__builtin_choose_expr(KYMO_IS_RECORD_(x), (const void *)0, (x)))
#define KYMO_IS_RECORD_(x) (__builtin_classify_type(x) == 12 || __builtin_classify_type(x) == 13)
#else
namespace kymo_detail {
KYMO_UNTRACED_ inline struct kymo_barg barg(float value) { return kymo_barg_float_((double)value); }
KYMO_UNTRACED_ inline struct kymo_barg barg(double value) { return kymo_barg_float_(value); }
KYMO_UNTRACED_ inline struct kymo_barg barg(const char *value) { return kymo_barg_text_(value); }
KYMO_UNTRACED_ inline struct kymo_barg barg(const volatile void *value) { return kymo_barg_pointer_(value); }
template <class T>
KYMO_UNTRACED_ inline typename std::enable_if<std::is_integral<T>::value, struct kymo_barg>::type
barg(T value) {
  return kymo_barg_make_((uint64_t)value, nullptr,
                         std::is_signed<T>::value || std::is_same<T, char>::value ? KYMO_BARG_SIGNED
                                                                                  : KYMO_BARG_UNSIGNED,
                         sizeof(T) > 4 ? 8 : 4);
}
template <class T>
KYMO_UNTRACED_ inline typename std::enable_if<std::is_enum<T>::value, struct kymo_barg>::type barg(T value) {
  return barg((typename std::underlying_type<T>::type)value);
}
template <class T> struct is_no_barg {
  static constexpr bool value = (std::is_class<T>::value || std::is_union<T>::value) &&
                                !std::is_convertible<T, const volatile void *>::value &&
                                !std::is_convertible<T, double>::value;
};
/* An object, which kymo/bcheck.h reports: NULL replaces it. */
template <class T>
KYMO_UNTRACED_ inline typename std::enable_if<is_no_barg<T>::value, const void *>::type
barg_or_null(const T &) {
  return nullptr;
}
template <class T>
KYMO_UNTRACED_ inline
    typename std::enable_if<!is_no_barg<T>::value && !std::is_class<T>::value && !std::is_union<T>::value,
                            T>::type
    barg_or_null(T value) {
  return value;
}
template <class T>
KYMO_UNTRACED_ inline
    typename std::enable_if<!is_no_barg<T>::value && (std::is_class<T>::value || std::is_union<T>::value),
                            const T &>::type
    barg_or_null(const T &value) {
  return value;
}
} // namespace kymo_detail
#define KYMO_BARG(x) kymo_detail::barg(x)
#define KYMO_BARG_OR_NULL_(x) KYMO_BARG(kymo_detail::barg_or_null(x))
#endif

/* ---- formats parsed by the compiler ---- */

/* Text in a simple format, and the directive after it. All is constant once it is inlined: there are no
 * branches, since compilers can evaluate a chain of these only without them. */
struct kymo_bspec_ {
  size_t text, text_bytes, next; /* places in the format */
  unsigned size, again;          /* again: how often the directive is repeated */
  char conversion;               /* 0: the end */
  char order;                    /* 0, '<', '>' */
  bool is_ended;                 /* %0s */
  bool is_simple;
  unsigned without; /* directives before it that take no argument */
};
KYMO_INLINE_ struct kymo_bspec_ kymo_bfirst_(void) {
  const struct kymo_bspec_ none = {0, 0, 0, 0, 0, 0, 0, false, true, 0};
  return none;
}
KYMO_INLINE_ struct kymo_bspec_ kymo_bnext_(const char *format, const struct kymo_bspec_ *before) {
  size_t begin = before->next;
  const char *sign = __builtin_strchr(format + begin, '%');
  size_t bytes = sign ? (size_t)(sign - (format + begin)) : __builtin_strlen(format + begin);
  size_t at = begin + bytes + (sign ? 1 : 0); /* without a directive it stays at the final zero */
  char order = format[at];
  order = ((order == '<') | (order == '>')) ? order : (char)0;
  at += order ? 1 : 0;
  bool is_zero = format[at] == '0';
  at += is_zero ? 1 : 0;
  bool is_sized = (format[at] >= '1') & (format[at] <= '8');
  unsigned size = is_sized ? (unsigned)(format[at] - '0') : 0;
  at += is_sized ? 1 : 0;
  char conversion = format[at];
  at += conversion ? 1 : 0;
  bool is_b = conversion == 'b', is_s = conversion == 's',
       is_number = is_b | (conversion == 'n') | (conversion == 'S');
  bool is_starred = is_b & (format[at] == '*');
  at += is_starred ? 1 : 0;
  bool is_repeated = is_starred & (format[at] >= '1') & (format[at] <= '9');
  unsigned times = is_repeated ? (unsigned)(format[at] - '0') : 1;
  at += is_repeated ? 1 : 0;
  bool is_odd = (is_starred & !is_repeated) | (is_repeated & (format[at] >= '0') & (format[at] <= '9'));
  unsigned bytes_of = size ? size : is_b ? 8 : 2;
  bool is_size = (bytes_of == 1) | (bytes_of == 2) | (bytes_of == 4) | (is_b & (bytes_of == 8));
  bool is_bare = !order & !is_sized & (is_s | !is_zero);
  bool is_known = is_number ? is_size & !is_zero
                            : is_bare & (is_s | (conversion == 'c') | (conversion == '%') | !conversion);
  bool is_again = before->again > 1;
  struct kymo_bspec_ spec;
  spec.text = begin;
  spec.text_bytes = is_again ? 0 : bytes + (conversion == '%' ? 1 : 0);
  spec.next = is_again ? before->next : at;
  spec.size = is_again ? before->size : bytes_of;
  spec.again = is_again ? before->again - 1 : times;
  spec.conversion = is_again ? before->conversion : (sign || !conversion) ? conversion : (char)0;
  spec.order = is_again ? before->order : order;
  spec.is_ended = is_again ? false : is_zero;
  spec.without = before->without + (((before->conversion == 'n') | (before->conversion == '%')) ? 1 : 0);
  spec.is_simple = before->is_simple & (is_again | (is_known & !is_odd)) & (spec.without < 4);
  return spec;
}

/* What is to be stored, summed up over the directives. */
struct kymo_bsum_ {
  size_t total, most;
  unsigned taken; /* arguments */
  unsigned wrong; /* enum kymo_bwrong_ */
};
enum kymo_bwrong_ { KYMO_B_NO_INTEGER_ = 1, KYMO_B_NO_TEXT_ = 2, KYMO_B_TOO_FEW_ = 4, KYMO_B_TOO_MANY_ = 8 };

KYMO_INLINE_ struct kymo_barg kymo_bnothing_(void) { return kymo_barg_make_(0, 0, 0, 0); }
/* The directive of a step takes the argument of this step, or of one of the three steps before it. */
KYMO_INLINE_ struct kymo_barg kymo_bpick_(const struct kymo_bspec_ *spec, struct kymo_barg w0,
                                          struct kymo_barg w1, struct kymo_barg w2, struct kymo_barg w3) {
  return spec->without == 0 ? w0 : spec->without == 1 ? w1 : spec->without == 2 ? w2 : w3;
}
KYMO_INLINE_ bool kymo_btakes_(const struct kymo_bspec_ *spec) {
  return (spec->conversion != 'n') & (spec->conversion != '%') & (spec->conversion != 0);
}
KYMO_INLINE_ unsigned kymo_bfit_(char conversion, const struct kymo_barg *arg) {
  bool is_integer = (arg->kind == KYMO_BARG_SIGNED) | (arg->kind == KYMO_BARG_UNSIGNED),
       is_text = arg->kind == KYMO_BARG_TEXT;
  bool takes_integer = (conversion == 'b') | (conversion == 'c');
  return !arg->kind      ? KYMO_B_TOO_FEW_
         : takes_integer ? (is_integer ? 0 : KYMO_B_NO_INTEGER_)
         : is_text       ? 0
                         : KYMO_B_NO_TEXT_;
}
KYMO_INLINE_ struct kymo_bsum_ kymo_bmeasure_(struct kymo_bsum_ sum, const struct kymo_bspec_ *spec,
                                              struct kymo_barg *arg) {
  if (!spec->is_simple)
    return sum;
  sum.total += spec->text_bytes;
  if (spec->conversion == 'n') {
    size_t limit = spec->size == 1 ? 0xffu : spec->size == 2 ? 0xffffu : 0xffffffffu;
    if (limit < sum.most)
      sum.most = limit;
    sum.total += spec->size;
  }
  if (!kymo_btakes_(spec))
    return sum;
  sum.taken++;
  unsigned wrong = kymo_bfit_(spec->conversion, arg);
  sum.wrong |= wrong;
  if (spec->conversion == 'b')
    sum.total += spec->size;
  else if (spec->conversion == 'c')
    sum.total++;
  else if (!wrong) {
    if (!arg->pointer)
      arg->pointer = "(null)";
    arg->length = __builtin_strlen((const char *)arg->pointer);
    sum.total += arg->length + (spec->conversion == 'S' ? spec->size : spec->is_ended ? 1 : 0);
    /* a length that its number cannot express takes the slow path */
    if (spec->conversion == 'S' && spec->size < 4 && arg->length >> (8 * spec->size))
      sum.most = 0;
  }
  return sum;
}
/* Puts a number of 1, 2, 4 or 8 bytes. */
KYMO_INLINE_ unsigned char *kymo_bput_(unsigned char *at, uint64_t number, unsigned size, char order) {
  const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
  bool is_turned = order && order != native;
  uint8_t one = (uint8_t)number;
  uint16_t two = is_turned ? __builtin_bswap16((uint16_t)number) : (uint16_t)number;
  uint32_t four = is_turned ? __builtin_bswap32((uint32_t)number) : (uint32_t)number;
  uint64_t eight = is_turned ? __builtin_bswap64(number) : number;
  if (size == 1)
    memcpy(at, &one, 1);
  else if (size == 2)
    memcpy(at, &two, 2);
  else if (size == 4)
    memcpy(at, &four, 4);
  else
    memcpy(at, &eight, 8);
  return at + size;
}
KYMO_INLINE_ unsigned char *kymo_bstore_(unsigned char *at, const struct kymo_bspec_ *spec,
                                         const char *format, const struct kymo_barg *arg, size_t total) {
  memcpy(at, format + spec->text, spec->text_bytes);
  at += spec->text_bytes;
  if (spec->conversion == 'n')
    return kymo_bput_(at, total, spec->size, spec->order);
  if (!kymo_btakes_(spec))
    return at;
  if (spec->conversion == 'b')
    return kymo_bput_(at, arg->number, spec->size, spec->order);
  if (spec->conversion == 'c') {
    *at = (unsigned char)arg->number;
    return at + 1;
  }
  if (spec->conversion == 'S')
    at = kymo_bput_(at, arg->length, spec->size, spec->order);
  memcpy(at, arg->pointer, arg->length);
  at += arg->length;
  if (spec->is_ended)
    *at++ = 0;
  return at;
}

/* ---- space ---- */

/* flags: KYMO_FRAME_… */
KYMO_INLINE_ struct kymo_bplace_ kymo_breserve_(struct kymo_log *log, size_t size, uint32_t flags) {
  struct kymo_thread_buffer_ *buffer = kymo_thread_buffers_[log->buffer];
  if (__builtin_expect(buffer->log == log && !buffer->busy && !buffer->nested, 1)) {
    __atomic_store_n(&buffer->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler that comes now finds it busy */
    unsigned char *at = buffer->at;
    if (__builtin_expect(size + log->frame <= (size_t)(buffer->end - at), 1)) {
      struct kymo_bplace_ place = {at, buffer, 0};
      if (log->frame) {
        uint32_t sequence = __atomic_fetch_add(&log->sequence, 1, __ATOMIC_RELAXED),
                 length = (uint32_t)size | flags;
        memcpy(at, KYMO_FRAME_MAGIC_, 4);
        memcpy(at + 4, &sequence, 4);
        memcpy(at + 8, &length, 4);
        place.at = at + KYMO_FRAME_BYTES_;
      }
      return place;
    }
    __atomic_store_n(&buffer->busy, 0, __ATOMIC_RELAXED);
  }
  return kymo_breserve_slow_(log, size, flags);
}
/* The event ends at `end`. */
KYMO_INLINE_ void kymo_bcommit_(struct kymo_bplace_ place, unsigned char *end) {
  if (__builtin_expect(place.slow, 0)) {
    kymo_bcommit_slow_(place, end);
    return;
  }
  /* release: a flush that acquires it sees the bytes before it; partner: kymo_thread_buffer_flush */
  __atomic_store_n(&place.buffer->at, end, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&place.buffer->busy, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(place.buffer->nested != 0, 0))
    kymo_bnested_(place.buffer);
}

/* ---- the macros ---- */

#define KYMO_BFORMAT_OF_(format, ...) format
/* KYMO_LIST_ for the arguments after the format. */
#define KYMO_BLIST_(M, ID, ...) KYMO_CAT_(KYMO_BLIST_, KYMO_BALONE_(__VA_ARGS__))(M, ID, __VA_ARGS__)
#define KYMO_BLIST_1(M, ID, format)
#define KYMO_BLIST_0(M, ID, format, ...) KYMO_LIST_(M, ID, __VA_ARGS__)
#define KYMO_BALONE_(...) KYMO_SECOND_(KYMO_CAT_(KYMO_BALONE_, KYMO_COUNT_(__VA_ARGS__)), 0, ~)
#define KYMO_BALONE_1 ~, 1, ~

#define KYMO_BTAKE_(ID, i, previous, x) const struct kymo_barg kymo_barg##i = KYMO_BARG_OR_NULL_(x);
#define KYMO_BTAKEN_(ID, i, previous, x) kymo_barg##i,
#define KYMO_BMEASURE_(ID, i, previous, x)                                                           \
  kymo_w3_ = kymo_w2_, kymo_w2_ = kymo_w1_, kymo_w1_ = kymo_w0_, kymo_w0_ = kymo_barg##i;            \
  const struct kymo_bspec_ kymo_spec##i = kymo_spec_ = kymo_bnext_(ID, &kymo_spec_);                 \
  struct kymo_barg kymo_arg##i = kymo_bpick_(&kymo_spec##i, kymo_w0_, kymo_w1_, kymo_w2_, kymo_w3_); \
  kymo_sum_ = kymo_bmeasure_(kymo_sum_, &kymo_spec##i, &kymo_arg##i);
#define KYMO_BSTORE_(ID, i, previous, x) \
  kymo_to_ = kymo_bstore_(kymo_to_, &kymo_spec##i, ID, &kymo_arg##i, kymo_sum_.total);

KYMO_INLINE_ int kymo_bresult_(int result) { return result; }

/* Stores an event, or one part of one. The first argument is the format. */
#define kymo_bprintf(log, ...)                                                                       \
  __extension__({                                                                                    \
    KYMO_STOP_(kymo_refuse_bformat_(KYMO_BFORMAT_FAULT_(__VA_ARGS__)))                               \
    KYMO_BQUOTED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~))                                                  \
    (void)sizeof(log), (void)sizeof(KYMO_BFORMAT_OF_(__VA_ARGS__, ~));                               \
    kymo_bresult_(!"" KYMO_BFORMAT_OF_(__VA_ARGS__, ~) + ({                                          \
      KYMO_BCHECKED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~), __VA_ARGS__)                                  \
      KYMO_STOP_(kymo_refuse_bformat_(kymo_bad_d))                                                   \
      KYMO_BASSERTED_() struct kymo_log *kymo_log_ = (log);                                          \
      int kymo_result_ = 0;                                                                          \
      if (__builtin_expect(__atomic_load_n(&kymo_log_->point->enabled, __ATOMIC_RELAXED) != 0, 1)) { \
        KYMO_BLIST_(KYMO_BTAKE_, 0, __VA_ARGS__)                                                     \
        KYMO_BPRINTF_(KYMO_BPLAIN_, "" KYMO_BFORMAT_OF_(__VA_ARGS__, ~), __VA_ARGS__)                \
      }                                                                                              \
      kymo_result_;                                                                                  \
    }));                                                                                             \
  })
#define kymo_bevent_printf(event, ...)                                                                       \
  __extension__({                                                                                            \
    KYMO_STOP_(kymo_refuse_bformat_(KYMO_BFORMAT_FAULT_(__VA_ARGS__)))                                       \
    KYMO_BQUOTED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~))                                                          \
    (void)sizeof(event), (void)sizeof(KYMO_BFORMAT_OF_(__VA_ARGS__, ~));                                     \
    kymo_bresult_(!"" KYMO_BFORMAT_OF_(__VA_ARGS__, ~) + ({                                                  \
      KYMO_BCHECKED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~), __VA_ARGS__)                                          \
      KYMO_STOP_(kymo_refuse_bformat_(kymo_bad_d))                                                           \
      KYMO_BASSERTED_() struct kymo_bevent *kymo_event_ = (event);                                           \
      int kymo_result_ = 0;                                                                                  \
      if (kymo_event_->log) {                                                                                \
        KYMO_BLIST_(KYMO_BTAKE_, 0, __VA_ARGS__)                                                             \
        const struct kymo_barg kymo_args_[] = {kymo_bnothing_(), KYMO_BLIST_(KYMO_BTAKEN_, 0, __VA_ARGS__)}; \
        kymo_result_ = kymo_bevent_vprintf(kymo_event_, "" KYMO_BFORMAT_OF_(__VA_ARGS__, ~), kymo_args_ + 1, \
                                           sizeof kymo_args_ / sizeof kymo_args_[0] - 1);                    \
      }                                                                                                      \
      kymo_result_;                                                                                          \
    }));                                                                                                     \
  })
/* Parts of a store: the bytes before the event, its space, and the slow path. */
#define KYMO_BPLAIN_EXTRA_ 0u
#define KYMO_BPLAIN_RESERVE_(size) kymo_breserve_(kymo_log_, size, 0)
#define KYMO_BPLAIN_SLOW_(...) kymo_bprintf_slow_(kymo_log_, __VA_ARGS__)
#define KYMO_BSLOW_(TO, format, ...)                                                                     \
  {                                                                                                      \
    static struct kymo_bcache_ kymo_cache_;                                                              \
    const struct kymo_barg kymo_args_[] = {kymo_bnothing_(), KYMO_BLIST_(KYMO_BTAKEN_, 0, __VA_ARGS__)}; \
    kymo_result_ =                                                                                       \
        TO##SLOW_(&kymo_cache_, format, kymo_args_ + 1, sizeof kymo_args_ / sizeof kymo_args_[0] - 1);   \
  }

/* gcc's AddressSanitizer prevents the folding of the code below: one call took seconds and a hundred
 * megabytes to compile. */
#if !defined __OPTIMIZE__ || defined __SANITIZE_ADDRESS__
#define KYMO_BPRINTF_(TO, format, ...) KYMO_BSLOW_(TO, format, __VA_ARGS__)
#else
  /* As many directives as there are arguments, the end, and three without an argument; a format with more
   * takes the slow path. */
#define KYMO_BWALK_(STEP, format, ...)   \
  KYMO_BLIST_(STEP, format, __VA_ARGS__) \
  STEP(format, _a, 0, 0) STEP(format, _b, 0, 0) STEP(format, _c, 0, 0) STEP(format, _d, 0, 0)
#define KYMO_BMEASURE_ALL_(format, limit, ...)                                                       \
  const struct kymo_barg kymo_barg_a = kymo_bnothing_(), kymo_barg_b = kymo_barg_a,                  \
                         kymo_barg_c = kymo_barg_a, kymo_barg_d = kymo_barg_a;                       \
  struct kymo_barg kymo_w0_ = kymo_barg_a, kymo_w1_ = kymo_barg_a, kymo_w2_ = kymo_barg_a, kymo_w3_; \
  struct kymo_bspec_ kymo_spec_ = kymo_bfirst_();                                                    \
  struct kymo_bsum_ kymo_sum_ = {0, limit, 0, 0};                                                    \
  KYMO_BWALK_(KYMO_BMEASURE_, format, __VA_ARGS__)                                                   \
  const bool kymo_is_simple_ = kymo_spec_d.is_simple && !kymo_spec_d.conversion;                     \
  if (kymo_is_simple_ && kymo_sum_.taken + 1 < KYMO_COUNT_(__VA_ARGS__))                             \
    kymo_sum_.wrong |= KYMO_B_TOO_MANY_;
#define KYMO_BPRINTF_(TO, format, ...)                                                                 \
  KYMO_BMEASURE_ALL_(format, kymo_log_->event_max - TO##EXTRA_, __VA_ARGS__)                           \
  if (kymo_is_simple_ && !kymo_sum_.wrong && __builtin_expect(kymo_sum_.total <= kymo_sum_.most, 1)) { \
    struct kymo_bplace_ kymo_place_ = TO##RESERVE_(kymo_sum_.total);                                   \
    kymo_result_ = -1;                                                                                 \
    if (__builtin_expect(kymo_place_.at != 0, 1)) {                                                    \
      unsigned char *kymo_to_ = kymo_place_.at;                                                        \
      KYMO_BWALK_(KYMO_BSTORE_, format, __VA_ARGS__)                                                   \
      kymo_bcommit_(kymo_place_, kymo_to_);                                                            \
      kymo_result_ = (int)kymo_sum_.total;                                                             \
    }                                                                                                  \
  } else                                                                                               \
    KYMO_BSLOW_(TO, format, __VA_ARGS__)
#endif

#endif
