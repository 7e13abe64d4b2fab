/* SPDX-License-Identifier: MIT */
/*
 * kymo/check.h: checks a tracepoint before it is expanded, so that a mistake is reported in one message that
 * also names the correction. Included by kymo/trace.h.
 * gcc reports each field by its name. clang prints each macro between a mistake and its source line; so there
 * the checks of the fields become numbers, and the assertion is two macros away from the source line.
 */
#ifndef KYMO_CHECK_H
#define KYMO_CHECK_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/fields.h>

#ifndef KYMO_DISABLE

#define KYMO_CURE_VALUE_                                                                                    \
  "is not a number, pointer or text: use KYMO_STRUCT(name, TYPE, &x) for a listed struct, KYMO_BLOB(name, " \
  "&x, sizeof x) for any bytes"
#define KYMO_CURE_UNLISTED_ \
  "is not listed: write KYMO_STRUCT_TYPE(TYPE, members) or the like after the type (kymo/types.h)"
#define KYMO_CURE_WORD_                                                                        \
  "is not listed by the word's own list: KYMO_STRUCT takes KYMO_STRUCT_TYPE, KYMO_ENUM takes " \
  "KYMO_ENUM_TYPE, and so on"
#define KYMO_CURE_POINTER_ \
  "takes a pointer to its type: give the address, &x, of a variable of exactly that type"
#define KYMO_CURE_NO_WORD_                                                                                   \
  "is no word of kymo/trace.h: KYMO_AS, KYMO_HEX, KYMO_STRN, KYMO_BLOB, KYMO_ARRAY, KYMO_STRUCT and others " \
  "are"
#define KYMO_CURE_PRINTED_                                                                           \
  "KYMO_PRINTF takes what printf takes, and KYMO_AS, KYMO_LEVEL, KYMO_ABOUT: for a text of n bytes " \
  "%.*s, (int)n, text; for other words KYMO"
#define KYMO_CURE_MANY_ \
  "a tracepoint has at most 16 fields: store a struct (KYMO_STRUCT), an array (KYMO_ARRAY), or a second event"
#define KYMO_CURE_UNSIZED_ \
  "is an array of unknown size: use KYMO_ARRAY(name, &x[0], count), KYMO_BLOB or KYMO_STRN"
#define KYMO_CURE_NAMES_ "write group and name without quotes and hyphens, as in KYMO(net, rx_tx, port): "
#define KYMO_CURE_NUMBER_ "takes the name of an integer's, float's or pointer's type"
#define KYMO_CURE_ABOUT_ "KYMO_ABOUT takes a text of at most 511 bytes, in quotes"
#define KYMO_CURE_LEVEL_                                                                        \
  "KYMO_LEVEL takes emergency, alert, critical, error, warning, notice, info, debug or one of " \
  "kymo/trace.h's debug_…"

/* Not KYMO_ASSERT_: gcc prints each header on the way to the place where the keyword is written. A void
 * expression is reported like a struct. Two types, since an error in an expression is reported at each use of
 * it. */
#ifdef __cplusplus
#define KYMO_REPORT_ static_assert
#define KYMO_NAME_TYPE_(i, x)               \
  typedef decltype((x)) kymo_given_type##i; \
  typedef typename kymo_detail::no_void<kymo_given_type##i>::type kymo_type##i __attribute__((unused));
