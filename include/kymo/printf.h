/* SPDX-License-Identifier: MIT */
/*
 * kymo/printf.h: tracepoints that are written like printf. Included by kymo/trace.h.
 *
 *   KYMO_PRINTF(log, note, "got %u bytes from %s", n, host);
 *
 * is a tracepoint "log:note" with the fields n and host, stored in binary as KYMO(log, note, n, host) stores
 * them; the format is kept once, with the event's description, and readers make the text: log:note "got 5
 * bytes from x". Nothing is formatted while tracing. The format is a literal, and the compiler checks it as
 * it checks those of printf (-Wformat, part of -Wall).
 *
 * It is C's syntax, all flags, widths, precisions, * and length modifiers, and %m, which stores errno; but
 * not %n, and not the numbered arguments of POSIX. %s stores as much as its precision allows and needs no
 * zero after that. %ls stores UTF-8, whatever the locale: as many whole characters as its precision has
 * bytes for, U+FFFD for what is none. Up to 16 arguments; KYMO_AS(name, x) names one, KYMO_LEVEL and
 * KYMO_ABOUT may stand among them. A long double is stored as a double, which gcc reports with
 * -Wfloat-conversion. A pointer to signed integers, which %n would take, is cast to void * for %p.
 */
#ifndef KYMO_PRINTF_H
#define KYMO_PRINTF_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/check.h>
#include <errno.h>

/* Only for the compiler's check of the format; it is never called. */
static inline __attribute__((unused, format(printf, 1, 2))) void kymo_check_format_(const char *format, ...) {
  (void)format;
}

/* Of "group, name, format, arguments…" the format, and the rest. Too few or too many are reported: something
 * that compiles replaces them. */
#define KYMO_LESS_FORMAT_(...) KYMO_CAT_(KYMO_LESS_FORMAT_, KYMO_PRINTED_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define KYMO_LESS_FORMAT_kymo_few(...) kymo, kymo
#define KYMO_LESS_FORMAT_kymo_many(group, name, ...) group, name
#define KYMO_LESS_FORMAT_3(group, name, format) group, name
#define KYMO_LESS_FORMAT_4(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_5(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_6(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_7(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_8(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_9(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_10(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_11(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_12(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_13(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_14(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_15(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_16(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_17(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_18(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_LESS_FORMAT_19(group, name, format, ...) group, name, __VA_ARGS__
#define KYMO_PRINTED_COUNT_(...)                                                                             \
  KYMO_COUNT2_(__VA_ARGS__, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,     \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,       \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,       \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,       \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,       \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,       \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, 19, 18, 17, 16, 15, 14, 13, \
               12, 11, 10, 9, 8, 7, 6, 5, 4, 3, kymo_few, kymo_few, kymo_few)

/* KYMO_PRINT_DO_(OP, i, argument) is KYMO_DO_ of the kinds that a format can have, and OP_kymo_none_ of
 * others, which are refused. */
