/* SPDX-License-Identifier: MIT */
/*
 * kymo/bcheck.h: compares formats of kymo/bprintf.h with their arguments while the program is compiled, with
 * or without optimisation. Included by kymo/bprintf.h.
 *
 * Each step is a directive: constants that are computed from those of the previous step. A format with a
 * directive that is not simple (a width, a text by printf) is checked up to that directive; the library
 * checks the rest at the first call. The numbers of arguments count down, so that of n arguments the first is
 * n.
 */
#ifndef KYMO_BCHECK_H
#define KYMO_BCHECK_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/words.h>
#ifdef __cplusplus
#include <type_traits>
#endif

/* What an argument is, in 2 bits: 1 an integer, 2 a text, 3 anything else. */
#ifndef __cplusplus
#define KYMO_BKIND_OF_(x)                                                                                    \
  _Generic((x), char * : 2, const char * : 2, _Bool : 1, char : 1, signed char : 1, unsigned char : 1,       \
           short : 1, unsigned short : 1, int : 1, unsigned : 1, long : 1, unsigned long : 1, long long : 1, \
           unsigned long long : 1, default : 3)
#else
namespace kymo_detail {
template <class T> struct bkind {
  static constexpr int value = std::is_integral<T>::value || std::is_enum<T>::value                     ? 1
                               : std::is_same<T, char *>::value || std::is_same<T, const char *>::value ? 2
                                                                                                        : 3;
};
} // namespace kymo_detail
#define KYMO_BKIND_OF_(x) kymo_detail::bkind<typename std::decay<decltype((x))>::type>::value
#endif
#define KYMO_BKIND_(ID, i, previous, x) | ((i) <= 15 ? KYMO_BKIND_OF_(x) << 2 * (((i)-1) % 15) : 0)

/* After the format: where the last directive ends, and some bytes to look at what follows it. */
#define KYMO_BEND_ "%    "
#define KYMO_BIS_(format, at, c) (__builtin_memcmp(&(format)[at], c, 1) == 0)
#define KYMO_BIS_SIZE_(format, at)                                                           \
  (KYMO_BIS_(format, at, "1") || KYMO_BIS_(format, at, "2") || KYMO_BIS_(format, at, "4") || \
   KYMO_BIS_(format, at, "8"))
/* A digit's value; 0 for anything else. */
#define KYMO_BDIGIT_(format, at)                                                                      \
  (KYMO_BIS_(format, at, "1") * 1 + KYMO_BIS_(format, at, "2") * 2 + KYMO_BIS_(format, at, "3") * 3 + \
   KYMO_BIS_(format, at, "4") * 4 + KYMO_BIS_(format, at, "5") * 5 + KYMO_BIS_(format, at, "6") * 6 + \
   KYMO_BIS_(format, at, "7") * 7 + KYMO_BIS_(format, at, "8") * 8 + KYMO_BIS_(format, at, "9") * 9)
