/* SPDX-License-Identifier: MIT */
/*
 * kymo/members.h: code that the lists of kymo/types.h generate for each member: its name and type for the
 * schema, its size, and the code that stores it. Included by kymo/types.h; it has no macro for programs.
 */
#ifndef KYMO_MEMBERS_H
#define KYMO_MEMBERS_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/words.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif
size_t kymo_measure_long_(const char *text, size_t bound);
unsigned char *kymo_put_long_(unsigned char *at, const char *text, size_t length);
#ifdef __cplusplus
}
#endif

#define KYMO_TEXT_MAX_ ((size_t)1 << 27) /* longer than any packet; 16 of them fit 32 bits */
#define KYMO_FUNCTION_ static inline __attribute__((unused, no_instrument_function))
#define KYMO_DATA_ static const __attribute__((unused))

/* Makes the compiler load a count or a tag only once: others may change the original. */
#define KYMO_ONCE_(v) __asm__("" : "+r"(v))
#define KYMO_COUNT_OF_(n, most) ((n) > 0 ? ((size_t)(n) < (most) ? (size_t)(n) : (most)) : 0)

/* ---- names ---- */

/* `struct point` and `point_t` become prefix ## struct_point and prefix ## point_t. */
#define KYMO_ID_(prefix, TYPE) KYMO_ID2_(prefix, KYMO_CAT_(KYMO_TAG_, TYPE), TYPE)
#define KYMO_ID2_(...) KYMO_CAT_(KYMO_ID_, KYMO_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define KYMO_ID_3(prefix, tag, name) prefix##name
#define KYMO_ID_4(prefix, tag, name, type) prefix##tag##name
#define KYMO_TAG_struct struct_,
#define KYMO_TAG_union union_,
#define KYMO_TAG_enum enum_,
/* 1 for `struct point`, 0 for `point_t` */
#define KYMO_IS_TAGGED_(TYPE) (KYMO_COUNT_(KYMO_CAT_(KYMO_TAG_, TYPE)) - 1)

/* All that the compiler must know of a listed type, in one number. It is the length of an array that is never
 * defined; if such an array has no length, the type is not listed. */
#define KYMO_INFO_(kind, is_flat, is_dynamic, size) \
  ((size_t)(size)*32 + ((is_dynamic) ? 16 : 0) + ((is_flat) ? 8 : 0) + (size_t)(kind))
#define KYMO_INFO_KIND_(info) ((info)&7)
#define KYMO_INFO_IS_FLAT_(info) (((info)&8) != 0) /* the stored bytes are the bytes in memory */
#define KYMO_INFO_IS_DYNAMIC_(info) (((info)&16) != 0)
#define KYMO_INFO_SIZE_(info) ((size_t)(info) / 32) /* bytes stored, if not dynamic */
#define KYMO_UNLISTED_ 1u

typedef size_t kymo_measure_(const void *from);
typedef unsigned char *kymo_put_(unsigned char *at, const unsigned char *end, const void *from);
typedef size_t kymo_measure_option_(const void *from, int32_t tag);
typedef unsigned char *kymo_put_option_(unsigned char *at, const unsigned char *end, const void *from,
                                        int32_t tag);

KYMO_INLINE_ size_t kymo_measure_none_(const void *from) { return (void)from, (size_t)0; }
KYMO_INLINE_ unsigned char *kymo_put_none_(unsigned char *at, const unsigned char *end, const void *from) {
  return (void)end, (void)from, at;
}
KYMO_INLINE_ size_t kymo_measure_no_option_(const void *from, int32_t tag) {
  return (void)from, (void)tag, (size_t)0;
}
KYMO_INLINE_ unsigned char *kymo_put_no_option_(unsigned char *at, const unsigned char *end, const void *from,
                                                int32_t tag) {
  return (void)end, (void)from, (void)tag, at;
}

#ifndef __cplusplus

#define KYMO_ASSERT_ _Static_assert
#define KYMO_AT_FILE_SCOPE_(...) __VA_ARGS__
/* gcc: a second listing of a type conflicts with the first only in the name that others find it by. */
#ifndef __clang__
#define KYMO_NEW_ID_(TYPE) KYMO_CAT_(listing_, __COUNTER__)
#else
#define KYMO_NEW_ID_(TYPE) KYMO_ID_(, TYPE)
#endif
#define KYMO_SAME_(A, B) __builtin_types_compatible_p(A, B)
/* The comma operator turns arrays into pointers and changes nothing else. */
#define KYMO_IS_ARRAY_(T)                                            \
  (!__builtin_types_compatible_p(T, __typeof__((void)0, *(T *)0)) && \
   !__builtin_types_compatible_p(T, _Atomic(__typeof__((void)0, *(T *)0))))
#define KYMO_STRIP_(T) __typeof__(*__builtin_choose_expr(KYMO_IS_ARRAY_(T), *(T *)0, (T *)0))
/* A flexible array member has no size: after it is reported, a type with a size replaces it. */
#ifndef __clang__
#define KYMO_IS_FLEXIBLE_(T) __builtin_types_compatible_p(T, KYMO_STRIP_(T)[0])
#else /* strict C has no arrays of 0 elements */
#define KYMO_IS_FLEXIBLE_(T) \
  (__builtin_types_compatible_p(T, KYMO_STRIP_(T)[1]) && __builtin_types_compatible_p(T, KYMO_STRIP_(T)[2]))
#endif
#define KYMO_COMPLETE_(T) __typeof__(*__builtin_choose_expr(KYMO_IS_FLEXIBLE_(T), (char *)0, (T *)0))
#define KYMO_SCALAR_OF_(x)                                                     \
  _Generic((x), _Bool                                                          \
           : KYMO_TYPE_BOOL_ | 1, char                                         \
           : KYMO_TYPE_CHAR_ | 1, signed char                                  \
           : KYMO_TYPE_SIGNED_ | 1, unsigned char                              \
           : KYMO_TYPE_UNSIGNED_ | 1, short                                    \
           : KYMO_TYPE_SIGNED_ | sizeof(short), unsigned short                 \
           : KYMO_TYPE_UNSIGNED_ | sizeof(short), int                          \
           : KYMO_TYPE_SIGNED_ | sizeof(int), unsigned int                     \
           : KYMO_TYPE_UNSIGNED_ | sizeof(int), long                           \
           : KYMO_CODE_LONG_ | KYMO_TYPE_SIGNED_ | sizeof(long), unsigned long \
           : KYMO_CODE_LONG_ | KYMO_TYPE_UNSIGNED_ | sizeof(long), long long   \
           : KYMO_TYPE_SIGNED_ | sizeof(long long), unsigned long long         \
           : KYMO_TYPE_UNSIGNED_ | sizeof(long long), float                    \
           : KYMO_TYPE_FLOAT_ | 4, double                                      \
           : KYMO_TYPE_FLOAT_ | 8, long double                                 \
           : KYMO_TYPE_FLOAT_ | 8, default                                     \
           : KYMO_TYPE_POINTER_ | sizeof(void *))
#define KYMO_SCALAR_(T) KYMO_SCALAR_OF_(*(T *)0)
/* integer, char, enum, bool, pointer, real */
#define KYMO_IS_SCALAR_(T)                            \
  ((0x13e >> __builtin_classify_type(*(T *)0) & 1) && \
   (sizeof(T) == (KYMO_SCALAR_(T) & 15) || KYMO_IS_LONG_DOUBLE_(T)))
#define KYMO_IS_LONG_DOUBLE_(T) __builtin_types_compatible_p(T, long double)
/* gcc has types of 40 bits: they become long long. */
#define KYMO_BITS_OF_(x) __typeof__(__builtin_choose_expr(sizeof(+(x)) > sizeof(int), (x) + 0LL, +(x)))

/* A typedef's name may be listed or not. It is declared here, so a listed one stays what it is (6.2.2p4 of
 * the standard), and of others only the type is used. */
#define KYMO_MAYBE_LISTED_(TYPE)                                     \
  extern char KYMO_ID_(kymo_listed_, TYPE)[];                        \
  extern const struct kymo_listing KYMO_ID_(kymo_listing_, TYPE)[1]; \
  extern KYMO_FOUND_(kymo_measure_) KYMO_ID_(kymo_measure_, TYPE);   \
  extern KYMO_FOUND_(kymo_put_) KYMO_ID_(kymo_put_, TYPE);
#define KYMO_MAYBE_VARIANT_(TYPE)                                                \
  extern char KYMO_ID_(kymo_listed_, TYPE)[];                                    \
  extern const struct kymo_listing KYMO_ID_(kymo_listing_, TYPE)[1];             \
  extern KYMO_FOUND_(kymo_measure_option_) KYMO_ID_(kymo_measure_option_, TYPE); \
  extern KYMO_FOUND_(kymo_put_option_) KYMO_ID_(kymo_put_option_, TYPE);
