/* SPDX-License-Identifier: MIT */
/*
 * kymo/c_type.h: what the compiler knows of a C type; part of schema.h, for
 * kymo_builder_lookup_or_create_type_id.
 *
 *   char [2][16]  =  rank 2, lengths { 2, 16 }, and innermost a character of size 1
 *
 * Scalars and arrays of up to three dimensions are accepted: integers, characters, bool, enumerations (as the
 * integer that holds them), floats (long double where it is one of IEEE 754) and pointers. Anything else does
 * not compile.
 */
#ifndef KYMO_C_TYPE_H
#define KYMO_C_TYPE_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_C_RANK_MAX 3

enum kymo_c_class {
  KYMO_C_NUMBER,
  KYMO_C_CHARACTER,
  KYMO_C_BOOLEAN,
  KYMO_C_FLOATING,
  KYMO_C_ADDRESS,
  KYMO_C_OTHER
};

struct kymo_c_shape {
  enum kymo_c_class class_; /* this and the next three members: of the innermost element */
  bool is_signed;
  uint32_t size_bits;
  uint32_t align_bits;
  uint32_t rank;                     /* dimensions */
  uint64_t lengths[KYMO_C_RANK_MAX]; /* elements, the outermost dimension first */
};

/* An 80-bit long double of x87 with padding, or one of two doubles, is not a float of its size. */
#define KYMO_C_IS_FLOAT_(size) ((size) <= sizeof(double) || LDBL_MANT_DIG == 53 || LDBL_MANT_DIG == 113)
#define KYMO_C_REFUSAL_ "kymo: expected a scalar type, or an array of scalars of up to three dimensions"

/* clang: a call that is reported at the macro its last parenthesis is written in, and nothing after it; gcc
 * needs few lines for an assertion. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int kymo_c_refuse_(int is_right) __attribute__((diagnose_if(!is_right, KYMO_C_REFUSAL_, "warning")));
#pragma clang diagnostic pop
#define KYMO_C_REFUSED_(call)                                                                      \
  (_Pragma("clang diagnostic push") _Pragma("clang diagnostic fatal \"-Wuser-defined-warnings\"")( \
      void) sizeof(call) _Pragma("clang diagnostic pop"))
#else
#define KYMO_C_REFUSED_(call) (void)0
#endif

#ifndef __cplusplus

/* E is a __typeof__(…) below. Arrays decay where an expression has a comma, and nothing else does. */
#define KYMO_C_DECAYED_(E) __typeof__(((void)0, *(E *)0))
#define KYMO_C_IS_ARRAY_(E) (!__builtin_types_compatible_p(E, KYMO_C_DECAYED_(E)))
/* The element of an array, and any other type itself. */
#define KYMO_C_ELEMENT_(E) \
  __typeof__(*__builtin_choose_expr(KYMO_C_IS_ARRAY_(E), *(KYMO_C_DECAYED_(E) *)0, (E *)0))
#define KYMO_C_POINTER_CLASS_ 5 /* as __builtin_classify_type says */
#define KYMO_C_CLASS_(E)                       \
  _Generic(*(E *)0, char                       \
           : KYMO_C_CHARACTER, _Bool           \
           : KYMO_C_BOOLEAN, signed char       \
           : KYMO_C_NUMBER, unsigned char      \
           : KYMO_C_NUMBER, short              \
           : KYMO_C_NUMBER, unsigned short     \
           : KYMO_C_NUMBER, int                \
           : KYMO_C_NUMBER, unsigned           \
           : KYMO_C_NUMBER, long               \
           : KYMO_C_NUMBER, unsigned long      \
           : KYMO_C_NUMBER, long long          \
           : KYMO_C_NUMBER, unsigned long long \
           : KYMO_C_NUMBER, float              \
           : KYMO_C_FLOATING, double           \
           : KYMO_C_FLOATING, long double      \
           : KYMO_C_FLOATING, default          \
           : __builtin_classify_type(*(E *)0) == KYMO_C_POINTER_CLASS_ ? KYMO_C_ADDRESS : KYMO_C_OTHER)
#define KYMO_C_IS_SIGNED_(E) \
  _Generic(*(E *)0, char     \
           : CHAR_MIN < 0, signed char : 1, short : 1, int : 1, long : 1, long long : 1, default : 0)
#define KYMO_C_IS_TAKEN_(T, E)                                                  \
  (KYMO_C_CLASS_(E) != KYMO_C_OTHER && !KYMO_C_IS_ARRAY_(E) && sizeof(T) > 0 && \
   (KYMO_C_CLASS_(E) != KYMO_C_FLOATING || KYMO_C_IS_FLOAT_(sizeof(E))))
