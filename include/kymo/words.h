/* SPDX-License-Identifier: MIT */
/*
 * kymo/words.h: the words that define a field of an event or a member of a listed type, and the
 * preprocessor's tools for both. Included by kymo/trace.h and kymo/types.h, which explain the words.
 * A word expands to six things in parentheses, as no expression does: the kind, its name, the arguments of
 * the kind, and the mark kymo_field or kymo_member. The number of arguments distinguishes them:
 * KYMO_HEX(name, expression) is a field; KYMO_HEX(member) is a member, and in an event the field of the
 * variable of this name. All words that go through the preprocessor begin with kymo: a program may have a
 * macro SIZE or VALUE.
 */
#ifndef KYMO_WORDS_H
#define KYMO_WORDS_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/layout.h>

/* ---- words ---- */

#define KYMO_AS(...) KYMO_WORD_(KYMO_AS_, __VA_ARGS__)
#define KYMO_AS_2(name, x) (kymo_value, name, x, 0, 0, kymo_field)
#define KYMO_DEC(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_BASE_(10), __VA_ARGS__)
#define KYMO_HEX(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_BASE_(16), __VA_ARGS__)
#define KYMO_OCT(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_BASE_(8), __VA_ARGS__)
#define KYMO_BIN(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_BASE_(2), __VA_ARGS__)
#define KYMO_CHAR(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_CODE_CHARACTER_, __VA_ARGS__)
#define KYMO_ADDRESS(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_CODE_ADDRESS_, __VA_ARGS__)
#define KYMO_BE(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_CODE_BIG_, __VA_ARGS__)
#define KYMO_LE(...) KYMO_WORD_(KYMO_SCALAR_, KYMO_CODE_LITTLE_, __VA_ARGS__)
#define KYMO_SCALAR_2(format, name) (kymo_value, name, name, format, 0, kymo_member)
#define KYMO_SCALAR_3(format, name, x) (kymo_value, name, x, format, 0, kymo_field)

#define KYMO_BITS(...) KYMO_WORD_(KYMO_BITS_, __VA_ARGS__)
#define KYMO_BITS_1(member) (kymo_bits, member, 0, 0, 0, kymo_member)
#define KYMO_TEXT(...) KYMO_WORD_(KYMO_TEXT_, __VA_ARGS__)
#define KYMO_TEXT_1(member) (kymo_text, member, 0, 0, 0, kymo_member)
#define KYMO_STRN(...) KYMO_WORD_(KYMO_STRN_, __VA_ARGS__)
#define KYMO_STRN_3(name, text, n) (kymo_strn, name, text, n, 0, kymo_field)
#define KYMO_BLOB(...) KYMO_WORD_(KYMO_BLOB_, __VA_ARGS__)
#define KYMO_BLOB_3(name, pointer, n) (kymo_blob, name, pointer, n, 0, kymo_field)
#define KYMO_BLOB_FIXED(...) KYMO_WORD_(KYMO_BLOB_FIXED_, __VA_ARGS__)
#define KYMO_BLOB_FIXED_4(name, pointer, n, MAX) (kymo_fixed, name, pointer, n, MAX, kymo_field)
#define KYMO_ARRAY(...) KYMO_WORD_(KYMO_ARRAY_, __VA_ARGS__)
#define KYMO_ARRAY_2(member, count) (kymo_array, member, 0, count, 0, kymo_member)
#define KYMO_ARRAY_3(name, pointer, count) (kymo_array, name, pointer, count, 0, kymo_field)