namespace kymo_detail {
template <class T> struct no_void { typedef T type; };
template <> struct no_void<void> {
  struct type {
    char none;
  };
};
} // namespace kymo_detail
#else
#define KYMO_REPORT_ _Static_assert
#define KYMO_NAME_TYPE_(i, x)               \
  typedef __typeof__(x) kymo_given_type##i; \
  typedef KYMO_NO_VOID_(kymo_given_type##i) kymo_type##i __attribute__((unused));
struct kymo_void_ {
  char none;
};
#define KYMO_NO_VOID_(T) \
  __typeof__(*__builtin_choose_expr(__builtin_types_compatible_p(T, void), (struct kymo_void_ *)0, (T *)0))
#endif

/* Each kind emits one check. It declares listed types, so that the later expansion compiles in any case. */
#define KYMO_FIELD_CHECK_(ID, i, previous, x) KYMO_DO_(KYMO_FIELDCHECK, i, x)
/* Before a tracepoint: `text` is what its parentheses hold. */
#ifndef __clang__
#define KYMO_CHECK_(i, right, wrong, text) KYMO_REPORT_((right), "kymo: " text);
#define KYMO_CHECKED_(text, ...)                                          \
  KYMO_REPORT_(KYMO_COUNT_(__VA_ARGS__) <= 18, "kymo: " KYMO_CURE_MANY_); \
  KYMO_REPORT_(KYMO_ARE_NAMES_(text), "kymo: " KYMO_CURE_NAMES_ text);    \
  KYMO_EACH_(KYMO_FIELD_CHECK_, __VA_ARGS__)
#define KYMO_ASSERTED_()
#else
#define KYMO_CHECK_(i, right, wrong, text) enum { kymo_wrong##i = (right) ? 0 : (wrong) };
#define KYMO_FIELD_WRONG_(ID, i, previous, x) | kymo_wrong##i
/* Fatal, as in kymo/types.h; with -w clang makes nothing fatal, and the code below asserts the same. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int kymo_refuse_words_(int wrong)
    __attribute__((diagnose_if((wrong & 1) != 0, "kymo: this " KYMO_CURE_NO_WORD_, "warning")))
    __attribute__((diagnose_if((wrong & 2) != 0, "kymo: " KYMO_CURE_PRINTED_, "warning")));
int kymo_refuse_fields_(int wrong)
    __attribute__((diagnose_if((wrong & 1) != 0, "kymo: a field " KYMO_CURE_VALUE_, "warning")))
    __attribute__((diagnose_if((wrong & 2) != 0, "kymo: a field's type " KYMO_CURE_UNLISTED_, "warning")))
    __attribute__((diagnose_if((wrong & 4) != 0, "kymo: a field's type " KYMO_CURE_WORD_, "warning")))
    __attribute__((diagnose_if((wrong & 8) != 0, "kymo: a field " KYMO_CURE_POINTER_, "warning")))
    __attribute__((diagnose_if((wrong & 16) != 0, "kymo: a field " KYMO_CURE_NUMBER_, "warning")))
    __attribute__((diagnose_if((wrong & 32) != 0, "kymo: KYMO_BLOB_FIXED takes 1 to 65536 bytes", "warning")))
    __attribute__((diagnose_if((wrong & 64) != 0, "kymo: " KYMO_CURE_ABOUT_, "warning")))
    __attribute__((diagnose_if((wrong & 128) != 0, "kymo: " KYMO_CURE_LEVEL_, "warning")))
    __attribute__((diagnose_if((wrong & 256) != 0, "kymo: " KYMO_CURE_MISCOUNTED_, "warning")))
    __attribute__((diagnose_if((wrong & 512) != 0, "kymo: a field " KYMO_CURE_UNSIZED_, "warning")));
#pragma clang diagnostic pop
#define KYMO_WORDS_(...) (0 KYMO_EACH_(KYMO_FIELD_WORD_, __VA_ARGS__))
#define KYMO_FIELD_WORD_(ID, i, previous, x) KYMO_CAT_(KYMO_WORD_FORM_, KYMO_FORM_(x))(x)
#define KYMO_WORD_FORM_0(x) | (KYMO_IS_CALL_(#x) ? 1 : 0)
#define KYMO_WORD_FORM_1(x)
#define KYMO_WORD_FORM_2(x)
#define KYMO_CHECKED_(text, ...)                                                                       \
  __extension__ _Static_assert(KYMO_RIGHT_(KYMO_COUNT_(__VA_ARGS__) <= 18), "kymo: " KYMO_CURE_MANY_); \
  __extension__ _Static_assert(KYMO_RIGHT_(KYMO_ARE_NAMES_(text)), "kymo: " KYMO_CURE_NAMES_ text);    \
  KYMO_EACH_(KYMO_FIELD_CHECK_, __VA_ARGS__)                                                           \
  enum { kymo_wrong_ = 0 KYMO_EACH_(KYMO_FIELD_WRONG_, __VA_ARGS__) };
#define KYMO_ASSERTED_() __extension__ _Static_assert(kymo_wrong_ == 0, "kymo: a field is wrong");
#endif
/* A known word has been expanded. */
#ifndef __clang__
#define KYMO_CHECK_WORD_(text) KYMO_REPORT_(!KYMO_IS_CALL_(text), "kymo: " text " " KYMO_CURE_NO_WORD_);
#else
#define KYMO_CHECK_WORD_(text)
#endif
/* Group and name as they are written, since a program may have macros of these names: neither occurs before
 * the second comma. */
#define KYMO_NAMES_END_ ",,-\""
#define KYMO_ARE_NAMES_(text) \
  (KYMO_COMES_LATER_(text KYMO_NAMES_END_, '"') && KYMO_COMES_LATER_(text KYMO_NAMES_END_, '-'))
#define KYMO_COMES_LATER_(text, c)               \
  (__builtin_strlen(__builtin_strchr(text, c)) < \
   __builtin_strlen(                             \
       __builtin_strchr(&(text)[sizeof(text) - __builtin_strlen(__builtin_strchr(text, ','))], ',')))

#define KYMO_FIELDCHECK_kymo_value_(i, name, x, format, c)                                     \
  KYMO_CHECK_WORD_(#x)                                                                         \
  KYMO_NAME_TYPE_(i, x)                                                                        \
  KYMO_CHECK_(i, KYMO_IS_SIZED_(i) && KYMO_IS_VALUE_(KYMO_X_(i)), KYMO_IS_SIZED_(i) ? 1 : 512, \
              "field " #x " " KYMO_CURE_VALUE_)
/* gcc reports an array of unknown size in few lines itself. */
#if defined(__clang__) && !defined(__cplusplus)
#define KYMO_IS_SIZED_(i) (!KYMO_IS_FLEXIBLE_(kymo_type##i))
#else
#define KYMO_IS_SIZED_(i) 1
#endif
#define KYMO_FIELDCHECK_kymo_miscounted_(i, name, a, b, c) KYMO_CHECK_(i, 0, 256, KYMO_CURE_MISCOUNTED_)
#define KYMO_FIELDCHECK_kymo_strn_(i, name, x, n, c) KYMO_CHECK_(i, 1, 0, "")
#define KYMO_FIELDCHECK_kymo_blob_(i, name, x, n, c) KYMO_CHECK_(i, 1, 0, "")
#define KYMO_FIELDCHECK_kymo_fixed_(i, name, x, n, max) \
  KYMO_CHECK_(i, (max) > 0 && (max) <= 65536, 32, "KYMO_BLOB_FIXED takes 1 to 65536 bytes: field " #name)
#define KYMO_FIELDCHECK_kymo_array_(i, name, x, n, c) \
  KYMO_NAME_TYPE_(i, *(x))                            \
  KYMO_CHECK_(i, KYMO_IS_VALUE_(KYMO_X_(i)), 1,       \
              "KYMO_ARRAY takes numbers: an element of field " #name " " KYMO_CURE_VALUE_)
#ifndef __clang__
#define KYMO_FIELDCHECK_kymo_level_(i, name, level, text, c) enum { kymo_level##i = level };
#else
#define KYMO_FIELDCHECK_kymo_level_(i, name, level, text, c) KYMO_CHECK_(i, KYMO_IS_LEVEL_(text), 128, "")
#define KYMO_IS_LEVEL_(text)                                                                              \
  (KYMO_IS_SAME_(text, "emergency") || KYMO_IS_SAME_(text, "alert") || KYMO_IS_SAME_(text, "critical") || \
   KYMO_IS_SAME_(text, "error") || KYMO_IS_SAME_(text, "warning") || KYMO_IS_SAME_(text, "notice") ||     \
   KYMO_IS_SAME_(text, "info") || KYMO_IS_SAME_(text, "debug") ||                                         \
   __builtin_memcmp(text "      ", "debug_", 6) == 0)
#define KYMO_IS_SAME_(a, b) (__builtin_strcmp(a, b) == 0)
#endif
#define KYMO_FIELDCHECK_kymo_about_(i, name, text, b, c) \
  KYMO_CHECK_(i, KYMO_IS_QUOTED_(#text) && sizeof(text) <= KYMO_ABOUT_MAX_, 64, KYMO_CURE_ABOUT_)
#define KYMO_FIELDCHECK_kymo_optional_(i, name, condition, x, c) \
  KYMO_NAME_TYPE_(i, x)                                          \
  KYMO_CHECK_(i, KYMO_IS_VALUE_(KYMO_X_(i)), 1, "field " #name " " KYMO_CURE_VALUE_)
#define KYMO_FIELDCHECK_kymo_typed_(i, name, TYPE, x, c) KYMO_CHECK_NUMBER_(i, name, TYPE)
#define KYMO_FIELDCHECK_kymo_later_(i, name, TYPE, kind, c) KYMO_CHECK_NUMBER_(i, name, TYPE)
#define KYMO_FIELDCHECK_kymo_later_text_(i, name, a, b, c) KYMO_CHECK_(i, 1, 0, "")
#define KYMO_FIELDCHECK_kymo_later_blob_(i, name, a, b, c) KYMO_CHECK_(i, 1, 0, "")
#define KYMO_CHECK_NUMBER_(i, name, TYPE)                                  \
  KYMO_CHECK_(i, KYMO_IS_SCALAR_(TYPE) && !KYMO_IS_LONG_DOUBLE_(TYPE), 16, \
              "field " #name ": type " #TYPE " is not a number: it " KYMO_CURE_NUMBER_)

#define KYMO_FIELDCHECK_kymo_struct_(i, name, TYPE, x, c) \
  KYMO_CHECK_POINTER_(i, name, TYPE, KYMO_LISTING_STRUCT_, x)
#define KYMO_FIELDCHECK_kymo_structs_(i, name, TYPE, x, n) \
  KYMO_CHECK_POINTER_(i, name, TYPE, KYMO_LISTING_STRUCT_, x)
#define KYMO_FIELDCHECK_kymo_pointee_(i, name, TYPE, x, c) \
  KYMO_CHECK_POINTER_(i, name, TYPE, KYMO_LISTING_STRUCT_, x)
#define KYMO_FIELDCHECK_kymo_union_(i, name, TYPE, x, c) \
  KYMO_CHECK_POINTER_(i, name, TYPE, KYMO_LISTING_UNION_, x)
#define KYMO_FIELDCHECK_kymo_variant_(i, name, TYPE, tag, x) \
  KYMO_CHECK_POINTER_(i, name, TYPE, KYMO_LISTING_VARIANT_, x)
#define KYMO_FIELDCHECK_kymo_enum_(i, name, TYPE, x, kind) \
  KYMO_MAYBE_LISTED_(TYPE)                                 \
  KYMO_CHECK_LISTING_(i, name, TYPE, kind, 1, "")
#define KYMO_CHECK_POINTER_(i, name, TYPE, kind, x)                  \
  KYMO_MAYBE_ANY_(TYPE, kind)                                        \
  KYMO_CHECK_LISTING_(i, name, TYPE, kind, KYMO_POINTS_TO_(x, TYPE), \
                      "field " #name " takes a pointer to " #TYPE ": &x, or NULL of that type")
#define KYMO_MAYBE_ANY_(TYPE, kind) KYMO_CAT_(KYMO_MAYBE_ANY_, kind)(TYPE)
#define KYMO_MAYBE_ANY_KYMO_LISTING_STRUCT_(TYPE) KYMO_MAYBE_LISTED_(TYPE)
#define KYMO_MAYBE_ANY_KYMO_LISTING_UNION_(TYPE) KYMO_MAYBE_LISTED_(TYPE)
#define KYMO_MAYBE_ANY_KYMO_LISTING_VARIANT_(TYPE) KYMO_MAYBE_VARIANT_(TYPE)
#define KYMO_WORD_OF_KYMO_LISTING_STRUCT_ "KYMO_STRUCT_TYPE"
#define KYMO_WORD_OF_KYMO_LISTING_UNION_ "KYMO_UNION_TYPE"
#define KYMO_WORD_OF_KYMO_LISTING_VARIANT_ "KYMO_VARIANT_TYPE"
#define KYMO_WORD_OF_KYMO_LISTING_ENUM_ "KYMO_ENUM_TYPE"
#define KYMO_WORD_OF_KYMO_LISTING_FLAGS_ "KYMO_FLAGS_TYPE"
#define KYMO_IS_LISTED_BY_(TYPE, kind) \
  (KYMO_INFO_HERE_(TYPE) != KYMO_UNLISTED_ && KYMO_INFO_KIND_(KYMO_INFO_HERE_(TYPE)) == (kind))
#ifndef __clang__
#define KYMO_CHECK_LISTING_(i, name, TYPE, kind, points, text)                                   \
  KYMO_REPORT_(KYMO_INFO_HERE_(TYPE) == KYMO_UNLISTED_ || KYMO_IS_LISTED_BY_(TYPE, kind),        \
               "kymo: field " #name ": type " #TYPE " is not listed by " KYMO_WORD_OF_##kind     \
               ", which this word takes");                                                       \
  KYMO_REPORT_(KYMO_INFO_HERE_(TYPE) != KYMO_UNLISTED_,                                          \
               "kymo: field " #name ": type " #TYPE " is not listed: write " KYMO_WORD_OF_##kind \
               "(" #TYPE ", ...) after the type");                                               \
  KYMO_REPORT_(points, "kymo: " text);
#else
#define KYMO_CHECK_LISTING_(i, name, TYPE, kind, points, text)  \
  enum {                                                        \
    kymo_wrong##i = KYMO_INFO_HERE_(TYPE) == KYMO_UNLISTED_ ? 2 \
                    : !KYMO_IS_LISTED_BY_(TYPE, kind)       ? 4 \
                    : (points)                              ? 0 \
                                                            : 8 \
  };
#endif

#else
#define KYMO_CHECKED_(text, ...)
#endif /* KYMO_DISABLE */
#endif
