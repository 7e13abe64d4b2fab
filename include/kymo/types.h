/* SPDX-License-Identifier: MIT */
/*
 * kymo/types.h: listings of C types, so that tracepoints can store them whole and readers show them by name.
 *
 *   struct point { int x, y; };
 *   KYMO_STRUCT_TYPE(struct point, x, y)
 *   struct line { struct point from, to; enum state state; pid_t owner; char name[16]; };
 *   KYMO_STRUCT_TYPE(struct line, (struct point) from, (struct point) to, (enum state) state, (pid_t) owner,
 *   name) … KYMO(draw, line, KYMO_STRUCT(line, struct line, &line));
 *
 * A listing is written once, at file scope after its type, in a header or a source; in C++ in the namespace
 * of its type. A type is spelled the same way everywhere (`struct point` or a typedef's name, never both). It
 * makes nothing but constants and inline functions, and nothing at all with -DKYMO_DISABLE. No semicolon
 * follows it.
 *
 *   KYMO_STRUCT_TYPE(TYPE, member, …)             up to 64 members, stored packed, in this order; others are
 *                                                 left out
 *   KYMO_UNION_TYPE(TYPE, member, …)              a union stored as all its bytes, shown as each member
 *   KYMO_VARIANT_TYPE(TYPE, (TAG, member), …)     a union with a tag beside it that selects the valid member
 *   KYMO_ENUM_TYPE(TYPE, enumerator, …)           an integer with names
 *   KYMO_FLAGS_TYPE(TYPE, enumerator, …)          an integer of named bits
 *
 * A member is
 *   x                      integer, bool, char, float, pointer (its address), or an array of up to three
 *                          dimensions of them; a char array is a text of that size. An enum is an integer.
 *   (TYPE) x               a listed struct, union, enum or flags, or an array of it; or a number whose
 *                          typedef's name shall be kept, (pid_t) x. The compiler checks that x has this type.
 *   KYMO_HEX(x)            DEC, OCT, BIN: printed in that base; KYMO_CHAR(x): as a character;
 *                          KYMO_ADDRESS(x): an integer that is an address
 *   KYMO_BE(x) KYMO_LE(x)  a number that is big-endian or little-endian in memory
 *   KYMO_BITS(x)           a bit-field, stored as int, unsigned or long long; KYMO_BITS((enum state) x): as
 *                          that type
 *   KYMO_TEXT(x)           the C string that the char pointer x points to; NULL: "(null)"
 *   KYMO_ARRAY(x, count)   the elements that the pointer x points to; the member count counts them; negative
 *                          counts and NULL: none. KYMO_ARRAY((struct point) x, count): of a listed type
 *   KYMO_VARIANT((union value) x, tag)  a variant, chosen by the member tag; no option of that tag: nothing
 *   KYMO_OPTIONAL(x, flag) x if the member flag is not 0; KYMO_OPTIONAL((struct point) x, flag)
 *
 * Members of a union are numbers, arrays of numbers, and structs that are listed whole and have no padding.
 *
 * If the listing has all members of the struct in their order, without padding and without members that need
 * conversion, one memcpy stores the struct. Texts, counted arrays, variants and optionals make a type
 * dynamic: its size is measured before its bytes are stored. The struct itself is copied first, so counts and
 * tags cannot change in between. Texts and arrays that it points to can change: no more is stored than was
 * measured, and an event whose texts or arrays have grown meanwhile is abandoned and counted as lost.
 */
#ifndef KYMO_TYPES_H
#define KYMO_TYPES_H
#pragma GCC system_header /* as in kymo/fields.h */

#ifdef KYMO_DISABLE
#define KYMO_STRUCT_TYPE(...)
#define KYMO_UNION_TYPE(...)
#define KYMO_VARIANT_TYPE(...)
#define KYMO_ENUM_TYPE(...)
#define KYMO_FLAGS_TYPE(...)
#else

#include <kymo/members.h>