#define KYMO_STRUCT(...) KYMO_WORD_(KYMO_STRUCT_, __VA_ARGS__)
#define KYMO_STRUCT_3(name, TYPE, pointer) (kymo_struct, name, TYPE, pointer, 0, kymo_field)
#define KYMO_UNION(...) KYMO_WORD_(KYMO_UNION_, __VA_ARGS__)
#define KYMO_UNION_3(name, TYPE, pointer) (kymo_union, name, TYPE, pointer, 0, kymo_field)
#define KYMO_STRUCT_ARRAY(...) KYMO_WORD_(KYMO_STRUCT_ARRAY_, __VA_ARGS__)
#define KYMO_STRUCT_ARRAY_4(name, TYPE, pointer, count) (kymo_structs, name, TYPE, pointer, count, kymo_field)
#define KYMO_ENUM(...) KYMO_WORD_(KYMO_ENUM_, __VA_ARGS__)
#define KYMO_ENUM_3(name, TYPE, x) (kymo_enum, name, TYPE, x, KYMO_LISTING_ENUM_, kymo_field)
#define KYMO_FLAGS(...) KYMO_WORD_(KYMO_FLAGS_, __VA_ARGS__)
#define KYMO_FLAGS_3(name, TYPE, x) (kymo_enum, name, TYPE, x, KYMO_LISTING_FLAGS_, kymo_field)
#define KYMO_TYPED(...) KYMO_WORD_(KYMO_TYPED_, __VA_ARGS__)
#define KYMO_TYPED_3(name, TYPE, x) (kymo_typed, name, TYPE, x, 0, kymo_field)
#define KYMO_VARIANT(...) KYMO_WORD_(KYMO_VARIANT_, __VA_ARGS__)
#define KYMO_VARIANT_2(member, tag) (kymo_variant, member, 0, tag, 0, kymo_member)
#define KYMO_VARIANT_4(name, TYPE, tag, pointer) (kymo_variant, name, TYPE, tag, pointer, kymo_field)
#define KYMO_OPTIONAL(...) KYMO_WORD_(KYMO_OPTIONAL_, __VA_ARGS__)
#define KYMO_OPTIONAL_2(member, flag) (kymo_optional, member, 0, flag, 0, kymo_member)
#define KYMO_OPTIONAL_3(name, condition, x) (kymo_optional, name, condition, x, 0, kymo_field)
#define KYMO_OPTIONAL_STRUCT(...) KYMO_WORD_(KYMO_OPTIONAL_STRUCT_, __VA_ARGS__)
#define KYMO_OPTIONAL_STRUCT_3(name, TYPE, pointer) (kymo_pointee, name, TYPE, pointer, 0, kymo_field)

/* Properties of the event itself. Levels are pasted, so a program's own macro `debug` does not disturb. */
#define KYMO_LEVEL(level) (kymo_level, level, KYMO_LEVEL_##level, #level, 0, kymo_field)
#define KYMO_ABOUT(text) (kymo_about, text, text, 0, 0, kymo_field)

#define KYMO_WORD_(WORD, ...) KYMO_CAT_(WORD, KYMO_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define KYMO_BASE_(base) KYMO_CODE_(0, 0, base, 0)