#define KYMO_C_SHAPE_(...) KYMO_C_SHAPE1_(__typeof__(__VA_ARGS__))
#define KYMO_C_SHAPE1_(T) KYMO_C_SHAPE2_(T, KYMO_C_ELEMENT_(T))
#define KYMO_C_SHAPE2_(T, T1) KYMO_C_SHAPE3_(T, T1, KYMO_C_ELEMENT_(T1))
#define KYMO_C_SHAPE3_(T, T1, T2) KYMO_C_SHAPE4_(T, T1, T2, KYMO_C_ELEMENT_(T2))
#define KYMO_C_SHAPE4_(T, T1, T2, E)                                                        \
  {                                                                                         \
    .class_ = sizeof(struct {                                                               \
      _Static_assert(KYMO_C_IS_TAKEN_(T, E), KYMO_C_REFUSAL_);                              \
      int kymo;                                                                             \
    })                                                                                      \
                  ? KYMO_C_CLASS_(E)                                                        \
                  : KYMO_C_OTHER,                                                           \
    .is_signed = KYMO_C_IS_SIGNED_(E), .size_bits = (uint32_t)sizeof(E) * 8u,               \
    .align_bits = (uint32_t) _Alignof(E) * 8u,                                              \
    .rank = KYMO_C_IS_ARRAY_(T) + KYMO_C_IS_ARRAY_(T1) + KYMO_C_IS_ARRAY_(T2), .lengths = { \
      sizeof(T) / sizeof(T1),                                                               \
      sizeof(T1) / sizeof(T2),                                                              \
      sizeof(T2) / sizeof(E)                                                                \
    }                                                                                       \
  }
#define KYMO_C_TYPE_ID_(refused, builder, name, ...) \
  (KYMO_C_REFUSED_(refused),                         \
   kymo_builder_c_type_id_((builder), (name), &(const struct kymo_c_shape)KYMO_C_SHAPE_(__VA_ARGS__)))
#define KYMO_C_IS_RIGHT_(...) KYMO_C_IS_RIGHT1_(__typeof__(__VA_ARGS__))
#define KYMO_C_IS_RIGHT1_(T) KYMO_C_IS_RIGHT2_(T, KYMO_C_ELEMENT_(T))
#define KYMO_C_IS_RIGHT2_(T, T1) KYMO_C_IS_RIGHT3_(T, KYMO_C_ELEMENT_(T1))
#define KYMO_C_IS_RIGHT3_(T, T2) KYMO_C_IS_TAKEN_(T, KYMO_C_ELEMENT_(T2))

#else

#include <type_traits>

namespace kymo_c_type_ {
template <typename T, bool is_enum> struct held_by { typedef typename std::remove_cv<T>::type type; };
template <typename T> struct held_by<T, true> { typedef typename std::underlying_type<T>::type type; };

template <typename T> struct scalar_of {
  typedef typename std::remove_all_extents<T>::type element;
  typedef typename held_by<element, std::is_enum<element>::value>::type type;
};
template <typename T> struct is_taken {
  typedef typename scalar_of<T>::type scalar;
  static const bool value =
      ((std::is_integral<scalar>::value && sizeof(scalar) <= 8) || std::is_pointer<scalar>::value ||
       (std::is_floating_point<scalar>::value && KYMO_C_IS_FLOAT_(sizeof(scalar)))) &&
      std::rank<T>::value <= KYMO_C_RANK_MAX;
};

template <typename T> struct shape_of {
  typedef typename scalar_of<T>::type scalar;
  static const bool is_float = std::is_floating_point<scalar>::value;
  static_assert(is_taken<T>::value, KYMO_C_REFUSAL_);
  static constexpr kymo_c_class class_() {
    return std::is_pointer<scalar>::value      ? KYMO_C_ADDRESS
           : is_float                          ? KYMO_C_FLOATING
           : std::is_same<scalar, bool>::value ? KYMO_C_BOOLEAN
           : std::is_same<scalar, char>::value ? KYMO_C_CHARACTER
                                               : KYMO_C_NUMBER;
  }
  static constexpr kymo_c_shape get() {
    return {class_(),
            std::is_integral<scalar>::value && std::is_signed<scalar>::value,
            (uint32_t)sizeof(scalar) * 8u,
            (uint32_t)alignof(scalar) * 8u,
            (uint32_t)std::rank<T>::value,
            {std::extent<T, 0>::value, std::extent<T, 1>::value, std::extent<T, 2>::value}};
  }
};
} /* namespace kymo_c_type_ */

#define KYMO_C_TYPE_ID_(refused, builder, name, ...) \
  (KYMO_C_REFUSED_(refused), kymo_c_type_::id_of<__VA_ARGS__>((builder), (name)))
#define KYMO_C_IS_RIGHT_(...) kymo_c_type_::is_taken<__VA_ARGS__>::value

#endif

#ifdef __cplusplus
extern "C" {
#endif
struct kymo_builder;
/* See kymo_builder_lookup_or_create_type_id. */
uint32_t kymo_builder_c_type_id_(struct kymo_builder *builder, const char *name,
                                 const struct kymo_c_shape *shape);
#ifdef __cplusplus
}
namespace kymo_c_type_ {
template <typename T> inline uint32_t id_of(kymo_builder *builder, const char *name) {
  const kymo_c_shape shape = shape_of<T>::get();
  return kymo_builder_c_type_id_(builder, name, &shape);
}
} /* namespace kymo_c_type_ */
#endif
#endif