#define KYMO_PRINT_DO_(OP, i, x) KYMO_CAT_(KYMO_PRINT_DO_, KYMO_FORM_(x))(OP, i, x)
#define KYMO_PRINT_DO_0(OP, i, x) OP##_kymo_value_(i, kymo_unnamed, x, 0, 0)
#define KYMO_PRINT_DO_2(OP, i, x) OP##_kymo_value_(i, kymo_unnamed, x, 0, 0)
#define KYMO_PRINT_DO_1(OP, i, x) KYMO_PRINT_DO2_(OP, i, KYMO_OPEN_ x)
#define KYMO_PRINT_DO2_(...) KYMO_PRINT_DO3_(__VA_ARGS__)
#define KYMO_PRINT_DO3_(OP, i, KIND, name, a, b, c, end) \
  KYMO_CAT_(OP##_, KYMO_PRINTED_AS_##KIND)(i, name, a, b, c)
#define KYMO_PRINTED_AS_kymo_value kymo_value_
#define KYMO_PRINTED_AS_kymo_level kymo_level_
#define KYMO_PRINTED_AS_kymo_about kymo_about_
#define KYMO_PRINTED_AS_kymo_strn kymo_none_
#define KYMO_PRINTED_AS_kymo_blob kymo_none_
#define KYMO_PRINTED_AS_kymo_fixed kymo_none_
#define KYMO_PRINTED_AS_kymo_array kymo_none_
#define KYMO_PRINTED_AS_kymo_struct kymo_none_
#define KYMO_PRINTED_AS_kymo_union kymo_none_
#define KYMO_PRINTED_AS_kymo_structs kymo_none_
#define KYMO_PRINTED_AS_kymo_pointee kymo_none_
#define KYMO_PRINTED_AS_kymo_variant kymo_none_
#define KYMO_PRINTED_AS_kymo_enum kymo_none_
#define KYMO_PRINTED_AS_kymo_typed kymo_none_
#define KYMO_PRINTED_AS_kymo_optional kymo_none_
#define KYMO_PRINTED_AS_kymo_bits kymo_none_
#define KYMO_PRINTED_AS_kymo_text kymo_none_
#define KYMO_PRINTED_AS_kymo_miscounted kymo_none_

#ifndef KYMO_DISABLE

#define KYMO_PRINTF_(names, written, format, ...)                                                      \
  do {                                                                                                 \
    KYMO_DESCRIBE_(written "\0" format, KYMO_POINT_PRINTF_, __VA_ARGS__);                              \
    if (!KYMO_LIKELY_(!KYMO_IS_ON_(KYMO_HEAD_))) {                                                     \
      int kymo_given_ = 0;                                                                             \
      const bool kymo_has_count_ = KYMO_HAS_COUNT_(format);                                            \
      (void)kymo_given_, (void)kymo_has_count_;                                                        \
      KYMO_EACH_(KYMO_FIELD_PRINT_TAKE_, __VA_ARGS__)                                                  \
      KYMO_PROBE_HERE_(names, KYMO_HEAD_, __VA_ARGS__)                                                 \
      if (!KYMO_RECORDED_(KYMO_HEAD_))                                                                 \
        break;                                                                                         \
      const size_t kymo_errno_ = KYMO_HEAD_.flags & KYMO_POINT_ERRNO_ ? sizeof(int) : 0;               \
      const int kymo_error_ = kymo_errno_ ? errno : 0;                                                 \
      struct kymo_space_ kymo_place_ =                                                                 \
          kymo_begin_(8 + kymo_errno_ KYMO_EACH_(KYMO_FIELD_PRINT_SIZE_, __VA_ARGS__), KYMO_HEAD_.id); \
      if (KYMO_LIKELY_(kymo_place_.ring)) {                                                            \
        unsigned char *kymo_at_ = kymo_place_.kymo_at;                                                 \
        KYMO_EACH_(KYMO_FIELD_PRINT_PUT_, __VA_ARGS__)                                                 \
        if (kymo_errno_)                                                                               \
          memcpy(kymo_at_, &kymo_error_, sizeof kymo_error_), kymo_at_ += sizeof kymo_error_;          \
        kymo_commit_(kymo_place_.ring, (size_t)(kymo_at_ - kymo_place_.kymo_at) + 8);                  \
      }                                                                                                \
    }                                                                                                  \
  } while (0)

#define KYMO_FIELD_PRINT_TAKE_(ID, i, previous, x) KYMO_PRINT_DO_(KYMO_PRINT_TAKE, i, x)
#define KYMO_FIELD_PRINT_SIZE_(ID, i, previous, x) KYMO_PRINT_DO_(KYMO_PRINT_SIZE, i, x)
#define KYMO_FIELD_PRINT_PUT_(ID, i, previous, x) KYMO_PRINT_DO_(KYMO_PRINT_PUT, i, x)

/* The last int may have been a precision; the limit of each text was computed when the call site was
 * described. */
KYMO_INLINE_ struct kymo_text_ kymo_take_printed_(const char *text, size_t bound, uint32_t limit, int given) {
  if (limit && !(limit == KYMO_LIMIT_GIVEN_ && given < 0)) {
    size_t precision = limit == KYMO_LIMIT_GIVEN_ ? (size_t)given : (size_t)limit - 1;
    if (precision < bound)
      bound = precision;
  }
  if (!text && bound < sizeof "(null)" - 1)
    text = "";
  return kymo_take_text_(text, bound);
}

/* A wide text to be stored: `count` characters, `length` bytes of UTF-8. */
struct kymo_wide_ {
  const wchar_t *text;
  size_t count, length;
};
#ifdef __cplusplus
extern "C" {
#endif
/* Measures as many characters, at most `bound`, as fit into `bytes`; it reads no more. NULL: "(null)". */
struct kymo_wide_ kymo_measure_wide_(const wchar_t *text, size_t bound, size_t bytes);
/* Stores the text and a zero; less, if the text has changed since it was measured. */
unsigned char *kymo_put_wide_(unsigned char *at, struct kymo_wide_ wide);
#ifdef __cplusplus
}
#endif

KYMO_INLINE_ struct kymo_wide_ kymo_take_wide_(const wchar_t *text, size_t bound, uint32_t limit, int given) {
  const bool is_whole = limit == KYMO_LIMIT_WIDE_ || (limit == KYMO_LIMIT_GIVEN_ && given < 0);
  return kymo_measure_wide_(text, bound,
                            is_whole                     ? KYMO_TEXT_MAX_
                            : limit == KYMO_LIMIT_GIVEN_ ? (size_t)given
                                                         : (size_t)limit - 1);
}

#ifndef __cplusplus
#define KYMO_IS_WIDE_(v) (KYMO_HAS_WIDE_ && _Generic((v), wchar_t * : 1, const wchar_t * : 1, default : 0))
#define KYMO_WIDE_OF_(v) _Generic((v), wchar_t * : (v), const wchar_t * : (v), default : (const wchar_t *)0)
#define KYMO_WIDE_LENGTH_(x) ((sizeof(x) + sizeof(wchar_t) - 1) / sizeof(wchar_t))
#define KYMO_WIDE_BOUND_(x)                                               \
  _Generic((__typeof__(x) *)0, wchar_t(*)[KYMO_WIDE_LENGTH_(x)]           \
           : KYMO_WIDE_LENGTH_(x), const wchar_t(*)[KYMO_WIDE_LENGTH_(x)] \
           : KYMO_WIDE_LENGTH_(x), default                                \
           : KYMO_TEXT_MAX_)
#define KYMO_NO_WIDE_ ((struct kymo_wide_){0})
#define KYMO_TAKEN_BY_N_(v) \
  _Generic((v), signed char * : 1, short * : 1, int * : 1, long * : 1, long long * : 1, default : 0)
#define KYMO_INT_OF_(v)          \
  _Generic((v), _Bool            \
           : (v), char           \
           : (v), signed char    \
           : (v), unsigned char  \
           : (v), short          \
           : (v), unsigned short \
           : (v), int            \
           : (v), unsigned       \
           : (v), default : 0)
#else
namespace kymo_detail {
KYMO_UNTRACED_ inline const wchar_t *wide_of(const wchar_t *text) { return text; }
KYMO_UNTRACED_ inline const wchar_t *wide_of(wchar_t *text) { return text; }
template <class T> KYMO_UNTRACED_ inline const wchar_t *wide_of(const T &) { return nullptr; }
template <class T> struct wide_bound { static constexpr size_t value = KYMO_TEXT_MAX_; };
template <size_t N> struct wide_bound<wchar_t[N]> { static constexpr size_t value = N; };
template <size_t N> struct wide_bound<const wchar_t[N]> { static constexpr size_t value = N; };
template <class T> struct is_wide {
  static constexpr bool value =
      KYMO_HAS_WIDE_ && (std::is_same<T, wchar_t *>::value || std::is_same<T, const wchar_t *>::value);
};
template <class T> struct taken_by_n {
  typedef typename std::remove_pointer<T>::type to;
  static constexpr bool value = std::is_pointer<T>::value && std::is_integral<to>::value &&
                                std::is_signed<to>::value && !std::is_const<to>::value &&
                                !std::is_same<to, char>::value && !std::is_same<to, wchar_t>::value;
};
KYMO_UNTRACED_ inline int int_of(int value) { return value; }
KYMO_UNTRACED_ inline int int_of(unsigned value) { return (int)value; }
template <class T>
KYMO_UNTRACED_ inline
    typename std::enable_if<std::is_integral<T>::value && (sizeof(T) < sizeof(int)), int>::type
    int_of(T value) {
  return value;
}
template <class T>
KYMO_UNTRACED_ inline
    typename std::enable_if<!std::is_integral<T>::value || (sizeof(T) > sizeof(int)), int>::type
    int_of(const T &) {
  return 0;
}
} // namespace kymo_detail
#define KYMO_IS_WIDE_(v) kymo_detail::is_wide<typename std::decay<decltype(v)>::type>::value
#define KYMO_WIDE_OF_(v) kymo_detail::wide_of(v)
#define KYMO_WIDE_BOUND_(x) kymo_detail::wide_bound<typename std::remove_reference<decltype(x)>::type>::value
#define KYMO_NO_WIDE_ kymo_wide_()
#define KYMO_TAKEN_BY_N_(v) kymo_detail::taken_by_n<typename std::decay<decltype(v)>::type>::value
#define KYMO_INT_OF_(v) kymo_detail::int_of(v)
#endif

/* In C a wchar_t is an int or a long, and %n takes a pointer to these too: only the format shows the
 * difference. The compiler refuses what it knows for sure; the rest is refused when the call site is
 * described. */
#if defined __cplusplus || !defined __OPTIMIZE__ || defined __SANITIZE_ADDRESS__
#define KYMO_HAS_COUNT_(format) false
#define KYMO_REFUSE_COUNT_(i)
#else
void kymo_printf_takes_no_count_(void)
    __attribute__((error("kymo: KYMO_PRINTF takes no %n, and a void * for %p")));
#define KYMO_HAS_COUNT_(format) \
  ((__builtin_strstr(format, "%n") || __builtin_strstr(format, "%ln")) && !__builtin_strstr(format, "%%"))
#define KYMO_REFUSE_COUNT_(i)                                                                              \
  if (KYMO_TAKEN_BY_N_(kymo_event_get_raw##i) && __builtin_constant_p(kymo_has_count_) && kymo_has_count_) \
    kymo_printf_takes_no_count_();
#endif

/* Checked before anything is described. */

/* A word with too few or too many arguments, which has no name, is refused as everywhere. */
#define KYMO_IS_MISCOUNTED_(name) (__builtin_memcmp(name, "0", 2) == 0)
#ifndef __clang__
#define KYMO_CHECK_PRINTED_(...) KYMO_EACH_(KYMO_FIELD_PRINTED_, __VA_ARGS__)
#define KYMO_FIELD_PRINTED_(ID, i, previous, x) KYMO_CAT_(KYMO_IS_PRINTED_, KYMO_FORM_(x))(x)
#define KYMO_IS_PRINTED_0(x)
#define KYMO_IS_PRINTED_1(x) KYMO_PRINT_DO_(KYMO_ISPRINTED, x, x)
#define KYMO_IS_PRINTED_2(x)
#define KYMO_ISPRINTED_kymo_value_(i, name, x, format, c)
#define KYMO_ISPRINTED_kymo_level_(i, name, level, b, c)
#define KYMO_ISPRINTED_kymo_about_(i, name, text, b, c)
/* Its arguments count as used, and the format is not checked: a variable hides the function that does so. */
#define KYMO_ISPRINTED_kymo_none_(word, name, a, b, c)                   \
  KYMO_REPORT_(KYMO_IS_MISCOUNTED_(#name), "kymo: " KYMO_CURE_PRINTED_); \
  void (*kymo_check_format_)(const char *, ...) = 0;                     \
  KYMO_DO_(KYMO_MENTION, 0, word)
#else
#define KYMO_CHECK_PRINTED_(...)
#define KYMO_PRINTED_WORDS_(...) (0 KYMO_EACH_(KYMO_PRINTED_WORD_, __VA_ARGS__))
#define KYMO_PRINTED_WORD_(ID, i, previous, x) KYMO_CAT_(KYMO_PRINTED_WORD_, KYMO_FORM_(x))(x)
#define KYMO_PRINTED_WORD_0(x) | (KYMO_IS_CALL_(#x) ? 1 : 0)
#define KYMO_PRINTED_WORD_1(x) KYMO_PRINT_DO_(KYMO_ISPRINTED, 0, x)
#define KYMO_PRINTED_WORD_2(x)
#define KYMO_ISPRINTED_kymo_value_(i, name, x, format, c)
#define KYMO_ISPRINTED_kymo_level_(i, name, level, b, c)
#define KYMO_ISPRINTED_kymo_about_(i, name, text, b, c)
#define KYMO_ISPRINTED_kymo_none_(i, name, a, b, c) | (KYMO_IS_MISCOUNTED_(#name) ? 0 : 2)
#endif
#define KYMO_CURE_COUNT_ "KYMO_PRINTF takes no %n, and a void * for %p"
#define KYMO_CURE_FORMAT_ "KYMO_PRINTF takes a format in quotes"
#define KYMO_IS_COUNT_(i) (KYMO_TAKEN_BY_N_(KYMO_X_(i)) && !KYMO_IS_WIDE_(KYMO_X_(i)))
#define KYMO_FIELD_COUNT_(ID, i, previous, x) KYMO_PRINT_DO_(KYMO_ISCOUNT, i, x)
#define KYMO_ISCOUNT_kymo_none_(i, name, a, b, c)
#define KYMO_ISCOUNT_kymo_level_(i, name, level, b, c)
#define KYMO_ISCOUNT_kymo_about_(i, name, text, b, c)
#ifndef __clang__
#define KYMO_CHECK_COUNTS_(count, format, ...)                              \
  KYMO_REPORT_((count) <= 19 ? 1 : 0, "kymo: " KYMO_CURE_MANY_);            \
  KYMO_REPORT_((count) > 2 && KYMO_IS_QUOTED_(KYMO_QUOTE_(format)) ? 1 : 0, \
               "kymo: " KYMO_CURE_FORMAT_ ": " KYMO_QUOTE_(format));        \
  KYMO_EACH_(KYMO_FIELD_COUNT_, __VA_ARGS__)
#define KYMO_ISCOUNT_kymo_value_(i, name, x, format, c) \
  KYMO_REPORT_(!KYMO_IS_COUNT_(i), "kymo: " KYMO_CURE_COUNT_);
#else
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int kymo_refuse_format_(int wrong)
    __attribute__((diagnose_if((wrong & 1) != 0, "kymo: " KYMO_CURE_FORMAT_, "warning")))
    __attribute__((diagnose_if((wrong & 2) != 0, "kymo: " KYMO_CURE_COUNT_, "warning")))
    __attribute__((diagnose_if((wrong & 4) != 0, "kymo: " KYMO_CURE_MANY_, "warning")));
#pragma clang diagnostic pop
#define KYMO_CHECK_COUNTS_(count, format, ...)                                         \
  enum {                                                                               \
    kymo_wrong_format_ = ((count) > 19 ? 4 : 0) |                                      \
                         ((count) > 2 && KYMO_IS_QUOTED_(KYMO_QUOTE_(format)) ? 0 : 1) \
                             KYMO_EACH_(KYMO_FIELD_COUNT_, __VA_ARGS__)                \
  };
#define KYMO_ISCOUNT_kymo_value_(i, name, x, format, c) | (KYMO_IS_COUNT_(i) ? 2 : 0)
#endif

#define KYMO_IS_PRINTED_TEXT_(i) \
  (KYMO_IS_TEXT_(kymo_event_get_raw##i) && kymo_limit##i != KYMO_LIMIT_ADDRESS_)
#define KYMO_IS_PRINTED_WIDE_(i) (KYMO_IS_WIDE_(kymo_event_get_raw##i) && kymo_limit##i != 0)
#define KYMO_PRINT_TAKE_kymo_value_(i, name, x, format, c)                                                 \
  KYMO_DECAYED_(KYMO_X_(i)) kymo_event_get_raw##i = (x);                                                   \
  KYMO_REFUSE_COUNT_(i)                                                                                    \
  KYMO_TAKE_RAW_(i, x)                                                                                     \
  const uint32_t kymo_limit##i =                                                                           \
      KYMO_IS_TEXT_(kymo_event_get_raw##i) || KYMO_IS_WIDE_(kymo_event_get_raw##i)                         \
          ? (uint32_t)(KYMO_CODES_HERE_[sizeof KYMO_CODES_HERE_ / sizeof KYMO_CODES_HERE_[0] - i] >> 32)   \
          : 0;                                                                                             \
  struct kymo_text_ kymo_text##i =                                                                         \
      KYMO_IS_PRINTED_TEXT_(i) ? kymo_take_printed_(KYMO_TEXT_OF_(kymo_event_get_raw##i),                  \
                                                    KYMO_BOUND_(KYMO_X_(i)), kymo_limit##i, kymo_given_)   \
                               : KYMO_NO_TEXT_;                                                            \
  const struct kymo_wide_ kymo_wide##i =                                                                   \
      KYMO_IS_PRINTED_WIDE_(i) ? kymo_take_wide_(KYMO_WIDE_OF_(kymo_event_get_raw##i),                     \
                                                 KYMO_WIDE_BOUND_(KYMO_X_(i)), kymo_limit##i, kymo_given_) \
                               : KYMO_NO_WIDE_;                                                            \
  (void)kymo_wide##i;                                                                                      \
  kymo_given_ = KYMO_INT_OF_(kymo_event_get_raw##i);
#define KYMO_PRINT_SIZE_kymo_value_(i, name, x, format, c) \
  +(KYMO_IS_PRINTED_TEXT_(i)   ? kymo_text##i.length + 1   \
    : KYMO_IS_PRINTED_WIDE_(i) ? kymo_wide##i.length + 1   \
                               : sizeof(kymo_v##i))
#define KYMO_PRINT_PUT_kymo_value_(i, name, x, format, c) \
  if (KYMO_IS_PRINTED_TEXT_(i))                           \
    kymo_at_ = kymo_put_text_(kymo_at_, &kymo_text##i);   \
  else if (KYMO_IS_PRINTED_WIDE_(i))                      \
    kymo_at_ = kymo_put_wide_(kymo_at_, kymo_wide##i);    \
  else                                                    \
    memcpy(kymo_at_, &kymo_v##i, sizeof(kymo_v##i)), kymo_at_ += sizeof(kymo_v##i);
#define KYMO_PRINT_TAKE_kymo_none_(i, name, a, b, c)
#define KYMO_PRINT_SIZE_kymo_none_(i, name, a, b, c)
#define KYMO_PRINT_PUT_kymo_none_(i, name, a, b, c)
#define KYMO_PRINT_TAKE_kymo_level_(i, name, level, b, c)
#define KYMO_PRINT_SIZE_kymo_level_(i, name, level, b, c)
#define KYMO_PRINT_PUT_kymo_level_(i, name, level, b, c)
#define KYMO_PRINT_TAKE_kymo_about_(i, name, text, b, c)
#define KYMO_PRINT_SIZE_kymo_about_(i, name, text, b, c)
#define KYMO_PRINT_PUT_kymo_about_(i, name, text, b, c)

#endif /* KYMO_DISABLE */
#endif