/* Words with too few or too many arguments, which kymo/check.h and listings refuse. */
#define KYMO_MISCOUNTED_(...) (kymo_miscounted, 0, 0, 0, 0, kymo_field)
#define KYMO_AS_1 KYMO_MISCOUNTED_
#define KYMO_AS_3 KYMO_MISCOUNTED_
#define KYMO_AS_4 KYMO_MISCOUNTED_
#define KYMO_AS_5 KYMO_MISCOUNTED_
#define KYMO_BITS_2 KYMO_MISCOUNTED_
#define KYMO_BITS_3 KYMO_MISCOUNTED_
#define KYMO_BITS_4 KYMO_MISCOUNTED_
#define KYMO_BITS_5 KYMO_MISCOUNTED_
#define KYMO_TEXT_2 KYMO_MISCOUNTED_
#define KYMO_TEXT_3 KYMO_MISCOUNTED_
#define KYMO_TEXT_4 KYMO_MISCOUNTED_
#define KYMO_TEXT_5 KYMO_MISCOUNTED_
#define KYMO_STRN_1 KYMO_MISCOUNTED_
#define KYMO_STRN_2 KYMO_MISCOUNTED_
#define KYMO_STRN_4 KYMO_MISCOUNTED_
#define KYMO_STRN_5 KYMO_MISCOUNTED_
#define KYMO_BLOB_1 KYMO_MISCOUNTED_
#define KYMO_BLOB_2 KYMO_MISCOUNTED_
#define KYMO_BLOB_4 KYMO_MISCOUNTED_
#define KYMO_BLOB_5 KYMO_MISCOUNTED_
#define KYMO_BLOB_FIXED_1 KYMO_MISCOUNTED_
#define KYMO_BLOB_FIXED_2 KYMO_MISCOUNTED_
#define KYMO_BLOB_FIXED_3 KYMO_MISCOUNTED_
#define KYMO_BLOB_FIXED_5 KYMO_MISCOUNTED_
#define KYMO_STRUCT_1 KYMO_MISCOUNTED_
#define KYMO_STRUCT_2 KYMO_MISCOUNTED_
#define KYMO_STRUCT_4 KYMO_MISCOUNTED_
#define KYMO_STRUCT_5 KYMO_MISCOUNTED_
#define KYMO_UNION_1 KYMO_MISCOUNTED_
#define KYMO_UNION_2 KYMO_MISCOUNTED_
#define KYMO_UNION_4 KYMO_MISCOUNTED_
#define KYMO_UNION_5 KYMO_MISCOUNTED_
#define KYMO_STRUCT_ARRAY_1 KYMO_MISCOUNTED_
#define KYMO_STRUCT_ARRAY_2 KYMO_MISCOUNTED_
#define KYMO_STRUCT_ARRAY_3 KYMO_MISCOUNTED_
#define KYMO_STRUCT_ARRAY_5 KYMO_MISCOUNTED_
#define KYMO_ENUM_1 KYMO_MISCOUNTED_
#define KYMO_ENUM_2 KYMO_MISCOUNTED_
#define KYMO_ENUM_4 KYMO_MISCOUNTED_
#define KYMO_ENUM_5 KYMO_MISCOUNTED_
#define KYMO_FLAGS_1 KYMO_MISCOUNTED_
#define KYMO_FLAGS_2 KYMO_MISCOUNTED_
#define KYMO_FLAGS_4 KYMO_MISCOUNTED_
#define KYMO_FLAGS_5 KYMO_MISCOUNTED_
#define KYMO_TYPED_1 KYMO_MISCOUNTED_
#define KYMO_TYPED_2 KYMO_MISCOUNTED_
#define KYMO_TYPED_4 KYMO_MISCOUNTED_
#define KYMO_TYPED_5 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_STRUCT_1 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_STRUCT_2 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_STRUCT_4 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_STRUCT_5 KYMO_MISCOUNTED_
#define KYMO_SCALAR_1 KYMO_MISCOUNTED_
#define KYMO_SCALAR_4 KYMO_MISCOUNTED_
#define KYMO_SCALAR_5 KYMO_MISCOUNTED_
#define KYMO_ARRAY_1 KYMO_MISCOUNTED_
#define KYMO_ARRAY_4 KYMO_MISCOUNTED_
#define KYMO_ARRAY_5 KYMO_MISCOUNTED_
#define KYMO_VARIANT_1 KYMO_MISCOUNTED_
#define KYMO_VARIANT_3 KYMO_MISCOUNTED_
#define KYMO_VARIANT_5 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_1 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_4 KYMO_MISCOUNTED_
#define KYMO_OPTIONAL_5 KYMO_MISCOUNTED_

/* ---- mistakes ---- */

/*
 * clang reports nothing after a fatal error. Here that is a warning of diagnose_if that the caller makes
 * fatal: the call prints the source line and the macro that its last parenthesis is written in, so that
 * parenthesis is in the macro that the program uses. gcc prints little for code in a system header: there
 * assertions report it.
 */
#ifdef __clang__
#define KYMO_FATAL_ \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic fatal \"-Wuser-defined-warnings\"")
#define KYMO_FATAL_END_ _Pragma("clang diagnostic pop")
#define KYMO_STOP_(call)          \
  KYMO_FATAL_(void) sizeof(call); \
  KYMO_FATAL_END_
