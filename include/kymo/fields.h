/* SPDX-License-Identifier: MIT */
/*
 * kymo/fields.h: the code for each kind of field of an event; the macros of kymo/trace.h, which explains the
 * fields, consist of it.
 */
#ifndef KYMO_FIELDS_H
#define KYMO_FIELDS_H
/* gcc then reports a mistake where it was written, not in the hundreds of lines of macros around it. */
#pragma GCC system_header

#include <kymo/types.h>
#include <kymo/words.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* KYMO_DO_(OP, i, field) becomes OP_KIND_(i, name, …). */
#define KYMO_DO_(OP, i, x) KYMO_CAT_(KYMO_DO_, KYMO_FORM_(x))(OP, i, x)
#define KYMO_DO_0(OP, i, x) OP##_kymo_value_(i, kymo_unnamed, x, 0, 0)
#define KYMO_DO_2(OP, i, x) OP##_kymo_value_(i, kymo_unnamed, x, 0, 0)
#define KYMO_DO_1(OP, i, x) KYMO_DO2_(OP, i, KYMO_OPEN_ x)
#define KYMO_DO2_(...) KYMO_DO3_(__VA_ARGS__)
#define KYMO_DO3_(OP, i, KIND, name, a, b, c, end) OP##_##KIND##_(i, name, a, b, c)
#define KYMO_FIELD_CODE_(ID, i, previous, x) KYMO_DO_(KYMO_CODE, i, x)
#define KYMO_FIELD_DECLARE_(ID, i, previous, x) KYMO_DO_(KYMO_DECLARE, i, x)
#define KYMO_FIELD_SLOT_(ID, i, previous, x) KYMO_DO_(KYMO_SLOT, i, x)
#define KYMO_FIELD_LISTING_(ID, i, previous, x) KYMO_DO_(KYMO_LISTING, i, x)
#define KYMO_FIELD_TAKE_(ID, i, previous, x) KYMO_DO_(KYMO_TAKE, i, x)
#define KYMO_FIELD_SIZE_(ID, i, previous, x) KYMO_DO_(KYMO_SIZE, i, x)
#define KYMO_FIELD_IS_TEXT_(ID, i, previous, x) KYMO_DO_(KYMO_ISTEXT, i, x)
#define KYMO_FIELD_BEFORE_(ID, i, previous, x) +(kymo_only_text_ >> (i) ? 0 : 0 KYMO_DO_(KYMO_SIZE, i, x))
#define KYMO_FIELD_PUT_(ID, i, previous, x) KYMO_DO_(KYMO_PUT, i, x)
#define KYMO_FIELD_MENTION_(ID, i, previous, x) KYMO_DO_(KYMO_MENTION, i, x)

/* Nothing is evaluated, but a variable that is only traced does not count as unused. */
#define KYMO_MENTION_kymo_value_(i, name, x, n, c) (void)(x);
#define KYMO_MENTION_kymo_strn_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_blob_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_fixed_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_array_(i, name, x, n, c) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_struct_(i, name, TYPE, x, c) (void)(x);
#define KYMO_MENTION_kymo_union_(i, name, TYPE, x, c) (void)(x);
#define KYMO_MENTION_kymo_structs_(i, name, TYPE, x, n) (void)(x), (void)(n);
#define KYMO_MENTION_kymo_pointee_(i, name, TYPE, x, c) (void)(x);
#define KYMO_MENTION_kymo_variant_(i, name, TYPE, tag, x) (void)(tag), (void)(x);
#define KYMO_MENTION_kymo_enum_(i, name, TYPE, x, c) (void)(x);
#define KYMO_MENTION_kymo_typed_(i, name, TYPE, x, c) (void)(x);
#define KYMO_MENTION_kymo_optional_(i, name, condition, x, c) (void)(condition), (void)(x);
#define KYMO_MENTION_kymo_level_(i, name, level, b, c)
#define KYMO_MENTION_kymo_about_(i, name, text, b, c)
#define KYMO_MENTION_kymo_miscounted_(i, name, a, b, c)

#ifndef KYMO_DISABLE

#define KYMO_LIKELY_(x) __builtin_expect(!!(x), 1)

/* ---- texts ---- */

#if defined(__SSE2__) && !defined(KYMO_PLAIN_STRINGS) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define KYMO_VECTOR_TEXT_ 1
#endif
#else
#define KYMO_VECTOR_TEXT_ 1
#endif
#endif

#ifdef KYMO_VECTOR_TEXT_
/* The compiler's own vectors: <emmintrin.h> alone takes longer to compile than this header. */
typedef signed char kymo_vector_ __attribute__((vector_size(16)));
typedef char kymo_vector_bytes_ __attribute__((vector_size(16))); /* the argument of
                                                                   * __builtin_ia32_pmovmskb128 */
struct __attribute__((packed, may_alias)) kymo_anywhere_ {
  kymo_vector_ vector;
};
KYMO_INLINE_ kymo_vector_ kymo_load_vector_(const void *from) {
  return ((const struct kymo_anywhere_ *)from)->vector;
}
#endif