#define KYMO_BSTEP_(format, i, previous, x)                                                                 \
  enum {                                                                                                    \
    kymo_from##i = kymo_to##previous +                                                                      \
                   (int)(__builtin_strlen(&(format)[kymo_to##previous]) -                                   \
                         __builtin_strlen(__builtin_strchr(&(format)[kymo_to##previous], '%'))) +           \
                   1,                                                                                       \
    kymo_order##i = kymo_from##i +                                                                          \
                    (KYMO_BIS_(format, kymo_from##i, "<") || KYMO_BIS_(format, kymo_from##i, ">") ? 1 : 0), \
    kymo_zero##i = kymo_order##i + (KYMO_BIS_(format, kymo_order##i, "0") ? 1 : 0),                         \
    kymo_at##i = kymo_zero##i + (KYMO_BIS_SIZE_(format, kymo_zero##i) ? 1 : 0),                             \
    kymo_trace_get_number##i =                                                                              \
        KYMO_BIS_(format, kymo_at##i, "b") || KYMO_BIS_(format, kymo_at##i, "c") ? 1 : 0,                   \
    kymo_text##i = KYMO_BIS_(format, kymo_at##i, "s") || KYMO_BIS_(format, kymo_at##i, "S") ? 1 : 0,        \
    kymo_none##i = KYMO_BIS_(format, kymo_at##i, "n") || KYMO_BIS_(format, kymo_at##i, "%") ? 1 : 0,        \
    kymo_last##i = kymo_go##previous && kymo_from##i + 5 == (int)sizeof(format) ? 1 : 0,                    \
    kymo_star##i = KYMO_BIS_(format, kymo_at##i, "b") && KYMO_BIS_(format, kymo_at##i + 1, "*") ? 1 : 0,    \
    kymo_times##i = kymo_star##i ? KYMO_BDIGIT_(format, kymo_at##i + 2) : 1,                                \
    kymo_end##i = kymo_at##i + 1 + 2 * kymo_star##i,                                                        \
    kymo_go##i = kymo_go##previous && !kymo_last##i &&                                                      \
                         (kymo_trace_get_number##i || kymo_text##i || kymo_none##i) &&                      \
                         kymo_end##i + 5 < (int)sizeof(format) && kymo_times##i > 0 &&                      \
                         !(kymo_star##i &&                                                                  \
                           (KYMO_BIS_(format, kymo_end##i, "0") || KYMO_BDIGIT_(format, kymo_end##i)))      \
                     ? 1                                                                                    \
                     : 0,                                                                                   \
    kymo_to##i = kymo_go##i ? kymo_end##i : kymo_to##previous,                                              \
    kymo_taken##i = kymo_go##i && !kymo_none##i ? kymo_times##i : 0,                                        \
    kymo_left##i = kymo_left##previous - kymo_taken##i,                                                     \
    kymo_mask##i = (1 << 2 * kymo_taken##i) - 1,                                                            \
    kymo_event_get_class_number##i =                                                                        \
        kymo_left##i >= 0 ? kymo_kinds_ >> 2 * (kymo_left##i % 15) & kymo_mask##i : 0,                      \
    kymo_bad##i =                                                                                           \
        kymo_bad##previous | (kymo_last##i                      ? (kymo_left##previous > 0 ? 8 : 0)         \
                              : !kymo_taken##i                  ? 0                                         \
                              : !kymo_event_get_class_number##i ? 4                                         \
                              : kymo_trace_get_number##i                                                    \
                                  ? (kymo_event_get_class_number##i == (0x15555555 & kymo_mask##i) ? 0 : 1) \
                                  : (kymo_event_get_class_number##i == 2 ? 0 : 2))                          \
  };
/* The predecessor of the first step. With more than 15 arguments the library checks. */
#define KYMO_BBEGIN_(n)              \
  enum {                             \
    KYMO_CAT_(kymo_to, n) = 0,       \
    KYMO_CAT_(kymo_go, n) = n <= 16, \
    KYMO_CAT_(kymo_left, n) = n - 1, \
    KYMO_CAT_(kymo_bad, n) = 0       \
  };
#define KYMO_BSTEPS_(format, ...)                                    \
  enum { kymo_kinds_ = 0 KYMO_BLIST_(KYMO_BKIND_, 0, __VA_ARGS__) }; \
  KYMO_BBEGIN_(KYMO_COUNT_(__VA_ARGS__))                             \
  KYMO_BLIST_(KYMO_BSTEP_, format, __VA_ARGS__)                      \
  KYMO_BSTEP_(format, _a, 1, 0)                                      \
  KYMO_BSTEP_(format, _b, _a, 0) KYMO_BSTEP_(format, _c, _b, 0) KYMO_BSTEP_(format, _d, _c, 0)

/*
 * Before a call. A format that is not in quotes ends the argument in which it is written beside a text:
 * compilers skip the rest up to the parenthesis. So all that looks at the format is in such arguments, and is
 * not reported again.
 */
#define KYMO_BFORMAT_FAULT_(...) KYMO_BFORMAT_FAULT2_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~))
#define KYMO_BFORMAT_FAULT2_(format) (KYMO_IS_QUOTED_(KYMO_QUOTE_(format)) ? 0 : 16)
#define KYMO_BCURE_NUMBER_ "kymo_bprintf: %b, %c take an integer"
#define KYMO_BCURE_TEXT_ "kymo_bprintf: %s, %S take a text, char *"
#define KYMO_BCURE_MORE_ "kymo_bprintf: the format takes more arguments"
#define KYMO_BCURE_FEWER_ "kymo_bprintf: the format takes fewer arguments"
#define KYMO_BCURE_FORMAT_ "kymo_bprintf: the format is written in quotes"
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int kymo_refuse_bformat_(int bad) __attribute__((diagnose_if((bad & 1) != 0, KYMO_BCURE_NUMBER_, "warning")))
__attribute__((diagnose_if((bad & 2) != 0, KYMO_BCURE_TEXT_, "warning")))
__attribute__((diagnose_if((bad & 4) != 0, KYMO_BCURE_MORE_, "warning")))
__attribute__((diagnose_if((bad & 8) != 0, KYMO_BCURE_FEWER_, "warning")))
__attribute__((diagnose_if((bad & 16) != 0, KYMO_BCURE_FORMAT_, "warning")));
#pragma clang diagnostic pop
#define KYMO_BQUOTED_(format)
#define KYMO_BCHECKED_(format, ...) KYMO_BSTEPS_("" format KYMO_BEND_, __VA_ARGS__)
#define KYMO_BASSERTED_() \
  __extension__ _Static_assert(kymo_bad_d == 0, "kymo_bprintf: the format does not fit"); /* with -w */
#else
#ifdef __cplusplus
#define KYMO_BREPORT_ static_assert
#else
#define KYMO_BREPORT_ __extension__ _Static_assert
#endif
#define KYMO_BQUOTED_(format) KYMO_BREPORT_(KYMO_BFORMAT_FAULT2_(format) ? 0 : 1, KYMO_BCURE_FORMAT_);
#define KYMO_BCHECKED_(format, ...)                                 \
  KYMO_BSTEPS_("" format KYMO_BEND_, __VA_ARGS__)                   \
  KYMO_BREPORT_(!(kymo_bad_d & 1), KYMO_BCURE_NUMBER_ ": " format); \
  KYMO_BREPORT_(!(kymo_bad_d & 2), KYMO_BCURE_TEXT_ ": " format);   \
  KYMO_BREPORT_(!(kymo_bad_d & 4), KYMO_BCURE_MORE_ ": " format);   \
  KYMO_BREPORT_(!(kymo_bad_d & 8), KYMO_BCURE_FEWER_ ": " format);
#define KYMO_BASSERTED_()
#endif

#endif