#else
#define KYMO_STOP_(call)
#endif
#define KYMO_IS_QUOTED_(text) (!__builtin_memcmp(text, "\"", 1))
#define KYMO_QUOTE_(x) KYMO_QUOTE2_(x)
#define KYMO_QUOTE2_(x) #x

/* ---- counting and pasting ---- */

#define KYMO_CAT_(a, b) KYMO_CAT2_(a, b)
#define KYMO_CAT2_(a, b) a##b
#define KYMO_SECOND_(...) KYMO_SECOND2_(__VA_ARGS__)
#define KYMO_SECOND2_(a, b, ...) b
#define KYMO_COUNT_(...)                                                                                    \
  KYMO_COUNT2_(__VA_ARGS__, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, \
               52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30,  \
               29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,  \
               5, 4, 3, 2, 1, 0)
#define KYMO_COUNT2_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, \
                     a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36,  \
                     a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53,  \
                     a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70,  \
                     a71, a72, n, ...)                                                                     \
  n
#define KYMO_OPEN_(...) __VA_ARGS__
/* 2 if nothing was given, else 1; what is given begins with an identifier. */
#define KYMO_NOTHING_(...) KYMO_COUNT_(KYMO_NOTHING2_(__VA_ARGS__, ~))
#define KYMO_NOTHING2_(first, ...) KYMO_COMMA_ first()
#define KYMO_COMMA_() ,

/* What form an argument has: 1 is a word, "(… six …)"; 2 is a type in parentheses and a name, "(struct point)
 * from"; 0 is anything else. `KYMO_PROBE_ argument` is a count for "(…) …" and KYMO_PROBE_ itself for
 * anything else. */
#define KYMO_FORM_(x) KYMO_SECOND_(KYMO_CAT_(KYMO_FORM_, KYMO_PROBE_ x), 0, ~)
#define KYMO_PROBE_(...) KYMO_COUNT_(__VA_ARGS__)
#define KYMO_FORM_1 ~, 2, ~
#define KYMO_FORM_6 ~, 1, ~

/* KYMO_LIST_(M, ID, x, y, z) is M(ID, 3, 4, x) M(ID, 2, 3, y) M(ID, 1, 2, z): each with its number, counted
 * from the end, and its predecessor's. */