/* A text to be stored. Its first bytes are loaded once, so that a text of up to 15 bytes which another
 * thread changes meanwhile cannot grow after the check; longer ones are checked while they are copied. */
struct kymo_text_ {
  const char *text;
  size_t length;
#ifdef KYMO_VECTOR_TEXT_
  kymo_vector_ first; /* 16 bytes, zeroes after the text's end */
#endif
};

/* A text that is read when the event begins. */
struct kymo_tail_ {
  const char *kymo_text; /* macros use the names: a program may have a macro text */
  size_t kymo_bound;
};
#ifdef __cplusplus
#define KYMO_NO_TEXT_ kymo_text_()
#else
#define KYMO_NO_TEXT_ ((struct kymo_text_){0})
#endif

#ifdef KYMO_VECTOR_TEXT_
/* A text near the end of a page. */
KYMO_SHARED_ kymo_vector_ kymo_load_bytewise_(const char *text, size_t bound) {
  struct kymo_anywhere_ loaded = {{0}};
  for (size_t i = 0; i < sizeof loaded && i < bound && text[i]; i++)
    loaded.vector[i] = text[i];
  return loaded.vector;
}

/* Whether 16 bytes from there lie in one page. NULL is as near the end of a page as a text can be. */
KYMO_INLINE_ bool kymo_is_within_page_(const char *text) { return (((uintptr_t)text - 1) & 4095) <= 4079; }
KYMO_INLINE_ unsigned kymo_zeroes_(kymo_vector_ bytes) {
  const kymo_vector_ none = {0};
  return (unsigned)__builtin_ia32_pmovmskb128((kymo_vector_bytes_)(bytes == none));
}
KYMO_INLINE_ void kymo_store_vector_(unsigned char *at, kymo_vector_ bytes) {
  ((struct kymo_anywhere_ *)(void *)at)->vector = bytes;
}
KYMO_INLINE_ kymo_vector_ kymo_keep_first_(kymo_vector_ bytes, size_t length) {
  static const unsigned char keep[32] __attribute__((aligned(16))) = {255, 255, 255, 255, 255, 255, 255, 255,
                                                                      255, 255, 255, 255, 255, 255, 255, 255};
  return bytes & kymo_load_vector_(keep + 16 - length);
}
#endif

KYMO_INLINE_ struct kymo_text_ kymo_take_text_(const char *text, size_t bound) {
  struct kymo_text_ t;
  if (!text)
    text = "(null)", bound = KYMO_TEXT_MAX_;
  t.text = text;
#ifdef KYMO_VECTOR_TEXT_
  __asm__("" : "+r"(text)); /* hides the size of the object, since bytes after its end are read */
  const kymo_vector_ first = KYMO_LIKELY_(kymo_is_within_page_(text) && bound > 0)
                                 ? kymo_load_vector_(text)
                                 : kymo_load_bytewise_(text, bound);
  unsigned zeroes = kymo_zeroes_(first);
  if (bound < 16)
    zeroes |= 1u << bound;
  if (KYMO_LIKELY_(zeroes)) {
    t.length = (size_t)__builtin_ctz(zeroes);
    t.first = kymo_keep_first_(first, t.length);
    return t;
  }
#endif
  t.length = kymo_measure_long_(text, bound < KYMO_TEXT_MAX_ ? bound : KYMO_TEXT_MAX_);
#ifdef KYMO_VECTOR_TEXT_
  t.first = kymo_keep_first_(first, t.length < 16 ? t.length : 16); /* shorter: it was changed meanwhile */
#endif
  return t;
}

/* Stores may write up to 15 bytes past the event: each packet keeps that much space after its end. */
KYMO_INLINE_ unsigned char *kymo_put_text_(unsigned char *at, const struct kymo_text_ *t) {
#ifdef KYMO_VECTOR_TEXT_
  kymo_store_vector_(at, t->first);
  if (KYMO_LIKELY_(t->length < 16))
    return at + t->length + 1;
#endif
  return kymo_put_long_(at, t->text, t->length);
}

KYMO_INLINE_ unsigned char *kymo_put_blob_(unsigned char *at, const void *data, size_t bytes,
                                           uint32_t count) {
  memcpy(at, &count, sizeof count);
  if (bytes)
    memcpy(at + sizeof count, data, bytes);
  return at + sizeof count + bytes;
}

KYMO_INLINE_ unsigned char *kymo_put_fixed_(unsigned char *at, const void *data, size_t bytes, size_t max) {
  if (bytes)
    memcpy(at, data, bytes);
  memset(at + bytes, 0, max - bytes);
  return at + max;
}

/* ---- types of expressions ---- */

/* Where wchar_t has 16 bits (-fshort-wchar) there are no wide texts. */
#define KYMO_HAS_WIDE_ (sizeof(wchar_t) == 4)
enum {
  KYMO_TYPE_WIDE_ = (int)((KYMO_HAS_WIDE_ ? KYMO_CODE_WIDE_ : 0) | KYMO_TYPE_POINTER_ | sizeof(void *))
};

#ifndef __cplusplus