#if !defined(__clang__) || defined(__cplusplus)
#define KYMO_STRUCT_TYPE(TYPE, ...)                                                                \
  KYMO_MAKE_(KYMO_BEFORE_, KYMO_MAKE_STRUCT_, KYMO_MEMBER_WRONG_, KYMO_MEMBER,                     \
             sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_MEMBER, TYPE, __VA_ARGS__))),         \
             sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_NEW_ID_(TYPE), TYPE, #TYPE, \
             #__VA_ARGS__, __VA_ARGS__)
#define KYMO_UNION_TYPE(TYPE, ...)                                                                 \
  KYMO_MAKE_(KYMO_BEFORE_, KYMO_MAKE_UNION_, KYMO_MEMBER_MORE_, KYMO_MEMBER,                       \
             sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_MEMBER, TYPE, __VA_ARGS__))),         \
             sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_NEW_ID_(TYPE), TYPE, #TYPE, \
             #__VA_ARGS__, __VA_ARGS__)
#else
#define KYMO_STRUCT_TYPE(TYPE, ...)                                                                       \
  KYMO_BEGIN_LISTING_(sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_MEMBER, TYPE, __VA_ARGS__))), TYPE, \
                      __VA_ARGS__)                                                                        \
  typedef __typeof__(*(KYMO_CAT_(KYMO_MENTION_, KYMO_SHALLOW_(__VA_ARGS__))(TYPE, __VA_ARGS__)(           \
      TYPE *)0)) KYMO_ID_(kymo_type_, TYPE);                                                              \
  KYMO_FIND_FAULTS_(KYMO_MEMBER, sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_ID_(, TYPE),   \
                    TYPE, __VA_ARGS__)                                                                    \
  enum {                                                                                                  \
    KYMO_ID_(kymo_under_, TYPE) = 0,                                                                      \
    KYMO_ID_(kymo_bits_, TYPE) =                                                                          \
        0 KYMO_CAT_(KYMO_ALIGN_, KYMO_SHALLOW_(__VA_ARGS__))(KYMO_ID_(kymo_type_, TYPE), __VA_ARGS__)     \
  };                                                                                                      \
  KYMO_FATAL_ extern char kymo_refused_[sizeof(kymo_refuse_members_(KYMO_HAS_BITS_(TYPE)))];              \
  KYMO_FATAL_END_                                                                                         \
  KYMO_MAKE_(KYMO_NOTHING_BEFORE_, KYMO_MAKE_STRUCT_, KYMO_MEMBER_WRONG_, KYMO_MEMBER, 0, 0,              \
             KYMO_ID_(, TYPE), TYPE, #TYPE, #__VA_ARGS__, __VA_ARGS__)
#define KYMO_UNION_TYPE(TYPE, ...)                                                                           \
  KYMO_BEGIN_LISTING_(sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_MEMBER, TYPE, __VA_ARGS__))), TYPE,    \
                      __VA_ARGS__)                                                                           \
  typedef __typeof__(*(KYMO_CAT_(KYMO_MENTION_, KYMO_SHALLOW_(__VA_ARGS__))(TYPE, __VA_ARGS__)(              \
      TYPE *)0)) KYMO_ID_(kymo_type_, TYPE);                                                                 \
  KYMO_FIND_FAULTS_(KYMO_MEMBER, sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_ID_(, TYPE),      \
                    TYPE, __VA_ARGS__)                                                                       \
  enum {                                                                                                     \
    KYMO_ID_(kymo_under_, TYPE) = 0,                                                                         \
    KYMO_ID_(kymo_bits_, TYPE) =                                                                             \
        0 KYMO_CAT_(KYMO_ALIGN_, KYMO_SHALLOW_(__VA_ARGS__))(KYMO_ID_(kymo_type_, TYPE), __VA_ARGS__)        \
  };                                                                                                         \
  KYMO_FATAL_ extern char kymo_refused_[sizeof(kymo_refuse_members_(KYMO_HAS_BITS_(TYPE)))];                 \
  KYMO_FATAL_END_                                                                                            \
  KYMO_MAKE_(KYMO_NOTHING_BEFORE_, KYMO_MAKE_UNION_, KYMO_MEMBER_MORE_, KYMO_MEMBER, 0, 0, KYMO_ID_(, TYPE), \
             TYPE, #TYPE, #__VA_ARGS__, __VA_ARGS__)
#endif
#define KYMO_VARIANT_TYPE(TYPE, ...)                                                               \
  KYMO_MAKE_(KYMO_BEFORE_, KYMO_MAKE_VARIANT_, KYMO_OPTION_MORE_, KYMO_OPTION,                     \
             sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_OPTION, TYPE, __VA_ARGS__))),         \
             sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_NEW_ID_(TYPE), TYPE, #TYPE, \
             #__VA_ARGS__, __VA_ARGS__)