#define KYMO_INFO_OF_(TYPE)                                                            \
  sizeof(*__builtin_choose_expr(                                                       \
      __builtin_types_compatible_p(__typeof__(KYMO_ID_(kymo_listed_, TYPE)), char[2]), \
      (char(*)[KYMO_UNLISTED_])0, &KYMO_ID_(kymo_listed_, TYPE)))
#define KYMO_IF_KIND_(TYPE, kind, yes, no) \
  __builtin_choose_expr(                   \
      KYMO_INFO_KIND_(KYMO_INFO_OF_(TYPE)) == kind && KYMO_INFO_OF_(TYPE) != KYMO_UNLISTED_, yes, no)
#define KYMO_LISTING_OR_(TYPE, other) \
  __builtin_choose_expr(KYMO_INFO_OF_(TYPE) != KYMO_UNLISTED_, KYMO_ID_(kymo_listing_, TYPE), other)
#define KYMO_MEASURE_OF_(TYPE) \
  KYMO_IF_KIND_(TYPE, KYMO_LISTING_STRUCT_, KYMO_ID_(kymo_measure_, TYPE), kymo_measure_none_)
#define KYMO_PUT_OF_(TYPE) \
  KYMO_IF_KIND_(TYPE, KYMO_LISTING_STRUCT_, KYMO_ID_(kymo_put_, TYPE), kymo_put_none_)
#define KYMO_MEASURE_OPTION_OF_(TYPE) \
  KYMO_IF_KIND_(TYPE, KYMO_LISTING_VARIANT_, KYMO_ID_(kymo_measure_option_, TYPE), kymo_measure_no_option_)
#define KYMO_PUT_OPTION_OF_(TYPE) \
  KYMO_IF_KIND_(TYPE, KYMO_LISTING_VARIANT_, KYMO_ID_(kymo_put_option_, TYPE), kymo_put_no_option_)

#define KYMO_IS_NEW_(ID, TYPE) (KYMO_INFO_OF_(TYPE) == KYMO_UNLISTED_)

/* Declarations of a listing beside its data. */
/*
 * gcc: the names of a second listing are those of the first, which is reported. So the data of a second one
 * are an array of a type that is never defined: an error, and so are the functions found by it, silently.
 */
#define KYMO_LISTING_IS_(ID, TYPE, ...) \
  KYMO_LISTING_TYPE_(ID) KYMO_ID_(kymo_listing_, TYPE)[1] = {{__VA_ARGS__}}
#ifndef __clang__
struct kymo_listed_twice_;
#define KYMO_LISTING_TYPE_(ID)                                                                    \
  __typeof__(*__builtin_choose_expr(kymo_before_##ID == KYMO_UNLISTED_, (struct kymo_listing *)0, \
                                    (struct kymo_listed_twice_ *)0))
#define KYMO_FOUND_(type) type *const
#define KYMO_FUNCTION_NAME_(prefix, ID, TYPE) prefix##ID
#define KYMO_FIND_(prefix, ID, TYPE)              \
  KYMO_DATA_ __auto_type KYMO_ID_(prefix, TYPE) = \
      sizeof KYMO_ID_(kymo_listing_, TYPE) > 0 ? prefix##ID : NULL;
#else
#define KYMO_LISTING_TYPE_(ID) struct kymo_listing
#define KYMO_FOUND_(type) type
#define KYMO_FUNCTION_NAME_(prefix, ID, TYPE) KYMO_ID_(prefix, TYPE)
#define KYMO_FIND_(prefix, ID, TYPE)
#endif
#ifndef __clang__
#define KYMO_KNOW_(ID, TYPE)                  \
  extern char KYMO_ID_(kymo_listed_, TYPE)[]; \
  enum { KYMO_CAT_(kymo_before_, ID) = KYMO_INFO_OF_(TYPE) };