#define KYMO_AUTO_ __extension__ __auto_type
/* The type of field i, which kymo/check.h names: if x is wrong, it is reported there, and not at each use. */
#define KYMO_X_(i) (*(kymo_type##i *)0)
#define KYMO_DECAYED_(x) __typeof__(((void)0, (x)))
#define KYMO_TYPE_OF_(x) \
  _Generic((x), char *: KYMO_TYPE_TEXT_, const char *: KYMO_TYPE_TEXT_, wchar_t *: KYMO_TYPE_WIDE_,          \
           const wchar_t *: KYMO_TYPE_WIDE_, default: KYMO_SCALAR_OF_(x))
#define KYMO_IS_TEXT_(v) _Generic((v), char * : 1, const char * : 1, default : 0)
#define KYMO_TEXT_OF_(v) _Generic((v), char * : (v), const char * : (v), default : (const char *)0)
/* how much of a char array may be read */
#define KYMO_BOUND_(x)                            \
  _Generic((__typeof__(x) *)0, char(*)[sizeof(x)] \
           : sizeof(x), const char(*)[sizeof(x)]  \
           : sizeof(x), default                   \
           : KYMO_TEXT_MAX_)
#define KYMO_STORED_(i)                                    \
  __typeof__(_Generic((kymo_event_get_raw##i), long double \
                      : (double)0, default                 \
                      : kymo_event_get_raw##i)) kymo_v##i = kymo_event_get_raw##i
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 kymo_int128_;
__extension__ typedef unsigned __int128 kymo_uint128_;
#define KYMO_IS_INT128_(x) _Generic((x), kymo_int128_ : 1, kymo_uint128_ : 1, default : 0)
#else
#define KYMO_IS_INT128_(x) 0
#endif
/* integer, char, enum, bool, pointer, real; not of 128 bits */
#define KYMO_IS_VALUE_(x) ((0x13e >> __builtin_classify_type(x) & 1) && !KYMO_IS_INT128_(x))
/* kymo/check.h has declared the type, and reported one that is not listed. */
#define KYMO_INFO_HERE_(TYPE) KYMO_INFO_OF_(TYPE)
#define KYMO_LISTING_HERE_(TYPE) KYMO_LISTING_OR_(TYPE, (const struct kymo_listing *)0)
#define KYMO_POINTS_TO_(x, TYPE) KYMO_SAME_(__typeof__(*(x)), TYPE)
#define KYMO_NO_CLASS_(TYPE) TYPE

#else

namespace kymo_detail {
template <class T> struct plain { typedef typename std::decay<T>::type type; };
template <class T, class = void> struct stored { typedef T type; };
template <> struct stored<long double> { typedef double type; };
template <class T> struct is_field {
  static constexpr bool value =
      (std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value) &&
      sizeof(typename plain<T>::type) <= sizeof(long double);
};
template <class T> constexpr uint64_t type_code() {
  return std::is_same<T, char *>::value || std::is_same<T, const char *>::value ? (unsigned)KYMO_TYPE_TEXT_
         : std::is_same<T, wchar_t *>::value || std::is_same<T, const wchar_t *>::value
             ? (unsigned)KYMO_TYPE_WIDE_
             : scalar_code<T>();
}
template <class T> struct bound { static constexpr size_t value = KYMO_TEXT_MAX_; };
template <size_t N> struct bound<char[N]> { static constexpr size_t value = N; };
template <size_t N> struct bound<const char[N]> { static constexpr size_t value = N; };
KYMO_UNTRACED_ inline const char *text_of(const char *text) { return text; }
KYMO_UNTRACED_ inline const char *text_of(char *text) { return text; }
template <class T> KYMO_UNTRACED_ inline const char *text_of(const T &) { return nullptr; }
template <class T> struct is_text {
  static constexpr bool value = std::is_same<T, char *>::value || std::is_same<T, const char *>::value;
};
} // namespace kymo_detail

#define KYMO_AUTO_ auto
#define KYMO_X_(i) (*(typename std::remove_reference<kymo_type##i>::type *)0)
#define KYMO_DECAYED_(x) typename kymo_detail::plain<decltype(x)>::type
#define KYMO_TYPE_OF_(x) kymo_detail::type_code<typename kymo_detail::plain<decltype(x)>::type>()
#define KYMO_IS_TEXT_(v) kymo_detail::is_text<typename kymo_detail::plain<decltype(v)>::type>::value
#define KYMO_TEXT_OF_(v) kymo_detail::text_of(v)
#define KYMO_BOUND_(x) kymo_detail::bound<typename std::remove_reference<decltype(x)>::type>::value
#define KYMO_STORED_(i) \
  typename kymo_detail::stored<decltype(kymo_event_get_raw##i)>::type kymo_v##i = kymo_event_get_raw##i
#define KYMO_IS_VALUE_(x) (kymo_detail::is_field<typename kymo_detail::plain<decltype(x)>::type>::value)
#define KYMO_INFO_HERE_(TYPE) \
  sizeof(kymo_listed_(kymo_detail::exactly<typename std::remove_cv<TYPE>::type>()))
#define KYMO_LISTING_HERE_(TYPE) kymo_listing_(kymo_detail::exactly<typename std::remove_cv<TYPE>::type>())
  /* A class in the place of an enum is reported: an int replaces it. */
#define KYMO_NO_CLASS_(TYPE) typename std::conditional<std::is_class<TYPE>::value, int, TYPE>::type
  /* An expression that is not a pointer (NULL, an object that converts to one) is left to the conversion. */
#define KYMO_POINTS_TO_(x, TYPE)                                      \
  (!std::is_pointer<typename std::decay<decltype(x)>::type>::value || \
   std::is_convertible<decltype(x), const TYPE *>::value)

#endif

/* Replaces the type of a field whose expression is wrong: that is reported once. */
typedef int kymo_type1, kymo_type2, kymo_type3, kymo_type4, kymo_type5, kymo_type6, kymo_type7, kymo_type8,
    kymo_type9, kymo_type10, kymo_type11, kymo_type12, kymo_type13, kymo_type14, kymo_type15, kymo_type16;
typedef int kymo_given_type1, kymo_given_type2, kymo_given_type3, kymo_given_type4, kymo_given_type5,
    kymo_given_type6, kymo_given_type7, kymo_given_type8, kymo_given_type9, kymo_given_type10,
    kymo_given_type11, kymo_given_type12, kymo_given_type13, kymo_given_type14, kymo_given_type15,
    kymo_given_type16;

/* ---- kinds of fields ---- */

/* Each kind of field adds to the descriptor a code (CODE), a member that points to a listing (SLOT) and its
 * value (LISTING); it declares before the descriptor (DECLARE); before the event begins it evaluates the
 * arguments, once (TAKE), and adds to the size (SIZE); then it stores (PUT). i is the field's number. */
#define KYMO_DECLARE_kymo_value_(i, name, x, format, c)
#define KYMO_SLOT_kymo_value_(i, name, x, format, c)
#define KYMO_LISTING_kymo_value_(i, name, x, format, c)
#define KYMO_CODE_kymo_value_(i, name, x, format, c) \
  , (KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_OF_(KYMO_X_(i)), 0, 0) | (format))
/* kymo_texts_ has a bit for each field that is a text, kymo_only_text_ is the one that
 * kymo_begin_text_ stores (kymo/trace.h): short to write, since it is expanded often. */
#define KYMO_IS_TEXT_FIELD_(i) (kymo_texts_ >> (i)&1)
#define KYMO_IS_ONLY_TEXT_(i) (kymo_only_text_ >> (i)&1)
#define KYMO_TAKE_kymo_value_(i, name, x, base, c)                                 \
  KYMO_DECAYED_(KYMO_X_(i)) kymo_event_get_raw##i = (x);                           \
  KYMO_TAKE_RAW_(i, x)                                                             \
  struct kymo_text_ kymo_text##i;                                                  \
  if (KYMO_IS_TEXT_FIELD_(i)) {                                                    \
    kymo_tail_.kymo_text = KYMO_TEXT_OF_(kymo_event_get_raw##i);                   \
    kymo_tail_.kymo_bound = KYMO_BOUND_(KYMO_X_(i));                               \
    if (!KYMO_IS_ONLY_TEXT_(i))                                                    \
      kymo_text##i = kymo_take_text_(kymo_tail_.kymo_text, kymo_tail_.kymo_bound); \
  }
#define KYMO_TAKE_RAW_(i, x) KYMO_STORED_(i);
#define KYMO_SIZE_kymo_value_(i, name, x, base, c) \
  +(KYMO_IS_ONLY_TEXT_(i) ? 0 : KYMO_IS_TEXT_FIELD_(i) ? kymo_text##i.length + 1 : sizeof(kymo_v##i))
#define KYMO_PUT_kymo_value_(i, name, x, base, c) \
  if (KYMO_IS_ONLY_TEXT_(i))                      \
    kymo_at_ += kymo_place_.ring->stored;         \
  else                                            \
    KYMO_PUT_TAKEN_(i, KYMO_IS_TEXT_FIELD_(i))
#define KYMO_PUT_TAKEN_(i, is_text)                     \
  if (is_text)                                          \
    kymo_at_ = kymo_put_text_(kymo_at_, &kymo_text##i); \
  else                                                  \
    memcpy(kymo_at_, &kymo_v##i, sizeof(kymo_v##i)), kymo_at_ += sizeof(kymo_v##i);

#define KYMO_DECLARE_kymo_strn_(i, name, x, n, c)
#define KYMO_SLOT_kymo_strn_(i, name, x, n, c)
#define KYMO_LISTING_kymo_strn_(i, name, x, n, c)
#define KYMO_CODE_kymo_strn_(i, name, x, n, c) , KYMO_CODE_(KYMO_KIND_STRN_, KYMO_TYPE_TEXT_, 0, 0)
#define KYMO_TAKE_kymo_strn_(i, name, x, n, c) \
  struct kymo_text_ kymo_text##i = kymo_take_text_((x), (size_t)(n));
#define KYMO_SIZE_kymo_strn_(i, name, x, n, c) +kymo_text##i.length + 1
#define KYMO_PUT_kymo_strn_(i, name, x, n, c) kymo_at_ = kymo_put_text_(kymo_at_, &kymo_text##i);

/* Negative counts and NULL: no elements. The sign turns a bit-field into an int. */
#define KYMO_TAKE_COUNT_(i, n, most, pointer) \
  KYMO_AUTO_ kymo_given##i = +(n);            \
  size_t kymo_n##i = (pointer) ? KYMO_COUNT_OF_(kymo_given##i, (most)) : 0;

#define KYMO_DECLARE_kymo_blob_(i, name, x, n, c)
#define KYMO_SLOT_kymo_blob_(i, name, x, n, c)
#define KYMO_LISTING_kymo_blob_(i, name, x, n, c)
#define KYMO_CODE_kymo_blob_(i, name, x, n, c) , KYMO_CODE_(KYMO_KIND_BLOB_, KYMO_TYPE_UNSIGNED_ | 1, 16, 0)
#define KYMO_TAKE_kymo_blob_(i, name, x, n, c) \
  const void *kymo_data##i = (x);              \
  KYMO_TAKE_COUNT_(i, n, KYMO_TEXT_MAX_, kymo_data##i)
#define KYMO_SIZE_kymo_blob_(i, name, x, n, c) +4 + kymo_n##i
#define KYMO_PUT_kymo_blob_(i, name, x, n, c) \
  kymo_at_ = kymo_put_blob_(kymo_at_, kymo_data##i, kymo_n##i, (uint32_t)kymo_n##i);

#define KYMO_DECLARE_kymo_fixed_(i, name, x, n, max)
#define KYMO_SLOT_kymo_fixed_(i, name, x, n, max)
#define KYMO_LISTING_kymo_fixed_(i, name, x, n, max)
#define KYMO_CODE_kymo_fixed_(i, name, x, n, max) \
  , KYMO_CODE_(KYMO_KIND_FIXED_, KYMO_TYPE_UNSIGNED_ | 1, 16, max)
#define KYMO_TAKE_kymo_fixed_(i, name, x, n, max) \
  const void *kymo_data##i = (x);                 \
  KYMO_TAKE_COUNT_(i, n, (size_t)(max), kymo_data##i)
#define KYMO_SIZE_kymo_fixed_(i, name, x, n, max) +(size_t)(max)
#define KYMO_PUT_kymo_fixed_(i, name, x, n, max) \
  kymo_at_ = kymo_put_fixed_(kymo_at_, kymo_data##i, kymo_n##i, (size_t)(max));

#define KYMO_DECLARE_kymo_array_(i, name, x, n, c)
#define KYMO_SLOT_kymo_array_(i, name, x, n, c)
#define KYMO_LISTING_kymo_array_(i, name, x, n, c)
#define KYMO_CODE_kymo_array_(i, name, x, n, c) \
  , KYMO_CODE_(KYMO_KIND_ARRAY_, KYMO_TYPE_OF_(KYMO_X_(i)), 0, 0)
#define KYMO_TAKE_kymo_array_(i, name, x, n, c) \
  const void *kymo_data##i = (x);               \
  KYMO_TAKE_COUNT_(i, n, KYMO_TEXT_MAX_ / sizeof(KYMO_X_(i)), kymo_data##i)
#define KYMO_SIZE_kymo_array_(i, name, x, n, c) +4 + kymo_n##i * sizeof(KYMO_X_(i))
#define KYMO_PUT_kymo_array_(i, name, x, n, c) \
  kymo_at_ = kymo_put_blob_(kymo_at_, kymo_data##i, kymo_n##i * sizeof(KYMO_X_(i)), (uint32_t)kymo_n##i);

/* A bit for each text that kymo_begin_text_ may store, bit 0 for others. */
#define KYMO_ISTEXT_kymo_value_(i, name, x, format, c) | KYMO_IS_TEXT_(KYMO_X_(i)) << (i)
#define KYMO_ISTEXT_kymo_strn_(...) | 1
#define KYMO_ISTEXT_kymo_blob_(...)
#define KYMO_ISTEXT_kymo_fixed_(...)
#define KYMO_ISTEXT_kymo_array_(...)
#define KYMO_ISTEXT_kymo_struct_(...)
#define KYMO_ISTEXT_kymo_union_(...)
#define KYMO_ISTEXT_kymo_structs_(...)
#define KYMO_ISTEXT_kymo_pointee_(...)
#define KYMO_ISTEXT_kymo_variant_(...)
#define KYMO_ISTEXT_kymo_enum_(...)
#define KYMO_ISTEXT_kymo_typed_(...)
#define KYMO_ISTEXT_kymo_optional_(...) | 1
#define KYMO_ISTEXT_kymo_level_(...)
#define KYMO_ISTEXT_kymo_about_(...)
#define KYMO_ISTEXT_kymo_miscounted_(...)
#define KYMO_ISTEXT_kymo_later_(...)
#define KYMO_ISTEXT_kymo_later_text_(...)
#define KYMO_ISTEXT_kymo_later_blob_(...)

/* ---- fields of listed types ---- */

/* The bytes in memory, or a copy of them, and their size. */
struct kymo_taken_ {
  const void *from;
  size_t kymo_bytes; /* macros use the name: a program may have a macro size */
};

/* A dynamic struct is copied, so that its counts cannot change. NULL: a struct of zeroes. */
KYMO_INLINE_ struct kymo_taken_ kymo_take_struct_(const void *from, void *copy, size_t bytes, size_t info,
                                                  kymo_measure_ *measure) {
  struct kymo_taken_ taken = {from, KYMO_INFO_SIZE_(info)};
  if (!KYMO_INFO_IS_DYNAMIC_(info))
    return taken;
  __asm__(""
          : "+r"(copy)); /* compilers without optimisation do not see that the return above is always
                             * taken */
  if (from)
    memcpy(copy, from, bytes);
  else
    memset(copy, 0, bytes);
  taken.from = copy;
  taken.kymo_bytes = measure(copy);
  return taken;
}

KYMO_INLINE_ struct kymo_taken_ kymo_take_structs_(const void *from, size_t count, size_t bytes, size_t info,
                                                   kymo_measure_ *measure) {
  struct kymo_taken_ taken = {from, count * KYMO_INFO_SIZE_(info)};
  if (KYMO_INFO_IS_DYNAMIC_(info))
    taken.kymo_bytes = kymo_measure_all_(from, count, bytes, measure);
  return taken;
}

/* NULL: the data that the struct points to has grown since it was measured. */
KYMO_INLINE_ unsigned char *kymo_put_structs_(unsigned char *at, struct kymo_taken_ taken, size_t count,
                                              size_t bytes, size_t info, kymo_put_ *put) {
  if (!taken.from) {
    memset(at, 0, taken.kymo_bytes);
    return at + taken.kymo_bytes;
  }
  if (KYMO_INFO_IS_FLAT_(info))
    return kymo_put_bytes_(at, taken.from, count * bytes);
  return kymo_put_all_(at, at + taken.kymo_bytes, taken.from, count, bytes, put);
}

#define KYMO_COPY_(i, TYPE, is_dynamic) \
  unsigned char kymo_copy##i[(is_dynamic) ? sizeof(TYPE) : 1] __attribute__((aligned(__alignof__(TYPE))));
/* Gives the event up. */
#define KYMO_IF_GROWN_(i, is_dynamic) \
  if ((is_dynamic) && !kymo_at_) {    \
    kymo_abandon_(kymo_place_.ring);  \
    break;                            \
  }

#define KYMO_DECLARE_kymo_struct_(i, name, TYPE, x, c)
#define KYMO_CODE_kymo_struct_(i, name, TYPE, x, c) , KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_struct_(i, name, TYPE, x, c) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_struct_(i, name, TYPE, x, c) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_struct_(i, name, TYPE, x, c)                                                        \
  const TYPE *kymo_pointer##i = (x);                                                                       \
  KYMO_COPY_(i, TYPE, KYMO_INFO_IS_DYNAMIC_(KYMO_INFO_HERE_(TYPE)))                                        \
  struct kymo_taken_ kymo_taken##i = kymo_take_struct_(kymo_pointer##i, kymo_copy##i, sizeof kymo_copy##i, \
                                                       KYMO_INFO_HERE_(TYPE), KYMO_MEASURE_OF_(TYPE));
#define KYMO_SIZE_kymo_struct_(i, name, TYPE, x, c) +kymo_taken##i.kymo_bytes
#define KYMO_PUT_kymo_struct_(i, name, TYPE, x, c)                                              \
  kymo_at_ = kymo_put_structs_(kymo_at_, kymo_taken##i, 1, sizeof(TYPE), KYMO_INFO_HERE_(TYPE), \
                               KYMO_PUT_OF_(TYPE));                                             \
  KYMO_IF_GROWN_(i, KYMO_INFO_IS_DYNAMIC_(KYMO_INFO_HERE_(TYPE)))

#define KYMO_DECLARE_kymo_union_(i, name, TYPE, x, c)
#define KYMO_CODE_kymo_union_(i, name, TYPE, x, c) , KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_union_(i, name, TYPE, x, c) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_union_(i, name, TYPE, x, c) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_union_(i, name, TYPE, x, c) \
  const TYPE *kymo_pointer##i = (x);               \
  struct kymo_taken_ kymo_taken##i = {kymo_pointer##i, sizeof(TYPE)};
#define KYMO_SIZE_kymo_union_(i, name, TYPE, x, c) +sizeof(TYPE)
#define KYMO_PUT_kymo_union_(i, name, TYPE, x, c) \
  kymo_at_ =                                      \
      kymo_put_structs_(kymo_at_, kymo_taken##i, 1, sizeof(TYPE), KYMO_INFO_HERE_(TYPE), kymo_put_none_);

#define KYMO_DECLARE_kymo_structs_(i, name, TYPE, x, n)
#define KYMO_CODE_kymo_structs_(i, name, TYPE, x, n) , KYMO_CODE_(KYMO_KIND_ARRAY_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_structs_(i, name, TYPE, x, n) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_structs_(i, name, TYPE, x, n) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_structs_(i, name, TYPE, x, n)                                              \
  const TYPE *kymo_pointer##i = (x);                                                              \
  KYMO_TAKE_COUNT_(i, n, KYMO_TEXT_MAX_ / sizeof(TYPE), kymo_pointer##i)                          \
  struct kymo_taken_ kymo_taken##i = kymo_take_structs_(kymo_pointer##i, kymo_n##i, sizeof(TYPE), \
                                                        KYMO_INFO_HERE_(TYPE), KYMO_MEASURE_OF_(TYPE));
#define KYMO_SIZE_kymo_structs_(i, name, TYPE, x, n) +4 + kymo_taken##i.kymo_bytes
#define KYMO_PUT_kymo_structs_(i, name, TYPE, x, n)                                                     \
  kymo_at_ = kymo_put_blob_(kymo_at_, NULL, 0, (uint32_t)kymo_n##i);                                    \
  kymo_at_ = kymo_put_structs_(kymo_at_, kymo_taken##i, kymo_n##i, sizeof(TYPE), KYMO_INFO_HERE_(TYPE), \
                               KYMO_PUT_OF_(TYPE));                                                     \
  KYMO_IF_GROWN_(i, KYMO_INFO_IS_DYNAMIC_(KYMO_INFO_HERE_(TYPE)))

#define KYMO_DECLARE_kymo_pointee_(i, name, TYPE, x, c)
#define KYMO_CODE_kymo_pointee_(i, name, TYPE, x, c) \
  , KYMO_CODE_(KYMO_KIND_OPTIONAL_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_pointee_(i, name, TYPE, x, c) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_pointee_(i, name, TYPE, x, c) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_pointee_(i, name, TYPE, x, c) \
  KYMO_TAKE_kymo_struct_(i, name, TYPE, x, c) if (!kymo_pointer##i) kymo_taken##i.kymo_bytes = 0;
#define KYMO_SIZE_kymo_pointee_(i, name, TYPE, x, c) +1 + kymo_taken##i.kymo_bytes
#define KYMO_PUT_kymo_pointee_(i, name, TYPE, x, c) \
  *kymo_at_++ = kymo_pointer##i ? 1 : 0;            \
  if (kymo_pointer##i) {                            \
    KYMO_PUT_kymo_struct_(i, name, TYPE, x, c)      \
  }

#define KYMO_DECLARE_kymo_variant_(i, name, TYPE, tag, x)
#define KYMO_CODE_kymo_variant_(i, name, TYPE, tag, x) \
  , KYMO_CODE_(KYMO_KIND_VARIANT_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_variant_(i, name, TYPE, tag, x) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_variant_(i, name, TYPE, tag, x) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_variant_(i, name, TYPE, tag, x)   \
  const TYPE *kymo_pointer##i = (x);                     \
  int32_t kymo_tag##i = kymo_tag_of_((int64_t)(tag));    \
  KYMO_COPY_(i, TYPE, 1)                                 \
  if (kymo_pointer##i)                                   \
    memcpy(kymo_copy##i, kymo_pointer##i, sizeof(TYPE)); \
  else                                                   \
    memset(kymo_copy##i, 0, sizeof(TYPE));               \
  size_t kymo_n##i = KYMO_MEASURE_OPTION_OF_(TYPE)((const TYPE *)(const void *)kymo_copy##i, kymo_tag##i);
#define KYMO_SIZE_kymo_variant_(i, name, TYPE, tag, x) +4 + kymo_n##i
#define KYMO_PUT_kymo_variant_(i, name, TYPE, tag, x)                                          \
  kymo_at_ = kymo_put_blob_(kymo_at_, NULL, 0, (uint32_t)kymo_tag##i);                         \
  kymo_at_ = KYMO_PUT_OPTION_OF_(TYPE)(kymo_at_, kymo_at_ + kymo_n##i,                         \
                                       (const TYPE *)(const void *)kymo_copy##i, kymo_tag##i); \
  KYMO_IF_GROWN_(i, 1)

#define KYMO_DECLARE_kymo_enum_(i, name, TYPE, x, kind)
#define KYMO_CODE_kymo_enum_(i, name, TYPE, x, kind) , KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_enum_(i, name, TYPE, x, kind) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_enum_(i, name, TYPE, x, kind) KYMO_LISTING_HERE_(TYPE),
#define KYMO_TAKE_kymo_enum_(i, name, TYPE, x, kind) \
  KYMO_NO_CLASS_(TYPE) kymo_v##i = (KYMO_NO_CLASS_(TYPE))(x);
#define KYMO_SIZE_kymo_enum_(i, name, TYPE, x, kind) +sizeof(kymo_v##i)
#define KYMO_PUT_kymo_enum_(i, name, TYPE, x, kind) \
  kymo_at_ = kymo_put_bytes_(kymo_at_, &kymo_v##i, sizeof(kymo_v##i));

#define KYMO_DECLARE_kymo_typed_(i, name, TYPE, x, c) \
  KYMO_NAMED_LISTING_(kymo_named##i, TYPE, TYPE, #TYPE "\0")
#define KYMO_CODE_kymo_typed_(i, name, TYPE, x, c) , KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_LISTED_, 0, 0)
#define KYMO_SLOT_kymo_typed_(i, name, TYPE, x, c) const struct kymo_listing *listing##i;
#define KYMO_LISTING_kymo_typed_(i, name, TYPE, x, c) &kymo_named##i,
#define KYMO_TAKE_kymo_typed_(i, name, TYPE, x, c) TYPE kymo_v##i = (x);
#define KYMO_SIZE_kymo_typed_(i, name, TYPE, x, c) +sizeof(TYPE)
#define KYMO_PUT_kymo_typed_(i, name, TYPE, x, c) \
  kymo_at_ = kymo_put_bytes_(kymo_at_, &kymo_v##i, sizeof(TYPE));

#define KYMO_DECLARE_kymo_optional_(i, name, condition, x, c)
#define KYMO_CODE_kymo_optional_(i, name, condition, x, c) \
  , KYMO_CODE_(KYMO_KIND_OPTIONAL_, KYMO_TYPE_OF_(KYMO_X_(i)), 0, 0)
#define KYMO_SLOT_kymo_optional_(i, name, condition, x, c)
#define KYMO_LISTING_kymo_optional_(i, name, condition, x, c)
#define KYMO_TAKE_kymo_optional_(i, name, condition, x, c)                                 \
  unsigned char kymo_event_has##i = (condition) ? 1 : 0;                                   \
  KYMO_DECAYED_(KYMO_X_(i)) kymo_event_get_raw##i;                                         \
  if (kymo_event_has##i)                                                                   \
    kymo_event_get_raw##i = (x);                                                           \
  else                                                                                     \
    memset(&kymo_event_get_raw##i, 0, sizeof kymo_event_get_raw##i);                       \
  KYMO_TAKE_RAW_(i, x)                                                                     \
  struct kymo_text_ kymo_text##i =                                                         \
      KYMO_IS_TEXT_(kymo_event_get_raw##i) && kymo_event_has##i                            \
          ? kymo_take_text_(KYMO_TEXT_OF_(kymo_event_get_raw##i), KYMO_BOUND_(KYMO_X_(i))) \
          : KYMO_NO_TEXT_;
#define KYMO_SIZE_kymo_optional_(i, name, condition, x, c)               \
  +1 + (!kymo_event_has##i                     ? 0                       \
        : KYMO_IS_TEXT_(kymo_event_get_raw##i) ? kymo_text##i.length + 1 \
                                               : sizeof(kymo_v##i))
#define KYMO_PUT_kymo_optional_(i, name, condition, x, c)    \
  *kymo_at_++ = kymo_event_has##i;                           \
  if (kymo_event_has##i) {                                   \
    KYMO_PUT_TAKEN_(i, KYMO_IS_TEXT_(kymo_event_get_raw##i)) \
  }

/* ---- properties of the event, which are not fields ---- */

#define KYMO_DECLARE_kymo_level_(i, name, level, b, c)
#ifndef __clang__
#define KYMO_CODE_kymo_level_(i, name, level, b, c) \
  , KYMO_CODE_(KYMO_KIND_LEVEL_, 0, 0, kymo_level##i) /* kymo/check.h names it */
#else
#define KYMO_CODE_kymo_level_(i, name, level, b, c) , KYMO_CODE_(KYMO_KIND_LEVEL_, 0, 0, level)
#endif
#define KYMO_SLOT_kymo_level_(i, name, level, b, c)
#define KYMO_LISTING_kymo_level_(i, name, level, b, c)
#define KYMO_TAKE_kymo_level_(i, name, level, b, c)
#define KYMO_SIZE_kymo_level_(i, name, level, b, c)
#define KYMO_PUT_kymo_level_(i, name, level, b, c)

/* The literal is used as it is written. */
#define KYMO_DECLARE_kymo_miscounted_(i, name, a, b, c)
#define KYMO_SLOT_kymo_miscounted_(i, name, a, b, c)
#define KYMO_LISTING_kymo_miscounted_(i, name, a, b, c)
#define KYMO_TAKE_kymo_miscounted_(i, name, a, b, c)
#define KYMO_SIZE_kymo_miscounted_(i, name, a, b, c)
#define KYMO_PUT_kymo_miscounted_(i, name, a, b, c)
#define KYMO_CODE_kymo_miscounted_(i, name, a, b, c) , 0u

#define KYMO_DECLARE_kymo_about_(i, name, text, b, c)
#define KYMO_CODE_kymo_about_(i, name, text, b, c) , KYMO_CODE_(KYMO_KIND_ABOUT_, 0, 0, 0)
#define KYMO_SLOT_kymo_about_(i, name, text, b, c)
#define KYMO_LISTING_kymo_about_(i, name, text, b, c)
#define KYMO_TAKE_kymo_about_(i, name, text, b, c)
#define KYMO_SIZE_kymo_about_(i, name, text, b, c)
#define KYMO_PUT_kymo_about_(i, name, text, b, c)

#endif /* KYMO_DISABLE */
#endif