#define KYMO_ENUM_TYPE(TYPE, ...)                                                                  \
  KYMO_MAKE_(KYMO_BEFORE_, KYMO_MAKE_ENUM_, KYMO_NO_WRONG_, KYMO_NO_MEMBER,                        \
             sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_NO_MEMBER, TYPE, __VA_ARGS__))),      \
             sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_NEW_ID_(TYPE), TYPE, #TYPE, \
             #__VA_ARGS__, __VA_ARGS__)
#define KYMO_FLAGS_TYPE(TYPE, ...)                                                                 \
  KYMO_MAKE_(KYMO_BEFORE_, KYMO_MAKE_FLAGS_, KYMO_NO_WRONG_, KYMO_NO_MEMBER,                       \
             sizeof(kymo_refuse_listing_(KYMO_EARLY_OF_(KYMO_NO_MEMBER, TYPE, __VA_ARGS__))),      \
             sizeof(kymo_refuse_members_(KYMO_FAULTS_OF_(TYPE))), KYMO_NEW_ID_(TYPE), TYPE, #TYPE, \
             #__VA_ARGS__, __VA_ARGS__)

/* ---- everything below serves the macros ---- */

/* ---- listings ---- */

#ifndef __clang__
#define KYMO_MAKE_(BEFORE, MAKE, EACH, KIND, REFUSED, REFUSED_MEMBERS, ID, TYPE, type, list, ...) \
  KYMO_ASSERT_(KYMO_COUNT_(__VA_ARGS__) <= 64, "kymo: a listing has at most 64 members");         \
  KYMO_KNOW_(ID, TYPE)                                                                            \
  KYMO_ASSERT_(KYMO_IS_NEW_(ID, TYPE), "kymo: " type KYMO_CURE_TWICE_);                           \
  typedef TYPE KYMO_CAT_(kymo_type_, ID);                                                         \
  KYMO_AT_FILE_SCOPE_(MAKE(ID, TYPE, type "\0" list, __VA_ARGS__))
#else
#define KYMO_MAKE_(BEFORE, MAKE, EACH, KIND, REFUSED, REFUSED_MEMBERS, ID, TYPE, type, list, ...) \
  BEFORE(KIND, REFUSED, REFUSED_MEMBERS, ID, TYPE, __VA_ARGS__)                                   \
  KYMO_AT_FILE_SCOPE_(MAKE(ID, TYPE, type "\0" list, __VA_ARGS__))                                \
  enum { KYMO_CAT_(kymo_wrong_, ID) = 0 KYMO_LIST_(EACH, ID, __VA_ARGS__) };                      \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 1)),                    \
                               "kymo: a member " KYMO_CURE_DEEP_ ": " type ": " list);            \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 2)),                    \
                               "kymo: a member " KYMO_CURE_PLAIN_ ": " type ": " list);           \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 4)),                    \
                               "kymo: a member " KYMO_CURE_TYPE_ ": " type ": " list);            \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 8)),                    \
                               "kymo: a member's type " KYMO_CURE_FIRST_ ": " type ": " list);    \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 16)),                   \
                               "kymo: a member's type " KYMO_CURE_TAGGED_ ": " type ": " list);   \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 32)),                   \
                               "kymo: a member " KYMO_CURE_TEXT_ ": " type ": " list);            \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 64)),                   \
                               "kymo: a member " KYMO_CURE_NESTED_ ": " type ": " list);          \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 128)),                  \
                               "kymo: a member " KYMO_CURE_LOOSE_ ": " type ": " list);           \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 256)),                  \
                               "kymo: a tag " KYMO_CURE_TAG_ ": " type ": " list);                \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 512)),                  \
                               "kymo: a member's type " KYMO_CURE_OPTION_ ": " type ": " list);   \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 1024)),                 \
                               "kymo: a member " KYMO_CURE_FLEXIBLE_ ": " type ": " list);        \
  __extension__ _Static_assert(KYMO_RIGHT_(!(KYMO_CAT_(kymo_wrong_, ID) & 2048)),                 \
                               "kymo: " KYMO_CURE_TAGS_ ": " type ": " list);