#define KYMO_PUBLISH_(ID, TYPE, info) \
  extern char KYMO_ID_(kymo_listed_, TYPE)[kymo_before_##ID == KYMO_UNLISTED_ ? (info) : kymo_before_##ID];
#else
#define KYMO_KNOW_(ID, TYPE) extern char KYMO_ID_(kymo_listed_, TYPE)[];
#define KYMO_PUBLISH_(ID, TYPE, info) extern char KYMO_ID_(kymo_listed_, TYPE)[info];
#endif
#define KYMO_MEASURE_HEAD_(ID, TYPE) \
  KYMO_FUNCTION_ size_t KYMO_FUNCTION_NAME_(kymo_measure_, ID, TYPE)(const void *kymo_from_)
#define KYMO_PUT_HEAD_(ID, TYPE)                                          \
  KYMO_FUNCTION_ unsigned char *KYMO_FUNCTION_NAME_(kymo_put_, ID, TYPE)( \
      unsigned char *kymo_at_, const unsigned char *kymo_limit_, const void *kymo_from_)
#define KYMO_MEASURE_OPTION_HEAD_(ID, TYPE)                                                         \
  KYMO_FUNCTION_ size_t KYMO_FUNCTION_NAME_(kymo_measure_option_, ID, TYPE)(const void *kymo_from_, \
                                                                            int32_t kymo_tag_)
#define KYMO_PUT_OPTION_HEAD_(ID, TYPE)                                          \
  KYMO_FUNCTION_ unsigned char *KYMO_FUNCTION_NAME_(kymo_put_option_, ID, TYPE)( \
      unsigned char *kymo_at_, const unsigned char *kymo_limit_, const void *kymo_from_, int32_t kymo_tag_)

#else

#define KYMO_ASSERT_ static_assert
#define KYMO_AT_FILE_SCOPE_(...)                                                                      \
  extern "C++" {                                                                                      \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") __VA_ARGS__ \
      _Pragma("GCC diagnostic pop")                                                                   \
  }
#define KYMO_NEW_ID_(TYPE) KYMO_CAT_(listing_, __COUNTER__)
#define KYMO_SAME_(A, B) std::is_same<std::remove_cv<A>::type, std::remove_cv<B>::type>::value
#define KYMO_IS_ARRAY_(T) std::is_array<T>::value
#define KYMO_STRIP_(T) std::remove_extent<T>::type
#define KYMO_IS_FLEXIBLE_(T) (std::is_array<T>::value && std::extent<T>::value == 0)
#define KYMO_COMPLETE_(T) std::conditional<KYMO_IS_FLEXIBLE_(T), char, T>::type
#define KYMO_SCALAR_(T) kymo_detail::scalar_code<std::remove_cv<T>::type>()
#define KYMO_IS_SCALAR_(T) \
  (std::is_scalar<T>::value && (sizeof(T) == (KYMO_SCALAR_(T) & 15) || KYMO_IS_LONG_DOUBLE_(T)))
#define KYMO_IS_LONG_DOUBLE_(T) KYMO_SAME_(T, long double)
#define KYMO_BITS_OF_(x) \
  std::conditional<(sizeof(+(x)) > sizeof(int)), decltype((x) + 0LL), decltype((x) + 0)>::type

/* The argument's type selects the listing, through overloads in the type's own namespace. */
namespace kymo_detail {
template <class T, bool = std::is_enum<T>::value> struct integer { typedef T type; };
template <class T> struct integer<T, true> { typedef typename std::underlying_type<T>::type type; };
template <class T> constexpr uint64_t scalar_code() {
  return std::is_same<T, bool>::value       ? (KYMO_TYPE_BOOL_ | 1u)
         : std::is_same<T, char>::value     ? (KYMO_TYPE_CHAR_ | 1u)
         : std::is_floating_point<T>::value ? (KYMO_TYPE_FLOAT_ | (sizeof(T) > 8 ? 8u : (unsigned)sizeof(T)))
         : std::is_integral<T>::value || std::is_enum<T>::value
             ? (std::is_signed<typename integer<T>::type>::value ? KYMO_TYPE_SIGNED_ : KYMO_TYPE_UNSIGNED_) |
                   (unsigned)sizeof(T) |
                   (std::is_same<T, long>::value || std::is_same<T, unsigned long>::value ? KYMO_CODE_LONG_
                                                                                          : 0)
             : (KYMO_TYPE_POINTER_ | (unsigned)sizeof(void *));
}
/* A type as an argument: exactly this type, not one derived from it. Listings overload these, and are found
 * in the namespace of the type. */
template <class T> struct exactly {};
template <class T> char (&kymo_listed_(exactly<T>))[KYMO_UNLISTED_];
template <class T> constexpr const kymo_listing *kymo_listing_(exactly<T>) { return nullptr; }
template <class T> struct kymo_info { static constexpr size_t value = sizeof(kymo_listed_(exactly<T>())); };
template <class T, unsigned kind,
          bool = kymo_info<T>::value != KYMO_UNLISTED_ &&KYMO_INFO_KIND_(kymo_info<T>::value) == kind>
struct functions {
  KYMO_UNTRACED_ static size_t measure(const void *from) { return kymo_measure_none_(from); }
  KYMO_UNTRACED_ static unsigned char *put(unsigned char *at, const unsigned char *end, const void *from) {
    return kymo_put_none_(at, end, from);
  }
  KYMO_UNTRACED_ static size_t measure_option(const void *from, int32_t tag) {
    return kymo_measure_no_option_(from, tag);
  }
  KYMO_UNTRACED_ static unsigned char *put_option(unsigned char *at, const unsigned char *end,
                                                  const void *from, int32_t tag) {
    return kymo_put_no_option_(at, end, from, tag);
  }
};
template <class T> struct functions<T, KYMO_LISTING_STRUCT_, true> {
  KYMO_UNTRACED_ static size_t measure(const void *from) { return kymo_measure_listed_((const T *)from); }
  KYMO_UNTRACED_ static unsigned char *put(unsigned char *at, const unsigned char *end, const void *from) {
    return kymo_put_listed_(at, end, (const T *)from);
  }
};
template <class T> struct functions<T, KYMO_LISTING_VARIANT_, true> {
  KYMO_UNTRACED_ static size_t measure_option(const void *from, int32_t tag) {
    return kymo_measure_listed_((const T *)from, tag);
  }
  KYMO_UNTRACED_ static unsigned char *put_option(unsigned char *at, const unsigned char *end,
                                                  const void *from, int32_t tag) {
    return kymo_put_listed_(at, end, (const T *)from, tag);
  }
};
template <class T, bool = kymo_info<T>::value != KYMO_UNLISTED_> struct listing {
  static constexpr const kymo_listing *otherwise(const kymo_listing *other) { return other; }
};
template <class T> struct listing<T, true> {
  static constexpr const kymo_listing *otherwise(const kymo_listing *) { return kymo_listing_(exactly<T>()); }
};
} // namespace kymo_detail

#define KYMO_MAYBE_LISTED_(TYPE)
#define KYMO_MAYBE_VARIANT_(TYPE)
#define KYMO_INFO_OF_(TYPE) kymo_detail::kymo_info<TYPE>::value
#define KYMO_LISTING_OR_(TYPE, other) kymo_detail::listing<TYPE>::otherwise(other)
#define KYMO_MEASURE_OF_(TYPE) kymo_detail::functions<TYPE, KYMO_LISTING_STRUCT_>::measure
#define KYMO_PUT_OF_(TYPE) kymo_detail::functions<TYPE, KYMO_LISTING_STRUCT_>::put
#define KYMO_MEASURE_OPTION_OF_(TYPE) kymo_detail::functions<TYPE, KYMO_LISTING_VARIANT_>::measure_option
#define KYMO_PUT_OPTION_OF_(TYPE) kymo_detail::functions<TYPE, KYMO_LISTING_VARIANT_>::put_option

/* A second listing is for a type that no code uses, so its only effect is that it is refused. */
#define KYMO_KNOW_(ID, TYPE)                                                                                \
  enum {                                                                                                    \
    KYMO_CAT_(kymo_is_new_, ID) = sizeof(kymo_listed_(kymo_detail::exactly<TYPE>())) == KYMO_UNLISTED_      \
  };                                                                                                        \
  struct KYMO_CAT_(kymo_nobody_, ID) {                                                                      \
    char none;                                                                                              \
  };                                                                                                        \
  typedef std::conditional<KYMO_CAT_(kymo_is_new_, ID), TYPE, KYMO_CAT_(kymo_nobody_, ID)>::type KYMO_CAT_( \
      kymo_subject_, ID);
#define KYMO_IS_NEW_(ID, TYPE) KYMO_CAT_(kymo_is_new_, ID)
#define KYMO_LISTING_IS_(ID, TYPE, ...) struct kymo_listing kymo_listing_##ID = {__VA_ARGS__}
#define KYMO_FIND_(prefix, ID, TYPE)
#define KYMO_PUBLISH_(ID, TYPE, info)                                                         \
  char(&kymo_listed_(kymo_detail::exactly<kymo_subject_##ID>))[info] __attribute__((unused)); \
  static constexpr inline __attribute__((unused)) const kymo_listing *kymo_listing_(          \
      kymo_detail::exactly<kymo_subject_##ID>) {                                              \
    return &kymo_listing_##ID;                                                                \
  }
#define KYMO_MEASURE_HEAD_(ID, TYPE) \
  KYMO_FUNCTION_ size_t kymo_measure_listed_(const kymo_subject_##ID *kymo_from_)
#define KYMO_PUT_HEAD_(ID, TYPE)                                                                            \
  KYMO_FUNCTION_ unsigned char *kymo_put_listed_(unsigned char *kymo_at_, const unsigned char *kymo_limit_, \
                                                 const kymo_subject_##ID *kymo_from_)
#define KYMO_MEASURE_OPTION_HEAD_(ID, TYPE) \
  KYMO_FUNCTION_ size_t kymo_measure_listed_(const kymo_subject_##ID *kymo_from_, int32_t kymo_tag_)
#define KYMO_PUT_OPTION_HEAD_(ID, TYPE)                                                                     \
  KYMO_FUNCTION_ unsigned char *kymo_put_listed_(unsigned char *kymo_at_, const unsigned char *kymo_limit_, \
                                                 const kymo_subject_##ID *kymo_from_, int32_t kymo_tag_)

#endif

/* ---- storing ---- */

/* The limit is the end of the measured bytes. Functions that store return the end of what they stored, or
 * NULL if that is beyond the limit. */
KYMO_INLINE_ unsigned char *kymo_put_bytes_(unsigned char *at, const void *from, size_t bytes) {
  if (bytes)
    __builtin_memcpy(at, from, bytes);
  return at + bytes;
}

KYMO_INLINE_ bool kymo_is_short_(const unsigned char *at, const unsigned char *limit, size_t bytes) {
  return (size_t)(limit - at) < bytes;
}

KYMO_FUNCTION_ unsigned char *kymo_put_long_doubles_(unsigned char *at, const long double *from,
                                                     size_t count) {
  for (size_t i = 0; i < count; i++) {
    double number = (double)from[i];
    at = kymo_put_bytes_(at, &number, sizeof number);
  }
  return at;
}

KYMO_INLINE_ size_t kymo_measure_all_(const void *from, size_t count, size_t size, kymo_measure_ *measure) {
  size_t sum = 0;
  for (size_t i = 0; i < count && sum <= KYMO_TEXT_MAX_; i++)
    sum += measure((const unsigned char *)from + i * size);
  return sum < KYMO_TEXT_MAX_ ? sum : KYMO_TEXT_MAX_;
}

KYMO_INLINE_ unsigned char *kymo_put_all_(unsigned char *at, const unsigned char *limit, const void *from,
                                          size_t count, size_t size, kymo_put_ *put) {
  for (size_t i = 0; i < count && at; i++)
    at = put(at, limit, (const unsigned char *)from + i * size);
  return at;
}

KYMO_FUNCTION_ size_t kymo_measure_text_(const char *text) {
  return kymo_measure_long_(text ? text : "(null)", KYMO_TEXT_MAX_) + 1;
}

KYMO_FUNCTION_ unsigned char *kymo_put_whole_text_(unsigned char *at, const unsigned char *limit,
                                                   const char *text) {
  if (at == limit)
    return NULL;
  if (!text)
    text = "(null)";
  return kymo_put_long_(at, text, kymo_measure_long_(text, (size_t)(limit - at) - 1));
}

/* Tags are stored in 32 bits; a value that does not fit matches no option (KYMO_VARIANT_TYPE checks the
 * options). */
KYMO_INLINE_ int32_t kymo_tag_of_(int64_t tag) {
  int32_t stored = tag > INT32_MAX ? INT32_MAX : tag < INT32_MIN ? INT32_MIN : (int32_t)tag;
  KYMO_ONCE_(stored);
  return stored;
}

/* ---- members ---- */

/* KYMO_MEMBER_(OP, ID, n, before, member) becomes OP_KIND_(ID, n, before, format, other, FORM, TYPE, name)
 * with FORM kymo_typed, or kymo_plain and no TYPE. */
#define KYMO_MEMBER_(OP, ID, n, before, m) KYMO_CAT_(KYMO_MEMBER_FORM_, KYMO_FORM_(m))(OP, ID, n, before, m)
#define KYMO_MEMBER_FORM_0(OP, ID, n, before, m) OP##_kymo_value_(ID, n, before, 0, 0, kymo_plain, 0, m)
#define KYMO_MEMBER_FORM_1(OP, ID, n, before, m) KYMO_WORDED_(OP, ID, n, before, KYMO_OPEN_ m)
#define KYMO_MEMBER_FORM_2(OP, ID, n, before, m) \
  KYMO_TYPED_(OP, kymo_value, ID, n, before, 0, 0, KYMO_SPLIT_ m)
#define KYMO_WORDED_(...) KYMO_WORDED2_(__VA_ARGS__)
#define KYMO_WORDED2_(OP, ID, n, before, KIND, m, format, other, zero, mark) \
  KYMO_CAT_(KYMO_WORDED_FORM_, KYMO_FORM_(m))(OP, KIND, ID, n, before, format, other, m)
#define KYMO_WORDED_FORM_0(OP, KIND, ID, n, before, format, other, m) \
  OP##_##KIND##_(ID, n, before, format, other, kymo_plain, 0, m)
#define KYMO_WORDED_FORM_2(OP, KIND, ID, n, before, format, other, m) \
  KYMO_TYPED_(OP, KIND, ID, n, before, format, other, KYMO_SPLIT_ m)
#define KYMO_TYPED_(...) KYMO_TYPED2_(__VA_ARGS__)
#define KYMO_TYPED2_(OP, KIND, ID, n, before, format, other, TYPE, m) \
  OP##_##KIND##_(ID, n, before, format, other, kymo_typed, TYPE, m)
#define KYMO_SPLIT_(...) __VA_ARGS__,

#define KYMO_MEMBER_DECLARE_(ID, n, before, m) KYMO_MEMBER_(KYMO_MEMBER_DECLARE, ID, n, before, m)
#define KYMO_MEMBER_LISTED_(ID, n, before, m) KYMO_LISTED_(0, ID, n, before, m)
#define KYMO_MEMBER_LISTING_(ID, n, before, m) KYMO_MEMBER_(KYMO_MEMBER_LISTING, ID, n, before, m)
#define KYMO_MEMBER_MEASURE_(ID, n, before, m) KYMO_MEMBER_(KYMO_MEMBER_MEASURE, ID, n, before, m)
#define KYMO_MEMBER_STORE_(ID, n, before, m) KYMO_MEMBER_(KYMO_MEMBER_STORE, ID, n, before, m)
#define KYMO_MEMBER_IS_DYNAMIC_(ID, n, before, m) || kymo_dynamic_##ID##_##n
#define KYMO_MEMBER_BYTES_(ID, n, before, m) +(size_t)kymo_bytes_##ID##_##n
#define KYMO_LISTED_(tag, ID, n, before, m)                 \
  {KYMO_MEMBER_(KYMO_MEMBER_LISTED_CODE, ID, n, before, m), \
   tag,                                                     \
   {KYMO_DIMENSION_(kymo_a_##ID##_##n, kymo_b_##ID##_##n),  \
    KYMO_DIMENSION_(kymo_b_##ID##_##n, kymo_c_##ID##_##n),  \
    KYMO_DIMENSION_(kymo_c_##ID##_##n, kymo_e_##ID##_##n)}, \
   0},
#define KYMO_DIMENSION_(T, E) (uint32_t)(KYMO_IS_ARRAY_(T) ? sizeof(T) / sizeof(E) : 0)

/* The type of a member, dimension by dimension, and the size of an element of it. */
#define KYMO_DECLARE_TYPE_(ID, n, T, FORM, TYPE)                                         \
  KYMO_MAYBE_##FORM##_(TYPE) typedef T kymo_t_##ID##_##n;                                \
  typedef KYMO_COMPLETE_(kymo_t_##ID##_##n) kymo_a_##ID##_##n;                           \
  typedef KYMO_STRIP_(kymo_a_##ID##_##n) kymo_b_##ID##_##n;                              \
  typedef KYMO_STRIP_(kymo_b_##ID##_##n) kymo_c_##ID##_##n;                              \
  typedef KYMO_STRIP_(kymo_c_##ID##_##n) kymo_e_##ID##_##n;                              \
  enum {                                                                                 \
    kymo_info_##ID##_##n = (int)KYMO_INFO_##FORM##_(TYPE, kymo_e_##ID##_##n),            \
    kymo_times_##ID##_##n = (int)(sizeof(kymo_a_##ID##_##n) / sizeof(kymo_e_##ID##_##n)) \
  };                                                                                     \
  KYMO_NAME_##FORM##_(ID, n, TYPE)
#define KYMO_DECLARE_FACTS_(ID, n, is_dynamic, bytes, end) \
  enum {                                                   \
    kymo_dynamic_##ID##_##n = (is_dynamic),                \
    kymo_bytes_##ID##_##n = (int)(bytes),                  \
    kymo_end_##ID##_##n = (int)(end)                       \
  };

#define KYMO_MAYBE_kymo_plain_(TYPE)
#define KYMO_MAYBE_kymo_typed_(TYPE) KYMO_MAYBE_LISTED_(TYPE)
#define KYMO_MAYBE_kymo_option_(TYPE) KYMO_MAYBE_VARIANT_(TYPE)
#define KYMO_INFO_kymo_plain_(TYPE, E) \
  KYMO_INFO_(0, !KYMO_IS_LONG_DOUBLE_(E), 0, KYMO_IS_LONG_DOUBLE_(E) ? sizeof(double) : sizeof(E))
#define KYMO_INFO_kymo_typed_(TYPE, E) \
  (KYMO_INFO_OF_(TYPE) != KYMO_UNLISTED_ ? KYMO_INFO_OF_(TYPE) : KYMO_INFO_kymo_plain_(TYPE, E))
#define KYMO_INFO_kymo_option_(TYPE, E) KYMO_INFO_OF_(TYPE)
/* The name of a typedef is a listing that is generated here. */
#define KYMO_NAME_kymo_plain_(ID, n, TYPE)
#define KYMO_NAME_kymo_option_(ID, n, TYPE)
#define KYMO_NAME_kymo_typed_(ID, n, TYPE) \
  KYMO_NAMED_LISTING_(kymo_named_##ID##_##n, TYPE, kymo_e_##ID##_##n, #TYPE "\0")
#define KYMO_NAMED_LISTING_(variable, TYPE, T, text)                                              \
  KYMO_DATA_ struct kymo_listing variable = {KYMO_LISTING_NAMED_,                                 \
                                             0,                                                   \
                                             KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_SCALAR_(T), 0, 0), \
                                             sizeof(T),                                           \
                                             text,                                                \
                                             NULL,                                                \
                                             NULL};

/* What is wrong with a member: one of these, found once for each member. gcc reports it there, by the
 * member's name; clang reports it at the listing (KYMO_MAKE_), since it prints all macros between a mistake
 * and the source line. */
#define KYMO_WRONG_DEEP_ 1
#define KYMO_WRONG_NUMBER_ 2
#define KYMO_WRONG_TYPE_ 4
#define KYMO_WRONG_UNLISTED_ 8
#define KYMO_WRONG_VARIANT_ 16
#define KYMO_WRONG_TEXT_ 32
#define KYMO_WRONG_NESTED_ 64
#define KYMO_WRONG_LOOSE_ 128
#define KYMO_WRONG_TAG_ 256
#define KYMO_WRONG_OPTION_ 512
#define KYMO_WRONG_FLEXIBLE_ 1024
#define KYMO_WRONG_TAGS_ 2048
#define KYMO_WRONG_COUNT_ 4096
#define KYMO_CURE_TAGS_ "a tag is used twice in KYMO_VARIANT_TYPE: give each member its own"
#define KYMO_CURE_TWICE_ " is listed twice: keep one listing of each type, in its header"
#define KYMO_CURE_DEEP_ \
  "has more than three dimensions: leave it out, or list a struct that holds the inner ones"
#define KYMO_CURE_PLAIN_ \
  "is not a number: write its listed type before it, (struct ...) member, or leave it out"
#define KYMO_CURE_TYPE_ "is not of the type before it"
#define KYMO_CURE_FIRST_ \
  "has no listing before this one: write KYMO_STRUCT_TYPE(TYPE, members) or the like after it"
#define KYMO_CURE_TAGGED_ "is a variant: write KYMO_VARIANT((TYPE) member, member that is its tag)"
#define KYMO_CURE_TEXT_ "is none: KYMO_TEXT takes a pointer to char; a char array is a text without a word"
#define KYMO_CURE_NESTED_ "is one: KYMO_ARRAY takes no arrays of arrays"
#define KYMO_CURE_LOOSE_ "of a union must be bytes that all mean something: no padding, nothing unlisted"
#define KYMO_CURE_TAG_ "has more than 32 bits: a tag fits an int"
#define KYMO_CURE_OPTION_ "is not listed by KYMO_VARIANT_TYPE before, which KYMO_VARIANT takes"
#define KYMO_CURE_FLEXIBLE_                                                                                 \
  "is a flexible array: leave it out, and store its elements by the field KYMO_ARRAY(name, &x->member[0], " \
  "count)"

#define KYMO_CURE_MISCOUNTED_ \
  "a word has too few or too many arguments: kymo/trace.h and kymo/types.h list them"
#define KYMO_CURE_BITS_ "is a bit-field: write KYMO_BITS(member)"
#define KYMO_CURE_MISSING_ "is not one of the type"
#define KYMO_CURE_NO_MEMBER_WORD_ \
  "is no word of kymo/types.h: KYMO_HEX, KYMO_BITS, KYMO_TEXT, KYMO_ARRAY, KYMO_VARIANT and others are"
/* "WORD(…)": an unknown word. */
#define KYMO_IS_CALL_(text)                           \
  (__builtin_memcmp(text "     ", "KYMO_", 5) == 0 && \
   __builtin_memcmp(&(text)[sizeof(text) - 2], ")", 1) == 0)

#ifdef __cplusplus
/* A substitution failure is not an error. */
#define KYMO_PROBE_TAKEN_(ID, n, m)                                                         \
  KYMO_PROBE_HAS_(ID, n, m)                                                                 \
  template <class Subject> char(&kymo_takes_##ID##_##n(decltype(&((Subject *)0)->m) *))[1]; \
  template <class Subject> char(&kymo_takes_##ID##_##n(...))[2];                            \
  enum {                                                                                    \
    kymo_fault_##ID##_##n = !kymo_has_##ID##_##n                                    ? 2     \
                            : sizeof(kymo_takes_##ID##_##n<kymo_type_##ID>(0)) == 1 ? 0     \
                                                                                    : 1     \
  };
#define KYMO_PROBE_THERE_(ID, n, m) \
  KYMO_PROBE_HAS_(ID, n, m) enum { kymo_fault_##ID##_##n = kymo_has_##ID##_##n ? 0 : 2 };
#define KYMO_PROBE_HAS_(ID, n, m)                                                               \
  template <class Subject> char(&kymo_finds_##ID##_##n(decltype((((Subject *)0)->m, 0)) *))[1]; \
  template <class Subject> char(&kymo_finds_##ID##_##n(...))[2];                                \
  enum { kymo_has_##ID##_##n = sizeof(kymo_finds_##ID##_##n<kymo_type_##ID>(0)) == 1 };
#endif

#define KYMO_WRONG_kymo_plain_(ID, n, TYPE)                   \
  (KYMO_IS_ARRAY_(kymo_e_##ID##_##n)     ? KYMO_WRONG_DEEP_   \
   : !KYMO_IS_SCALAR_(kymo_e_##ID##_##n) ? KYMO_WRONG_NUMBER_ \
                                         : 0)
#define KYMO_WRONG_kymo_typed_(ID, n, TYPE)                                                        \
  (KYMO_IS_ARRAY_(kymo_e_##ID##_##n)      ? KYMO_WRONG_DEEP_                                       \
   : !KYMO_SAME_(kymo_e_##ID##_##n, TYPE) ? KYMO_WRONG_TYPE_                                       \
   : KYMO_INFO_OF_(TYPE) == KYMO_UNLISTED_                                                         \
       ? (!KYMO_IS_TAGGED_(TYPE) && KYMO_IS_SCALAR_(kymo_e_##ID##_##n) ? 0 : KYMO_WRONG_UNLISTED_) \
   : KYMO_INFO_KIND_(KYMO_INFO_OF_(TYPE)) == KYMO_LISTING_VARIANT_ ? KYMO_WRONG_VARIANT_           \
                                                                   : 0)
#ifndef __clang__
#define KYMO_CHECK_MEMBER_(ID, n, TYPE, m, wrong)                                                \
  enum { kymo_wrong_##ID##_##n = (int)(wrong) };                                                 \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_DEEP_, "member " #m " " KYMO_CURE_DEEP_)                        \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_NUMBER_, "member " #m " " KYMO_CURE_PLAIN_)                     \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_TYPE_, "member " #m " is not of type " #TYPE)                   \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_UNLISTED_, "type " #TYPE " of member " #m " " KYMO_CURE_FIRST_) \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_VARIANT_, "type " #TYPE " of member " #m " " KYMO_CURE_TAGGED_) \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_TEXT_, "member " #m " " KYMO_CURE_TEXT_)                        \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_NESTED_, "member " #m " " KYMO_CURE_NESTED_)                    \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_OPTION_, "type " #TYPE " of member " #m " " KYMO_CURE_OPTION_)  \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_FLEXIBLE_, "member " #m " " KYMO_CURE_FLEXIBLE_)                \
  KYMO_REFUSE_(ID, n, KYMO_WRONG_COUNT_, KYMO_CURE_MISCOUNTED_)
#define KYMO_CHECK_TAGS_(ID) KYMO_ASSERT_(kymo_tags_##ID == 0, "kymo: " KYMO_CURE_TAGS_);
#define KYMO_REFUSE_(ID, n, bit, text) KYMO_ASSERT_(!(kymo_wrong_##ID##_##n & (bit)), "kymo: " text);
#define KYMO_CHECK_MORE_(ID, n, right, bit, text) KYMO_ASSERT_(right, "kymo: " text);
#else
#define KYMO_CHECK_MEMBER_(ID, n, TYPE, m, wrong) enum { kymo_wrong_##ID##_##n = (int)(wrong) };
#define KYMO_CHECK_MORE_(ID, n, right, bit, text) enum { kymo_more_##ID##_##n = (right) ? 0 : (bit) };
/* Mistakes that are found before the members are declared. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int kymo_refuse_listing_(int early)
    __attribute__((diagnose_if((early & 1) != 0, "kymo: a listing has at most 64 members", "warning")))
    __attribute__((diagnose_if((early & 2) != 0, "kymo: this type" KYMO_CURE_TWICE_, "warning")))
    __attribute__((diagnose_if((early & 4) != 0, "kymo: a member " KYMO_CURE_NO_MEMBER_WORD_, "warning")));
int kymo_refuse_members_(int faults)
    __attribute__((diagnose_if((faults & 1) != 0, "kymo: a member " KYMO_CURE_BITS_, "warning")))
    __attribute__((diagnose_if((faults & 2) != 0, "kymo: a member " KYMO_CURE_MISSING_, "warning")))
    __attribute__((diagnose_if((faults & 4) != 0, "kymo: " KYMO_CURE_MISCOUNTED_, "warning")));
#pragma clang diagnostic pop
#define KYMO_EARLY_OF_(KIND, TYPE, ...)       \
  ((KYMO_COUNT_(__VA_ARGS__) <= 64 ? 0 : 1) | \
   (KYMO_IS_FIRST_(TYPE) ? 0 : 2)KYMO_LIST_(KIND##_EARLY_, 0, __VA_ARGS__))
#define KYMO_MEMBER_EARLY_(ID, n, before, m) | (KYMO_IS_CALL_(#m) ? 4 : 0)
#define KYMO_OPTION_EARLY_(ID, n, before, m)
#define KYMO_NO_MEMBER_EARLY_(ID, n, before, m)
#define KYMO_MEMBER_PROBE_(ID, n, before, m) KYMO_MEMBER_(KYMO_PROBE, ID, n, before, m)
#define KYMO_OPTION_PROBE_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_PROBE_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_NO_MEMBER_PROBE_(ID, n, before, m)
#define KYMO_PROBE_OPTION_(ID, n, before, tag, m) KYMO_MEMBER_(KYMO_PROBE, ID, n, before, m)
#define KYMO_MEMBER_FAULT_(ID, n, before, m) | kymo_fault_##ID##_##n
#define KYMO_OPTION_FAULT_(ID, n, before, m) | kymo_fault_##ID##_##n
#define KYMO_NO_MEMBER_FAULT_(ID, n, before, m)
#define KYMO_PROBE_kymo_value_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_TAKEN_(ID, n, m)
#define KYMO_PROBE_kymo_text_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_TAKEN_(ID, n, m)
#define KYMO_PROBE_kymo_array_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_TAKEN_(ID, n, m)
#define KYMO_PROBE_kymo_variant_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_TAKEN_(ID, n, m)
#define KYMO_PROBE_kymo_optional_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_TAKEN_(ID, n, m)
#define KYMO_PROBE_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m) \
  enum { kymo_fault_##ID##_##n = 4 };
#define KYMO_PROBE_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m) KYMO_PROBE_THERE_(ID, n, m)
#ifndef __cplusplus
#define KYMO_IS_FIRST_(TYPE) (KYMO_INFO_OF_(TYPE) == KYMO_UNLISTED_)
#define KYMO_FAULTS_(ID, TYPE, faults) enum { KYMO_CAT_(kymo_faults_, ID) = faults };
#define KYMO_FAULTS_OF_(TYPE) KYMO_ID_(kymo_faults_, TYPE)
/* A narrow unsigned bit-field becomes an int. */
#define KYMO_PROBE_TAKEN_(ID, n, m) \
  enum { kymo_fault_##ID##_##n = KYMO_IS_NARROW_(((kymo_type_##ID *)0)->m) };
#define KYMO_PROBE_THERE_(ID, n, m) enum { kymo_fault_##ID##_##n = 0 };
#define KYMO_IS_NARROW_(x) _Generic(+_Generic((x), unsigned : (x), default : 0u), int : 1, default : 0)
/*
 * C finds out by the mistake alone that there is no such member, or that one is a bit-field, and clang prints
 * each macro that the member passes through. So it is found in the macro that the program writes or one
 * below: there a member stands as it is written, and what is made of its form is before it. A type that is
 * derived from such a mistake is an error that is not reported again.
 */
#define KYMO_SHALLOW_(...)                                                                               \
  KYMO_COUNT2_(__VA_ARGS__, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,   \
               kymo_many, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KYMO_DROP_(...)
#define KYMO_MENTION_(T, m) KYMO_CAT_(KYMO_MENTION_FORM_, KYMO_FORM_(m))(T)
#define KYMO_MENTION_FORM_0(T) (void)((T *)0)->
#define KYMO_MENTION_FORM_1(T) (void)((T *)0)KYMO_MEMBER_OF_WORD_
#define KYMO_MENTION_FORM_2(T) (void)((T *)0)->KYMO_DROP_
#define KYMO_MENTION_LATER_(T, n, before, m) KYMO_MENTION_(T, m) m,
#define KYMO_MEMBER_OF_WORD_(KIND, m, format, other, zero, mark) KYMO_MEMBER_OF_##KIND##_(m)
#define KYMO_MEMBER_OF_kymo_value_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_bits_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_text_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_array_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_variant_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_optional_(m) KYMO_CAT_(KYMO_MEMBER_OF_FORM_, KYMO_FORM_(m)) m
#define KYMO_MEMBER_OF_kymo_miscounted_(m)
#define KYMO_MEMBER_OF_FORM_0 ->
#define KYMO_MEMBER_OF_FORM_2 ->KYMO_DROP_
#define KYMO_MENTION_1(T, a) KYMO_MENTION_(T, a) a,
#define KYMO_MENTION_2(T, a, b) KYMO_MENTION_(T, a) a, KYMO_MENTION_(T, b) b,
#define KYMO_MENTION_3(T, a, b, c) KYMO_MENTION_(T, a) a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c,
#define KYMO_MENTION_4(T, a, b, c, d) \
  KYMO_MENTION_(T, a) a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d,
#define KYMO_MENTION_5(T, a, b, c, d, e) \
  KYMO_MENTION_(T, a)                    \
  a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d, KYMO_MENTION_(T, e) e,
#define KYMO_MENTION_6(T, a, b, c, d, e, f)                                                      \
  KYMO_MENTION_(T, a)                                                                            \
  a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d, KYMO_MENTION_(T, e) e, \
      KYMO_MENTION_(T, f) f,
#define KYMO_MENTION_7(T, a, b, c, d, e, f, g)                                                   \
  KYMO_MENTION_(T, a)                                                                            \
  a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d, KYMO_MENTION_(T, e) e, \
      KYMO_MENTION_(T, f) f, KYMO_MENTION_(T, g) g,
#define KYMO_MENTION_8(T, a, b, c, d, e, f, g, h)                                                \
  KYMO_MENTION_(T, a)                                                                            \
  a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d, KYMO_MENTION_(T, e) e, \
      KYMO_MENTION_(T, f) f, KYMO_MENTION_(T, g) g, KYMO_MENTION_(T, h) h,
#define KYMO_MENTION_kymo_many(T, a, b, c, d, e, f, g, h, ...)                                   \
  KYMO_MENTION_(T, a)                                                                            \
  a, KYMO_MENTION_(T, b) b, KYMO_MENTION_(T, c) c, KYMO_MENTION_(T, d) d, KYMO_MENTION_(T, e) e, \
      KYMO_MENTION_(T, f) f, KYMO_MENTION_(T, g) g, KYMO_MENTION_(T, h) h,                       \
      KYMO_LIST_(KYMO_MENTION_LATER_, T, __VA_ARGS__)
/* Bit-fields have no alignment. */
#define KYMO_ALIGN_(T, m) KYMO_CAT_(KYMO_ALIGN_FORM_, KYMO_FORM_(m))(T)
#define KYMO_ALIGN_FORM_0(T) +0 * __alignof__((T *)0)->
#define KYMO_ALIGN_FORM_1(T) +KYMO_ZERO_OF_
#define KYMO_ALIGN_FORM_2(T) +0 * __alignof__((T *)0)->KYMO_DROP_
#define KYMO_ALIGN_LATER_(T, n, before, m) KYMO_ALIGN_(T, m) m
#define KYMO_ZERO_OF_(...) 0
/* clang prints the line of the member, so it says what to do. */
/* clang-format off */
#define KYMO_ALIGN_1(T, a) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_2(T, a, b) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_3(T, a, b, c) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_4(T, a, b, c, d) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, d) d /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_5(T, a, b, c, d, e) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, d) d /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, e) e /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_6(T, a, b, c, d, e, f) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, d) d /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, e) e /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, f) f /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_7(T, a, b, c, d, e, f, g) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, d) d /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, e) e /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, f) f /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, g) g /* a bit-field: write KYMO_BITS(member) */
#define KYMO_ALIGN_8(T, a, b, c, d, e, f, g, h) \
  KYMO_ALIGN_(T, a) a /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, b) b /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, c) c /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, d) d /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, e) e /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, f) f /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, g) g /* a bit-field: write KYMO_BITS(member) */ \
  KYMO_ALIGN_(T, h) h /* a bit-field: write KYMO_BITS(member) */
/* clang-format on */
#define KYMO_ALIGN_kymo_many(T, ...) KYMO_LIST_(KYMO_ALIGN_LATER_, T, __VA_ARGS__)
/* 1 after such a mistake: an enumerator whose value is wrong, and reported, is one more than the one before
 * it. A type that is an error is an int. */
#define KYMO_HAS_BITS_(TYPE) \
  (KYMO_ID_(kymo_bits_, TYPE) && !__builtin_types_compatible_p(KYMO_ID_(kymo_type_, TYPE), int))
#else
#define KYMO_IS_FIRST_(TYPE) (sizeof(kymo_listed_(kymo_detail::exactly<TYPE>())) == KYMO_UNLISTED_)
#define KYMO_FAULTS_(ID, TYPE, faults) \
  char(&kymo_faults_(kymo_detail::exactly<TYPE>))[1 + (faults)] __attribute__((unused));
#define KYMO_FAULTS_OF_(TYPE) sizeof(kymo_faults_(kymo_detail::exactly<TYPE>())) - 1
#endif
/* A literal, which clang does not print before the message; C++ has none. */
#ifdef __cplusplus
#define KYMO_RIGHT_(right) (right)
#else
#define KYMO_RIGHT_(right) __builtin_choose_expr(right, 1, 0)
#endif
#define KYMO_CHECK_TAGS_(ID)
#define KYMO_OPTION_MORE_(ID, n, before, m) | kymo_wrong_##ID##_##n | kymo_more_##ID##_##n | kymo_tags_##ID
#define KYMO_NO_WRONG_(ID, n, before, m)
#define KYMO_MEMBER_WRONG_(ID, n, before, m) | kymo_wrong_##ID##_##n
#define KYMO_MEMBER_MORE_(ID, n, before, m) | kymo_wrong_##ID##_##n | kymo_more_##ID##_##n
#endif

/* Texts that are arrays of char. */
#define KYMO_VALUE_CODE_(ID, n, format, FORM)                                                          \
  KYMO_CODE_(KYMO_SAME_(kymo_e_##ID##_##n, char) && KYMO_IS_ARRAY_(kymo_a_##ID##_##n) && (format) == 0 \
                 ? KYMO_KIND_CHARS_                                                                    \
                 : KYMO_KIND_VALUE_,                                                                   \
             KYMO_CLASS_##FORM##_(ID, n), 0, 0)
#define KYMO_CLASS_kymo_plain_(ID, n) KYMO_SCALAR_(kymo_e_##ID##_##n)
#define KYMO_CLASS_kymo_typed_(ID, n) (uint64_t) KYMO_TYPE_LISTED_
#define KYMO_LISTING_OF_kymo_plain_(ID, n, TYPE) NULL,
#define KYMO_LISTING_OF_kymo_typed_(ID, n, TYPE) KYMO_LISTING_OR_(TYPE, &kymo_named_##ID##_##n),

/* Elements of a member. */
#define KYMO_MEASURE_OF_kymo_plain_(ID, n, TYPE, from, count) (count) * KYMO_INFO_SIZE_(kymo_info_##ID##_##n)
#define KYMO_MEASURE_OF_kymo_typed_(ID, n, TYPE, from, count)                                  \
  (KYMO_INFO_IS_DYNAMIC_(kymo_info_##ID##_##n)                                                 \
       ? kymo_measure_all_((from), (count), sizeof(kymo_e_##ID##_##n), KYMO_MEASURE_OF_(TYPE)) \
       : (count)*KYMO_INFO_SIZE_(kymo_info_##ID##_##n))
#define KYMO_ROOM_(ID, bytes)                                              \
  if (kymo_dynamic_##ID && kymo_is_short_(kymo_at_, kymo_limit_, (bytes))) \
    return NULL;
#define KYMO_STORE_OF_kymo_plain_(ID, n, TYPE, from, count)                                          \
  KYMO_ROOM_(ID, (count)*KYMO_INFO_SIZE_(kymo_info_##ID##_##n))                                      \
  if (KYMO_IS_LONG_DOUBLE_(kymo_e_##ID##_##n))                                                       \
    kymo_at_ = kymo_put_long_doubles_(kymo_at_, (const long double *)(const void *)(from), (count)); \
  else                                                                                               \
    kymo_at_ = kymo_put_bytes_(kymo_at_, (const void *)(from), (count) * sizeof(kymo_e_##ID##_##n));
#define KYMO_STORE_OF_kymo_typed_(ID, n, TYPE, from, count)                                          \
  KYMO_ROOM_(ID, (count)*KYMO_INFO_SIZE_(kymo_info_##ID##_##n))                                      \
  if (KYMO_INFO_IS_FLAT_(kymo_info_##ID##_##n))                                                      \
    kymo_at_ = kymo_put_bytes_(kymo_at_, (const void *)(from), (count) * sizeof(kymo_e_##ID##_##n)); \
  else {                                                                                             \
    kymo_at_ = kymo_put_all_(kymo_at_, kymo_limit_, (const void *)(from), (count),                   \
                             sizeof(kymo_e_##ID##_##n), KYMO_PUT_OF_(TYPE));                         \
    if (kymo_dynamic_##ID && !kymo_at_)                                                              \
      return NULL;                                                                                   \
  }

/* ---- kinds of members ---- */

#define KYMO_TYPE_OF_MEMBER_(ID, m) __typeof__(((kymo_type_##ID *)0)->m)
/* Bit-fields are reported before their addresses are taken, since they have none. In clang KYMO_MAKE_ has
 * done so. */
#ifdef __clang__
#define KYMO_CHECK_PLACE_(ID, n, m)
#define KYMO_TYPE_OF_PLACE_(ID, n, m) KYMO_TYPE_OF_MEMBER_(ID, m)
#else
#define KYMO_CHECK_PLACE_(ID, n, m)                                                   \
  KYMO_ASSERT_(!KYMO_IS_CALL_(#m), "kymo: member " #m " " KYMO_CURE_NO_MEMBER_WORD_); \
  KYMO_PROBE_BITS_(ID, n, m)                                                          \
  KYMO_ASSERT_(!kymo_bits_##ID##_##n, "kymo: member " #m " " KYMO_CURE_BITS_);
#ifdef __cplusplus
#define KYMO_PROBE_BITS_(ID, n, m) \
  KYMO_PROBE_TAKEN_(ID, n, m) enum { kymo_bits_##ID##_##n = kymo_fault_##ID##_##n == 1 };
#define KYMO_TYPE_OF_PLACE_(ID, n, m) KYMO_TYPE_OF_MEMBER_(ID, m)
#else
/* A member that is none is reported once: what is derived from it is an error that gcc does not report. gcc
 * has own types for most bit-fields; of others, _Bool and those as wide as their type, no address can be
 * taken: the name of the function in which this is reported says what to do. */
#define KYMO_PROBE_BITS_(ID, n, m)                                                                      \
  extern __typeof__(*__builtin_choose_expr(KYMO_IS_CALL_(#m), (struct kymo_of_no_word_ *)0,             \
                                           (char *)0)) kymo_word_##ID##_##n[1];                         \
  KYMO_DATA_ __auto_type kymo_member_##ID##_##n = __builtin_choose_expr(                                \
      KYMO_IS_CALL_(#m), 0, sizeof((void)0, ((kymo_type_##ID *)(0 * sizeof kymo_word_##ID##_##n))->m)); \
  typedef __typeof__((void)0, KYMO_OWNER_(ID, n)->m) kymo_read_##ID##_##n;                              \
  enum { kymo_bits_##ID##_##n = KYMO_IS_BITS_(*(kymo_read_##ID##_##n *)0) };                            \
  KYMO_FUNCTION_ void kymo_write_KYMO_BITS_of_a_bit_field_##ID##_##n(void) {                            \
    (void)sizeof(&__builtin_choose_expr(kymo_bits_##ID##_##n, *(int *)0, KYMO_OWNER_(ID, n)->m));       \
  }
struct kymo_of_no_word_;
/* An error itself after the word or the member is one. */
#define KYMO_OWNER_(ID, n) \
  ((kymo_type_##ID *)(0 * sizeof kymo_word_##ID##_##n * sizeof kymo_member_##ID##_##n))
/* Arrays are pointers when they are read; bit-fields are neither. */
#define KYMO_TYPE_OF_PLACE_(ID, n, m)                               \
  __typeof__(__builtin_choose_expr(kymo_bits_##ID##_##n, *(int *)0, \
                                   KYMO_UNLESS_READ_(ID, n, KYMO_OWNER_(ID, n)->m)))
#define KYMO_UNLESS_READ_(ID, n, x)                                                                        \
  __builtin_choose_expr(__builtin_classify_type(*(kymo_read_##ID##_##n *)0) == KYMO_CLASS_OF_POINTERS_, x, \
                        *(kymo_read_##ID##_##n *)0)
#define KYMO_CLASS_OF_POINTERS_ 5
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 kymo_wide_integer_;
__extension__ typedef unsigned __int128 kymo_wide_unsigned_;
#define KYMO_WIDE_ARE_(value) \
  kymo_wide_integer_:         \
  value, kymo_wide_unsigned_ : value,
#else
#define KYMO_WIDE_ARE_(value)
#endif
#define KYMO_IS_BITS_(x)                                                                        \
  (__builtin_classify_type(x) == 1 &&                                                           \
   _Generic((x), int : 0, unsigned : 0, long : 0, unsigned long : 0, char : 0, signed char : 0, \
            unsigned char : 0, short : 0, unsigned short : 0, _Bool : 0, long long : 0,         \
            unsigned long long : 0, KYMO_WIDE_ARE_(0) default : 1))
#endif
#endif

#if defined(__clang__) || defined(__cplusplus)
#define KYMO_OFFSET_(ID, n, m) (int)offsetof(kymo_type_##ID, m)
#else /* offsetof would report a member that is none once more */
#define KYMO_OFFSET_(ID, n, m) (int)(__INTPTR_TYPE__)&KYMO_OWNER_(ID, n)->m
#endif
/* The address of the member, taken once: for a member without an address each use is an error. */
#define KYMO_MEMBER_DECLARE_kymo_value_(ID, n, before, format, other, FORM, TYPE, m)           \
  KYMO_CHECK_PLACE_(ID, n, m)                                                                  \
  KYMO_DECLARE_TYPE_(ID, n, KYMO_TYPE_OF_PLACE_(ID, n, m), FORM, TYPE)                         \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m,                                                           \
                     KYMO_IS_FLEXIBLE_(kymo_t_##ID##_##n) ? KYMO_WRONG_FLEXIBLE_               \
                                                          : KYMO_WRONG_##FORM##_(ID, n, TYPE)) \
  enum { kymo_offset_##ID##_##n = KYMO_OFFSET_(ID, n, m) };                                    \
  KYMO_DECLARE_FACTS_(ID, n, KYMO_INFO_IS_DYNAMIC_(kymo_info_##ID##_##n),                      \
                      kymo_times_##ID##_##n *KYMO_INFO_SIZE_(kymo_info_##ID##_##n),            \
                      KYMO_INFO_IS_FLAT_(kymo_info_##ID##_##n) &&                              \
                              (int)kymo_end_##ID##_##before == (int)kymo_offset_##ID##_##n     \
                          ? (int)kymo_end_##ID##_##before + (int)sizeof(kymo_a_##ID##_##n)     \
                          : -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_value_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_VALUE_CODE_(ID, n, other, FORM) | (other)
#define KYMO_MEMBER_LISTING_kymo_value_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_LISTING_OF_##FORM##_(ID, n, TYPE)
#define KYMO_MEMBER_MEASURE_kymo_value_(ID, n, before, format, other, FORM, TYPE, m) \
  kymo_sum_ += KYMO_MEASURE_OF_##FORM##_(ID, n, TYPE, KYMO_AT_(ID, n), (size_t)kymo_times_##ID##_##n);
#define KYMO_MEMBER_STORE_kymo_value_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_STORE_OF_##FORM##_(ID, n, TYPE, KYMO_AT_(ID, n), (size_t)kymo_times_##ID##_##n)
#define KYMO_AT_(ID, n) ((const unsigned char *)kymo_p_ + kymo_offset_##ID##_##n)

#define KYMO_MEMBER_DECLARE_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_DECLARE_TYPE_(ID, n, int, kymo_plain, 0)                                           \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m, KYMO_WRONG_COUNT_)                                   \
  KYMO_DECLARE_FACTS_(ID, n, 0, 0, -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m) 0
#define KYMO_MEMBER_LISTING_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m) NULL,
#define KYMO_MEMBER_MEASURE_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m)
#define KYMO_MEMBER_STORE_kymo_miscounted_(ID, n, before, format, other, FORM, TYPE, m)

#define KYMO_MEMBER_DECLARE_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m)          \
  KYMO_DECLARE_TYPE_(ID, n, KYMO_BITS_##FORM##_(((kymo_type_##ID *)0)->m, TYPE), FORM, TYPE) \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m, KYMO_WRONG_##FORM##_(ID, n, TYPE))                      \
  KYMO_DECLARE_FACTS_(ID, n, 0, sizeof(kymo_e_##ID##_##n), -1)
#define KYMO_BITS_kymo_plain_(x, TYPE) KYMO_BITS_OF_(x)
#define KYMO_BITS_kymo_typed_(x, TYPE) TYPE
#define KYMO_MEMBER_LISTED_CODE_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_CLASS_##FORM##_(ID, n), 0, 0)
#define KYMO_MEMBER_LISTING_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_LISTING_OF_##FORM##_(ID, n, TYPE)
#define KYMO_MEMBER_MEASURE_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m) \
  kymo_sum_ += sizeof(kymo_e_##ID##_##n);
#define KYMO_MEMBER_STORE_kymo_bits_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_ROOM_(ID, sizeof(kymo_e_##ID##_##n)) {                                     \
    kymo_e_##ID##_##n kymo_bits_ = (kymo_e_##ID##_##n)kymo_p_->m;                 \
    kymo_at_ = kymo_put_bytes_(kymo_at_, &kymo_bits_, sizeof kymo_bits_);         \
  }

#define KYMO_MEMBER_DECLARE_kymo_text_(ID, n, before, format, other, FORM, TYPE, m)                       \
  KYMO_DECLARE_TYPE_(ID, n, KYMO_TYPE_OF_MEMBER_(ID, m), FORM, TYPE)                                      \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m,                                                                      \
                     KYMO_SAME_(kymo_a_##ID##_##n, char *) || KYMO_SAME_(kymo_a_##ID##_##n, const char *) \
                         ? 0                                                                              \
                         : KYMO_WRONG_TEXT_)                                                              \
  KYMO_DECLARE_FACTS_(ID, n, 1, 0, -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_text_(ID, n, before, format, other, FORM, TYPE, m) \
  KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_TEXT_, 0, 0)
#define KYMO_MEMBER_LISTING_kymo_text_(ID, n, before, format, other, FORM, TYPE, m) NULL,
#define KYMO_MEMBER_MEASURE_kymo_text_(ID, n, before, format, other, FORM, TYPE, m) \
  kymo_sum_ += kymo_measure_text_(kymo_p_->m);
#define KYMO_MEMBER_STORE_kymo_text_(ID, n, before, format, other, FORM, TYPE, m) \
  kymo_at_ = kymo_put_whole_text_(kymo_at_, kymo_limit_, kymo_p_->m);             \
  if (!kymo_at_)                                                                  \
    return NULL;

#define KYMO_MEMBER_DECLARE_kymo_array_(ID, n, before, format, count, FORM, TYPE, m)                      \
  KYMO_DECLARE_TYPE_(ID, n, __typeof__(*((kymo_type_##ID *)0)->m), FORM, TYPE)                            \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m,                                                                      \
                     kymo_times_##ID##_##n != 1 ? KYMO_WRONG_NESTED_ : KYMO_WRONG_##FORM##_(ID, n, TYPE)) \
  KYMO_DECLARE_FACTS_(ID, n, 1, 0, -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_array_(ID, n, before, format, count, FORM, TYPE, m) \
  KYMO_CODE_(KYMO_KIND_ARRAY_, KYMO_CLASS_##FORM##_(ID, n), 0, 0)
#define KYMO_MEMBER_LISTING_kymo_array_(ID, n, before, format, count, FORM, TYPE, m) \
  KYMO_LISTING_OF_##FORM##_(ID, n, TYPE)
#define KYMO_ELEMENTS_(ID, n, count, m)                                                            \
  size_t kymo_count_ = KYMO_COUNT_OF_(kymo_p_->count, KYMO_TEXT_MAX_ / sizeof(kymo_e_##ID##_##n)); \
  const kymo_e_##ID##_##n *kymo_first_ = kymo_p_->m;                                               \
  KYMO_ONCE_(kymo_count_);                                                                         \
  KYMO_ONCE_(kymo_first_);                                                                         \
  if (!kymo_first_)                                                                                \
    kymo_count_ = 0;
#define KYMO_MEMBER_MEASURE_kymo_array_(ID, n, before, format, count, FORM, TYPE, m)   \
  {                                                                                    \
    KYMO_ELEMENTS_(ID, n, count, m)                                                    \
    kymo_sum_ += 4 + KYMO_MEASURE_OF_##FORM##_(ID, n, TYPE, kymo_first_, kymo_count_); \
  }
#define KYMO_MEMBER_STORE_kymo_array_(ID, n, before, format, count, FORM, TYPE, m) \
  {                                                                                \
    KYMO_ELEMENTS_(ID, n, count, m)                                                \
    uint32_t kymo_stored_ = (uint32_t)kymo_count_;                                 \
    KYMO_ROOM_(ID, 4)                                                              \
    kymo_at_ = kymo_put_bytes_(kymo_at_, &kymo_stored_, 4);                        \
    KYMO_STORE_OF_##FORM##_(ID, n, TYPE, kymo_first_, kymo_count_)                 \
  }

#define KYMO_MEMBER_DECLARE_kymo_variant_(ID, n, before, format, tag, FORM, TYPE, m)                       \
  KYMO_DECLARE_TYPE_(ID, n, KYMO_TYPE_OF_MEMBER_(ID, m), kymo_option, TYPE)                                \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m,                                                                       \
                     !KYMO_SAME_(kymo_a_##ID##_##n, TYPE)                             ? KYMO_WRONG_TYPE_   \
                     : KYMO_INFO_KIND_(kymo_info_##ID##_##n) != KYMO_LISTING_VARIANT_ ? KYMO_WRONG_OPTION_ \
                                                                                      : 0)                 \
  KYMO_DECLARE_FACTS_(ID, n, 1, 0, -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_variant_(ID, n, before, format, tag, FORM, TYPE, m) \
  KYMO_CODE_(KYMO_KIND_VARIANT_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_MEMBER_LISTING_kymo_variant_(ID, n, before, format, tag, FORM, TYPE, m) \
  KYMO_LISTING_OR_(TYPE, NULL),
#define KYMO_MEMBER_MEASURE_kymo_variant_(ID, n, before, format, tag, FORM, TYPE, m) \
  kymo_sum_ += 4 + KYMO_MEASURE_OPTION_OF_(TYPE)(&kymo_p_->m, kymo_tag_of_((int64_t)kymo_p_->tag));
#define KYMO_MEMBER_STORE_kymo_variant_(ID, n, before, format, tag, FORM, TYPE, m)          \
  {                                                                                         \
    int32_t kymo_stored_ = kymo_tag_of_((int64_t)kymo_p_->tag);                             \
    KYMO_ROOM_(ID, 4)                                                                       \
    kymo_at_ = kymo_put_bytes_(kymo_at_, &kymo_stored_, 4);                                 \
    kymo_at_ = KYMO_PUT_OPTION_OF_(TYPE)(kymo_at_, kymo_limit_, &kymo_p_->m, kymo_stored_); \
    if (!kymo_at_)                                                                          \
      return NULL;                                                                          \
  }

#define KYMO_MEMBER_DECLARE_kymo_optional_(ID, n, before, format, flag, FORM, TYPE, m)         \
  KYMO_DECLARE_TYPE_(ID, n, KYMO_TYPE_OF_MEMBER_(ID, m), FORM, TYPE)                           \
  KYMO_CHECK_MEMBER_(ID, n, TYPE, m,                                                           \
                     KYMO_IS_FLEXIBLE_(kymo_t_##ID##_##n) ? KYMO_WRONG_FLEXIBLE_               \
                                                          : KYMO_WRONG_##FORM##_(ID, n, TYPE)) \
  KYMO_DECLARE_FACTS_(ID, n, 1, 0, -1)
#define KYMO_MEMBER_LISTED_CODE_kymo_optional_(ID, n, before, format, flag, FORM, TYPE, m) \
  KYMO_CODE_(KYMO_KIND_OPTIONAL_, KYMO_CLASS_##FORM##_(ID, n), 0, 0)
#define KYMO_MEMBER_LISTING_kymo_optional_(ID, n, before, format, flag, FORM, TYPE, m) \
  KYMO_LISTING_OF_##FORM##_(ID, n, TYPE)
#define KYMO_MEMBER_MEASURE_kymo_optional_(ID, n, before, format, flag, FORM, TYPE, m) \
  kymo_sum_ += 1;                                                                      \
  if (kymo_p_->flag)                                                                   \
    kymo_sum_ += KYMO_MEASURE_OF_##FORM##_(ID, n, TYPE, &kymo_p_->m, (size_t)kymo_times_##ID##_##n);
#define KYMO_MEMBER_STORE_kymo_optional_(ID, n, before, format, flag, FORM, TYPE, m)   \
  {                                                                                    \
    unsigned kymo_present_ = kymo_p_->flag ? 1 : 0;                                    \
    KYMO_ONCE_(kymo_present_);                                                         \
    KYMO_ROOM_(ID, 1)                                                                  \
    *kymo_at_++ = (unsigned char)kymo_present_;                                        \
    if (kymo_present_) {                                                               \
      KYMO_STORE_OF_##FORM##_(ID, n, TYPE, &kymo_p_->m, (size_t)kymo_times_##ID##_##n) \
    }                                                                                  \
  }

#endif