#define KYMO_LIST_(M, ID, ...) KYMO_CAT_(KYMO_LIST_, KYMO_COUNT_(__VA_ARGS__))(M, ID, __VA_ARGS__)
/* More arguments than are allowed, which is reported: the first one is enough to compile the rest. */
#define KYMO_LIST_65(M, ID, x, ...) M(ID, 1, 66, x)
#define KYMO_LIST_66(M, ID, x, ...) M(ID, 1, 67, x)
#define KYMO_LIST_67(M, ID, x, ...) M(ID, 1, 68, x)
#define KYMO_LIST_68(M, ID, x, ...) M(ID, 1, 69, x)
#define KYMO_LIST_69(M, ID, x, ...) M(ID, 1, 70, x)
#define KYMO_LIST_70(M, ID, x, ...) M(ID, 1, 71, x)
#define KYMO_LIST_71(M, ID, x, ...) M(ID, 1, 72, x)
#define KYMO_LIST_72(M, ID, x, ...) M(ID, 1, 73, x)
#define KYMO_LIST_0(M, ID, ...)
#define KYMO_LIST_1(M, ID, x) M(ID, 1, 2, x)
#define KYMO_LIST_2(M, ID, x, ...) M(ID, 2, 3, x) KYMO_LIST_1(M, ID, __VA_ARGS__)
#define KYMO_LIST_3(M, ID, x, ...) M(ID, 3, 4, x) KYMO_LIST_2(M, ID, __VA_ARGS__)
#define KYMO_LIST_4(M, ID, x, ...) M(ID, 4, 5, x) KYMO_LIST_3(M, ID, __VA_ARGS__)
#define KYMO_LIST_5(M, ID, x, ...) M(ID, 5, 6, x) KYMO_LIST_4(M, ID, __VA_ARGS__)
#define KYMO_LIST_6(M, ID, x, ...) M(ID, 6, 7, x) KYMO_LIST_5(M, ID, __VA_ARGS__)
#define KYMO_LIST_7(M, ID, x, ...) M(ID, 7, 8, x) KYMO_LIST_6(M, ID, __VA_ARGS__)
#define KYMO_LIST_8(M, ID, x, ...) M(ID, 8, 9, x) KYMO_LIST_7(M, ID, __VA_ARGS__)
#define KYMO_LIST_9(M, ID, x, ...) M(ID, 9, 10, x) KYMO_LIST_8(M, ID, __VA_ARGS__)
#define KYMO_LIST_10(M, ID, x, ...) M(ID, 10, 11, x) KYMO_LIST_9(M, ID, __VA_ARGS__)
#define KYMO_LIST_11(M, ID, x, ...) M(ID, 11, 12, x) KYMO_LIST_10(M, ID, __VA_ARGS__)
#define KYMO_LIST_12(M, ID, x, ...) M(ID, 12, 13, x) KYMO_LIST_11(M, ID, __VA_ARGS__)
#define KYMO_LIST_13(M, ID, x, ...) M(ID, 13, 14, x) KYMO_LIST_12(M, ID, __VA_ARGS__)
#define KYMO_LIST_14(M, ID, x, ...) M(ID, 14, 15, x) KYMO_LIST_13(M, ID, __VA_ARGS__)
#define KYMO_LIST_15(M, ID, x, ...) M(ID, 15, 16, x) KYMO_LIST_14(M, ID, __VA_ARGS__)
#define KYMO_LIST_16(M, ID, x, ...) M(ID, 16, 17, x) KYMO_LIST_15(M, ID, __VA_ARGS__)
#define KYMO_LIST_17(M, ID, x, ...) M(ID, 17, 18, x) KYMO_LIST_16(M, ID, __VA_ARGS__)
#define KYMO_LIST_18(M, ID, x, ...) M(ID, 18, 19, x) KYMO_LIST_17(M, ID, __VA_ARGS__)
#define KYMO_LIST_19(M, ID, x, ...) M(ID, 19, 20, x) KYMO_LIST_18(M, ID, __VA_ARGS__)
#define KYMO_LIST_20(M, ID, x, ...) M(ID, 20, 21, x) KYMO_LIST_19(M, ID, __VA_ARGS__)
#define KYMO_LIST_21(M, ID, x, ...) M(ID, 21, 22, x) KYMO_LIST_20(M, ID, __VA_ARGS__)
#define KYMO_LIST_22(M, ID, x, ...) M(ID, 22, 23, x) KYMO_LIST_21(M, ID, __VA_ARGS__)
#define KYMO_LIST_23(M, ID, x, ...) M(ID, 23, 24, x) KYMO_LIST_22(M, ID, __VA_ARGS__)
#define KYMO_LIST_24(M, ID, x, ...) M(ID, 24, 25, x) KYMO_LIST_23(M, ID, __VA_ARGS__)
#define KYMO_LIST_25(M, ID, x, ...) M(ID, 25, 26, x) KYMO_LIST_24(M, ID, __VA_ARGS__)
#define KYMO_LIST_26(M, ID, x, ...) M(ID, 26, 27, x) KYMO_LIST_25(M, ID, __VA_ARGS__)
#define KYMO_LIST_27(M, ID, x, ...) M(ID, 27, 28, x) KYMO_LIST_26(M, ID, __VA_ARGS__)
#define KYMO_LIST_28(M, ID, x, ...) M(ID, 28, 29, x) KYMO_LIST_27(M, ID, __VA_ARGS__)
#define KYMO_LIST_29(M, ID, x, ...) M(ID, 29, 30, x) KYMO_LIST_28(M, ID, __VA_ARGS__)
#define KYMO_LIST_30(M, ID, x, ...) M(ID, 30, 31, x) KYMO_LIST_29(M, ID, __VA_ARGS__)
#define KYMO_LIST_31(M, ID, x, ...) M(ID, 31, 32, x) KYMO_LIST_30(M, ID, __VA_ARGS__)
#define KYMO_LIST_32(M, ID, x, ...) M(ID, 32, 33, x) KYMO_LIST_31(M, ID, __VA_ARGS__)
#define KYMO_LIST_33(M, ID, x, ...) M(ID, 33, 34, x) KYMO_LIST_32(M, ID, __VA_ARGS__)
#define KYMO_LIST_34(M, ID, x, ...) M(ID, 34, 35, x) KYMO_LIST_33(M, ID, __VA_ARGS__)
#define KYMO_LIST_35(M, ID, x, ...) M(ID, 35, 36, x) KYMO_LIST_34(M, ID, __VA_ARGS__)
#define KYMO_LIST_36(M, ID, x, ...) M(ID, 36, 37, x) KYMO_LIST_35(M, ID, __VA_ARGS__)
#define KYMO_LIST_37(M, ID, x, ...) M(ID, 37, 38, x) KYMO_LIST_36(M, ID, __VA_ARGS__)
#define KYMO_LIST_38(M, ID, x, ...) M(ID, 38, 39, x) KYMO_LIST_37(M, ID, __VA_ARGS__)
#define KYMO_LIST_39(M, ID, x, ...) M(ID, 39, 40, x) KYMO_LIST_38(M, ID, __VA_ARGS__)
#define KYMO_LIST_40(M, ID, x, ...) M(ID, 40, 41, x) KYMO_LIST_39(M, ID, __VA_ARGS__)
#define KYMO_LIST_41(M, ID, x, ...) M(ID, 41, 42, x) KYMO_LIST_40(M, ID, __VA_ARGS__)
#define KYMO_LIST_42(M, ID, x, ...) M(ID, 42, 43, x) KYMO_LIST_41(M, ID, __VA_ARGS__)
#define KYMO_LIST_43(M, ID, x, ...) M(ID, 43, 44, x) KYMO_LIST_42(M, ID, __VA_ARGS__)
#define KYMO_LIST_44(M, ID, x, ...) M(ID, 44, 45, x) KYMO_LIST_43(M, ID, __VA_ARGS__)
#define KYMO_LIST_45(M, ID, x, ...) M(ID, 45, 46, x) KYMO_LIST_44(M, ID, __VA_ARGS__)
#define KYMO_LIST_46(M, ID, x, ...) M(ID, 46, 47, x) KYMO_LIST_45(M, ID, __VA_ARGS__)
#define KYMO_LIST_47(M, ID, x, ...) M(ID, 47, 48, x) KYMO_LIST_46(M, ID, __VA_ARGS__)
#define KYMO_LIST_48(M, ID, x, ...) M(ID, 48, 49, x) KYMO_LIST_47(M, ID, __VA_ARGS__)
#define KYMO_LIST_49(M, ID, x, ...) M(ID, 49, 50, x) KYMO_LIST_48(M, ID, __VA_ARGS__)
#define KYMO_LIST_50(M, ID, x, ...) M(ID, 50, 51, x) KYMO_LIST_49(M, ID, __VA_ARGS__)
#define KYMO_LIST_51(M, ID, x, ...) M(ID, 51, 52, x) KYMO_LIST_50(M, ID, __VA_ARGS__)
#define KYMO_LIST_52(M, ID, x, ...) M(ID, 52, 53, x) KYMO_LIST_51(M, ID, __VA_ARGS__)
#define KYMO_LIST_53(M, ID, x, ...) M(ID, 53, 54, x) KYMO_LIST_52(M, ID, __VA_ARGS__)
#define KYMO_LIST_54(M, ID, x, ...) M(ID, 54, 55, x) KYMO_LIST_53(M, ID, __VA_ARGS__)
#define KYMO_LIST_55(M, ID, x, ...) M(ID, 55, 56, x) KYMO_LIST_54(M, ID, __VA_ARGS__)
#define KYMO_LIST_56(M, ID, x, ...) M(ID, 56, 57, x) KYMO_LIST_55(M, ID, __VA_ARGS__)
#define KYMO_LIST_57(M, ID, x, ...) M(ID, 57, 58, x) KYMO_LIST_56(M, ID, __VA_ARGS__)
#define KYMO_LIST_58(M, ID, x, ...) M(ID, 58, 59, x) KYMO_LIST_57(M, ID, __VA_ARGS__)
#define KYMO_LIST_59(M, ID, x, ...) M(ID, 59, 60, x) KYMO_LIST_58(M, ID, __VA_ARGS__)
#define KYMO_LIST_60(M, ID, x, ...) M(ID, 60, 61, x) KYMO_LIST_59(M, ID, __VA_ARGS__)
#define KYMO_LIST_61(M, ID, x, ...) M(ID, 61, 62, x) KYMO_LIST_60(M, ID, __VA_ARGS__)
#define KYMO_LIST_62(M, ID, x, ...) M(ID, 62, 63, x) KYMO_LIST_61(M, ID, __VA_ARGS__)
#define KYMO_LIST_63(M, ID, x, ...) M(ID, 63, 64, x) KYMO_LIST_62(M, ID, __VA_ARGS__)
#define KYMO_LIST_64(M, ID, x, ...) M(ID, 64, 65, x) KYMO_LIST_63(M, ID, __VA_ARGS__)
/* The same for the fields of an event, "group, name, fields…". Nothing if they are too many, which
 * KYMO_CHECKED_ reports. */