/* Before the members: nothing, if KYMO_STRUCT_TYPE has done it. */
#define KYMO_NOTHING_BEFORE_(...)
#define KYMO_BEFORE_(KIND, REFUSED, REFUSED_MEMBERS, ID, TYPE, ...) \
  KYMO_BEGIN_LISTING2_(REFUSED, ID, TYPE, __VA_ARGS__)              \
  typedef TYPE KYMO_CAT_(kymo_type_, ID);                           \
  KYMO_FIND_FAULTS_(KIND, REFUSED_MEMBERS, ID, TYPE, __VA_ARGS__)
#define KYMO_BEGIN_LISTING_(REFUSED, TYPE, ...) \
  KYMO_BEGIN_LISTING2_(REFUSED, KYMO_ID_(, TYPE), TYPE, __VA_ARGS__)
#define KYMO_BEGIN_LISTING2_(REFUSED, ID, TYPE, ...)                                     \
  KYMO_KNOW_(ID, TYPE)                                                                   \
  KYMO_FATAL_ extern char kymo_refused_[REFUSED];                                        \
  KYMO_FATAL_END_                                                                        \
  __extension__ _Static_assert(KYMO_COUNT_(__VA_ARGS__) <= 64 && KYMO_IS_NEW_(ID, TYPE), \
                               "kymo: a listing is refused");
#define KYMO_FIND_FAULTS_(KIND, REFUSED_MEMBERS, ID, TYPE, ...)                                 \
  KYMO_AT_FILE_SCOPE_(KYMO_LIST_(KIND##_PROBE_, ID, __VA_ARGS__)                                \
                          KYMO_FAULTS_(ID, TYPE, 0 KYMO_LIST_(KIND##_FAULT_, ID, __VA_ARGS__))) \
  KYMO_FATAL_ extern char kymo_refused_[REFUSED_MEMBERS];                                       \
  KYMO_FATAL_END_
#endif

#define KYMO_LISTING_DATA_(ID, TYPE, kind, code, text, types, ...)                                          \
  KYMO_DATA_ struct kymo_listed kymo_members_##ID[] = {__VA_ARGS__};                                        \
  KYMO_DATA_ KYMO_LISTING_IS_(ID, TYPE, kind, sizeof(kymo_members_##ID) / sizeof(struct kymo_listed), code, \
                              sizeof(kymo_type_##ID), text, kymo_members_##ID, types);
#define KYMO_LISTING_TYPES_(ID, ...) KYMO_DATA_ struct kymo_listing *const kymo_types_##ID[] = {__VA_ARGS__};

#define KYMO_MAKE_STRUCT_(ID, TYPE, text, ...)                                                        \
  enum { KYMO_CAT_(kymo_end_##ID##_, KYMO_COUNT_(0, __VA_ARGS__)) = 0 };                              \
  KYMO_LIST_(KYMO_MEMBER_DECLARE_, ID, __VA_ARGS__)                                                   \
  enum {                                                                                              \
    kymo_dynamic_##ID = 0 KYMO_LIST_(KYMO_MEMBER_IS_DYNAMIC_, ID, __VA_ARGS__),                       \
    kymo_flat_##ID = (int)kymo_end_##ID##_1 == (int)sizeof(TYPE),                                     \
    kymo_bytes_##ID = (int)(0 KYMO_LIST_(KYMO_MEMBER_BYTES_, ID, __VA_ARGS__))                        \
  };                                                                                                  \
  KYMO_LISTING_TYPES_(ID, KYMO_LIST_(KYMO_MEMBER_LISTING_, ID, __VA_ARGS__))                          \
  KYMO_LISTING_DATA_(ID, TYPE, KYMO_LISTING_STRUCT_, 0, text, kymo_types_##ID,                        \
                     KYMO_LIST_(KYMO_MEMBER_LISTED_, ID, __VA_ARGS__))                                \
  KYMO_PUBLISH_(ID, TYPE,                                                                             \
                KYMO_INFO_(KYMO_LISTING_STRUCT_, kymo_flat_##ID, kymo_dynamic_##ID, kymo_bytes_##ID)) \
  KYMO_MEASURE_HEAD_(ID, TYPE) {                                                                      \
    const kymo_type_##ID *kymo_p_ = (const kymo_type_##ID *)kymo_from_;                               \
    uint64_t kymo_sum_ = 0;                                                                           \
    (void)kymo_p_;                                                                                    \
    KYMO_LIST_(KYMO_MEMBER_MEASURE_, ID, __VA_ARGS__)                                                 \
    return (size_t)(kymo_sum_ < KYMO_TEXT_MAX_ ? kymo_sum_ : KYMO_TEXT_MAX_);                         \
  }                                                                                                   \
  KYMO_PUT_HEAD_(ID, TYPE) {                                                                          \
    const kymo_type_##ID *kymo_p_ = (const kymo_type_##ID *)kymo_from_;                               \
    (void)kymo_limit_;                                                                                \
    if (kymo_flat_##ID)                                                                               \
      return kymo_put_bytes_(kymo_at_, kymo_p_, sizeof *kymo_p_);                                     \
    KYMO_LIST_(KYMO_MEMBER_STORE_, ID, __VA_ARGS__)                                                   \
    return kymo_at_;                                                                                  \
  }                                                                                                   \
  KYMO_FIND_(kymo_measure_, ID, TYPE) KYMO_FIND_(kymo_put_, ID, TYPE)

#define KYMO_MAKE_UNION_(ID, TYPE, text, ...)                                 \
  enum { KYMO_CAT_(kymo_end_##ID##_, KYMO_COUNT_(0, __VA_ARGS__)) = 0 };      \
  KYMO_LIST_(KYMO_ALTERNATIVE_DECLARE_, ID, __VA_ARGS__)                      \
  KYMO_LISTING_TYPES_(ID, KYMO_LIST_(KYMO_MEMBER_LISTING_, ID, __VA_ARGS__))  \
  KYMO_LISTING_DATA_(ID, TYPE, KYMO_LISTING_UNION_, 0, text, kymo_types_##ID, \
                     KYMO_LIST_(KYMO_MEMBER_LISTED_, ID, __VA_ARGS__))        \
  KYMO_PUBLISH_(ID, TYPE, KYMO_INFO_(KYMO_LISTING_UNION_, 1, 0, sizeof(TYPE)))
/* All members of a union begin at offset 0: each is checked like the first. */
#define KYMO_ALTERNATIVE_DECLARE_(ID, n, before, m)                                             \
  KYMO_MEMBER_(KYMO_MEMBER_DECLARE, ID, n, before, m)                                           \
  KYMO_CHECK_MORE_(ID, n, !kymo_dynamic_##ID##_##n && KYMO_INFO_IS_FLAT_(kymo_info_##ID##_##n), \
                   KYMO_WRONG_LOOSE_, "member " #m " " KYMO_CURE_LOOSE_)

/*
 * Each tag is used once. In C++ all pairs are compared. In C bits are counted: if the sum of the bits of
 * small tags, and of tags near the first one, is not what they are ored, two are the same. A switch compares
 * the others, in a function whose name says what to do.
 */
#ifndef __cplusplus
#define KYMO_DIFFERENT_(ID, ...)                                                           \
  KYMO_FIRST_OPTION_(ID, __VA_ARGS__, ~)                                                   \
  enum {                                                                                   \
    kymo_tags_##ID = (0 KYMO_LIST_(KYMO_OPTION_SUM_, ID, __VA_ARGS__)) ==                  \
                                 (0 KYMO_LIST_(KYMO_OPTION_OR_, ID, __VA_ARGS__)) &&       \
                             (0 KYMO_LIST_(KYMO_OPTION_NEAR_SUM_, ID, __VA_ARGS__)) ==     \
                                 (0 KYMO_LIST_(KYMO_OPTION_NEAR_OR_, ID, __VA_ARGS__))     \
                         ? 0                                                               \
                         : KYMO_WRONG_TAGS_                                                \
  };                                                                                       \
  KYMO_CHECK_TAGS_(ID)                                                                     \
  KYMO_FUNCTION_ void kymo_give_each_member_its_own_tag_##ID(int64_t kymo_tag_) {          \
    switch (kymo_tag_) { KYMO_LIST_(KYMO_OPTION_CASE_, ID, __VA_ARGS__) default : break; } \
  }
#define KYMO_FIRST_OPTION_(ID, option, ...) KYMO_OPTION_(KYMO_FIRST_TAG_, ID, 0, 0, KYMO_OPEN_ option)
#define KYMO_FIRST_TAG_(ID, n, before, tag, m) enum { kymo_first_tag_##ID = (int)(tag) };
#define KYMO_TAG_BIT_(tag) \
  ((int64_t)(tag) >= 0 && (int64_t)(tag) < 56 ? UINT64_C(1) << ((uint64_t)(tag)&63) : 0)
#define KYMO_OPTION_SUM_(ID, n, before, option) \
  +KYMO_OPTION_(KYMO_BIT_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_OR_(ID, n, before, option) \
  | KYMO_OPTION_(KYMO_BIT_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_BIT_OPTION_(ID, n, before, tag, m) KYMO_TAG_BIT_(tag)
#define KYMO_OPTION_NEAR_SUM_(ID, n, before, option) \
  +KYMO_OPTION_(KYMO_NEAR_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_NEAR_OR_(ID, n, before, option) \
  | KYMO_OPTION_(KYMO_NEAR_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_NEAR_OPTION_(ID, n, before, tag, m) \
  KYMO_TAG_BIT_((int64_t)(tag) - (int64_t)kymo_first_tag_##ID + 28)
#define KYMO_OPTION_CASE_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_CASE_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_CASE_OPTION_(ID, n, before, tag, m) \
  case kymo_tags_##ID ? (int64_t)(n):            \
    (int64_t)(tag) : break;
#else
namespace kymo_detail {
constexpr bool is_none_of(int64_t) { return true; }
template <class... Rest> constexpr bool is_none_of(int64_t tag, int64_t first, Rest... rest) {
  return tag != first && is_none_of(tag, rest...);
}
constexpr bool are_different(int) { return true; }
template <class... Rest> constexpr bool are_different(int, int64_t first, Rest... rest) {
  return is_none_of(first, rest...) && are_different(0, rest...);
}
} // namespace kymo_detail
#define KYMO_DIFFERENT_(ID, ...)                                                                           \
  enum {                                                                                                   \
    kymo_tags_##ID =                                                                                       \
        kymo_detail::are_different(0 KYMO_LIST_(KYMO_OPTION_TAG_, ID, __VA_ARGS__)) ? 0 : KYMO_WRONG_TAGS_ \
  };                                                                                                       \
  KYMO_CHECK_TAGS_(ID)
#define KYMO_OPTION_TAG_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_TAG_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_TAG_OPTION_(ID, n, before, tag, m) , (int64_t)(tag)
#endif

#define KYMO_MAKE_VARIANT_(ID, TYPE, text, ...)                                                 \
  KYMO_DIFFERENT_(ID, __VA_ARGS__)                                                              \
  enum { KYMO_CAT_(kymo_end_##ID##_, KYMO_COUNT_(0, __VA_ARGS__)) = 0, kymo_dynamic_##ID = 1 }; \
  KYMO_LIST_(KYMO_OPTION_DECLARE_, ID, __VA_ARGS__)                                             \
  KYMO_LISTING_TYPES_(ID, KYMO_LIST_(KYMO_OPTION_LISTING_, ID, __VA_ARGS__))                    \
  KYMO_LISTING_DATA_(ID, TYPE, KYMO_LISTING_VARIANT_, 0, text, kymo_types_##ID,                 \
                     KYMO_LIST_(KYMO_OPTION_LISTED_, ID, __VA_ARGS__))                          \
  KYMO_PUBLISH_(ID, TYPE, KYMO_INFO_(KYMO_LISTING_VARIANT_, 0, 1, 0))                           \
  KYMO_MEASURE_OPTION_HEAD_(ID, TYPE) {                                                         \
    const kymo_type_##ID *kymo_p_ = (const kymo_type_##ID *)kymo_from_;                         \
    uint64_t kymo_sum_ = 0;                                                                     \
    (void)kymo_p_;                                                                              \
    KYMO_LIST_(KYMO_OPTION_MEASURE_, ID, __VA_ARGS__)                                           \
    return (size_t)(kymo_sum_ < KYMO_TEXT_MAX_ ? kymo_sum_ : KYMO_TEXT_MAX_);                   \
  }                                                                                             \
  KYMO_PUT_OPTION_HEAD_(ID, TYPE) {                                                             \
    const kymo_type_##ID *kymo_p_ = (const kymo_type_##ID *)kymo_from_;                         \
    (void)kymo_p_;                                                                              \
    KYMO_LIST_(KYMO_OPTION_STORE_, ID, __VA_ARGS__)                                             \
    return kymo_at_;                                                                            \
  }                                                                                             \
  KYMO_FIND_(kymo_measure_option_, ID, TYPE) KYMO_FIND_(kymo_put_option_, ID, TYPE)
#define KYMO_OPTION_DECLARE_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_DECLARE_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_LISTING_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_LISTING_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_LISTED_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_LISTED_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_MEASURE_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_MEASURE_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_STORE_(ID, n, before, option) \
  KYMO_OPTION_(KYMO_STORE_OPTION_, ID, n, before, KYMO_OPEN_ option)
#define KYMO_OPTION_(...) KYMO_OPTION2_(__VA_ARGS__)
#define KYMO_OPTION2_(OP, ID, n, before, tag, m) OP(ID, n, before, tag, m)
#define KYMO_DECLARE_OPTION_(ID, n, before, tag, m)                                                  \
  KYMO_CHECK_MORE_(ID, n, (int64_t)(tag) < INT32_MAX && (int64_t)(tag) > INT32_MIN, KYMO_WRONG_TAG_, \
                   "the tag " #tag " " KYMO_CURE_TAG_)                                               \
  KYMO_MEMBER_(KYMO_MEMBER_DECLARE, ID, n, before, m)
#define KYMO_LISTING_OPTION_(ID, n, before, tag, m) KYMO_MEMBER_(KYMO_MEMBER_LISTING, ID, n, before, m)
#define KYMO_LISTED_OPTION_(ID, n, before, tag, m) KYMO_LISTED_((int64_t)(tag), ID, n, before, m)
#define KYMO_MEASURE_OPTION_(ID, n, before, tag, m)     \
  if (kymo_tag_ == (int32_t)(tag)) {                    \
    KYMO_MEMBER_(KYMO_MEMBER_MEASURE, ID, n, before, m) \
  }
#define KYMO_STORE_OPTION_(ID, n, before, tag, m)     \
  if (kymo_tag_ == (int32_t)(tag)) {                  \
    KYMO_MEMBER_(KYMO_MEMBER_STORE, ID, n, before, m) \
  }

#define KYMO_MAKE_ENUM_(ID, TYPE, text, ...) \
  KYMO_MAKE_NUMBER_(ID, TYPE, KYMO_LISTING_ENUM_, text, __VA_ARGS__)
#define KYMO_MAKE_FLAGS_(ID, TYPE, text, ...) \
  KYMO_MAKE_NUMBER_(ID, TYPE, KYMO_LISTING_FLAGS_, text, __VA_ARGS__)
#define KYMO_MAKE_NUMBER_(ID, TYPE, kind, text, ...)                                                     \
  KYMO_LISTING_DATA_(ID, TYPE, kind, KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_SCALAR_(TYPE), 0, 0), text, NULL, \
                     KYMO_LIST_(KYMO_ENUMERATOR_, ID, __VA_ARGS__))                                      \
  KYMO_PUBLISH_(ID, TYPE, KYMO_INFO_(kind, 1, 0, sizeof(TYPE)))
#define KYMO_ENUMERATOR_(ID, n, before, x) {0, (int64_t)(x), {0, 0, 0}, 0},

#endif /* KYMO_DISABLE */
#endif