#define KYMO_EACH_(M, ...) KYMO_CAT_(KYMO_EACH_, KYMO_FEW_(__VA_ARGS__))(M, __VA_ARGS__)
#define KYMO_FEW_(...)                                                                                      \
  KYMO_COUNT2_(__VA_ARGS__, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,    \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,      \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,      \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,      \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,      \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many,      \
               kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, kymo_many, 18, 17, 16, 15, \
               14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KYMO_EACH_kymo_many(M, ...)
#define KYMO_EACH_2(M, group, name)
#define KYMO_EACH_3(M, group, name, ...) KYMO_LIST_1(M, 0, __VA_ARGS__)
#define KYMO_EACH_4(M, group, name, ...) KYMO_LIST_2(M, 0, __VA_ARGS__)
#define KYMO_EACH_5(M, group, name, ...) KYMO_LIST_3(M, 0, __VA_ARGS__)
#define KYMO_EACH_6(M, group, name, ...) KYMO_LIST_4(M, 0, __VA_ARGS__)
#define KYMO_EACH_7(M, group, name, ...) KYMO_LIST_5(M, 0, __VA_ARGS__)
#define KYMO_EACH_8(M, group, name, ...) KYMO_LIST_6(M, 0, __VA_ARGS__)
#define KYMO_EACH_9(M, group, name, ...) KYMO_LIST_7(M, 0, __VA_ARGS__)
#define KYMO_EACH_10(M, group, name, ...) KYMO_LIST_8(M, 0, __VA_ARGS__)
#define KYMO_EACH_11(M, group, name, ...) KYMO_LIST_9(M, 0, __VA_ARGS__)
#define KYMO_EACH_12(M, group, name, ...) KYMO_LIST_10(M, 0, __VA_ARGS__)
#define KYMO_EACH_13(M, group, name, ...) KYMO_LIST_11(M, 0, __VA_ARGS__)
#define KYMO_EACH_14(M, group, name, ...) KYMO_LIST_12(M, 0, __VA_ARGS__)
#define KYMO_EACH_15(M, group, name, ...) KYMO_LIST_13(M, 0, __VA_ARGS__)
#define KYMO_EACH_16(M, group, name, ...) KYMO_LIST_14(M, 0, __VA_ARGS__)
#define KYMO_EACH_17(M, group, name, ...) KYMO_LIST_15(M, 0, __VA_ARGS__)
#define KYMO_EACH_18(M, group, name, ...) KYMO_LIST_16(M, 0, __VA_ARGS__)

#endif
