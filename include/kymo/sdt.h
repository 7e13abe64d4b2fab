/* SPDX-License-Identifier: MIT */
/*
 * kymo/sdt.h: with -DKYMO_SDT each tracepoint is also a probe for perf, bpftrace, bcc, gdb and SystemTap: a
 * nop, and a note in the ELF file with its address, its name (provider: the group), and the locations of its
 * arguments. Included by kymo/trace.h; <sys/sdt.h> is not needed.
 *
 * A tracer that attaches increments a semaphore, which is the other half of the word that enables the
 * tracepoint: so it still costs one load and one branch while no tracer is attached, and arguments are
 * evaluated while one is. Arguments are the fields, if there are at most twelve: numbers (floating-point ones
 * as their bits), and the address of everything else.
 *
 * Names are expanded by the preprocessor: a group called linux is 1 here.
 */
#ifndef KYMO_SDT_H
#define KYMO_SDT_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/fields.h>

#ifndef KYMO_SDT

#define KYMO_RECORDED_(head) 1
#define KYMO_PROBE_HERE_(names, head, ...)

#else

#define KYMO_RECORDED_(head) (__atomic_load_n(&(head).enabled, __ATOMIC_RELAXED) != 0)

#if __SIZEOF_POINTER__ == 8
#define KYMO_SDT_ADDRESS_ ".8byte "
#else
#define KYMO_SDT_ADDRESS_ ".4byte "
#endif
#if defined(__s390__) || defined(__powerpc__) || defined(__arm__)
#define KYMO_SDT_PLACE_ "r" /* readers of these machines support registers only */
#else
#define KYMO_SDT_PLACE_ "nor"
#endif

#define KYMO_PROBE_HERE_(names, head, ...) \
  KYMO_SDT_(names, head, KYMO_CAT_(KYMO_SDT_FIELDS_, KYMO_COUNT_(__VA_ARGS__))(__VA_ARGS__));
/* perf finds semaphores only in files with a section .probes. It is in the segment of all data, as our
 * semaphores are. */
/* clang-format off */
#define KYMO_SDT_(names, head, ...) \
  __asm__ __volatile__("990:\tnop\n\t.pushsection .note.stapsdt,\"?\",\"note\"\n\t.balign 4\n\t" \
                       ".4byte 992f-991f, 994f-993f, 3\n991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n" \
                       "993:\t" KYMO_SDT_ADDRESS_ "990b\n\t" KYMO_SDT_ADDRESS_ "_.stapsdt.base\n\t" \
                       KYMO_SDT_ADDRESS_ "%c[kymo_semaphore]\n\t.asciz \"" names "\\0\"\n\t.asciz \"" \
                       KYMO_EACH_(KYMO_SDT_TEXT_, __VA_ARGS__) "\"\n994:\t.balign 4\n\t.popsection\n\t" \
                       ".ifndef _.stapsdt.base\n\t.pushsection .stapsdt.base,\"aG\",\"progbits\"," \
                       ".stapsdt.base,comdat\n\t" \
                       ".weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n_.stapsdt.base:\n\t.space 1\n\t" \
                       ".size _.stapsdt.base, 1\n\t.popsection\n\t" \
                       ".pushsection .probes,\"awG\",\"progbits\",.stapsdt.base,comdat\n\t" \
                       ".2byte 0\n\t.popsection\n\t.endif" \
                       ::[kymo_semaphore] KYMO_SYMBOL_(&(head).watched) \
                       KYMO_EACH_(KYMO_SDT_WHERE_, __VA_ARGS__))
/* clang-format on */

/* The event without fields, if there are more than readers accept. */
#define KYMO_SDT_FIELDS_2(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_3(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_4(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_5(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_6(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_7(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_8(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_9(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_10(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_11(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_12(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_13(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_14(...) __VA_ARGS__
#define KYMO_SDT_FIELDS_15(...) kymo_group, kymo_name
#define KYMO_SDT_FIELDS_16(...) kymo_group, kymo_name
#define KYMO_SDT_FIELDS_17(...) kymo_group, kymo_name
#define KYMO_SDT_FIELDS_18(...) kymo_group, kymo_name

/* ---- what each kind of field shows ---- */

#define KYMO_SDT_TEXT_(ID, i, previous, x) KYMO_DO_(KYMO_SDTTEXT, i, x)
#define KYMO_SDT_WHERE_(ID, i, previous, x) KYMO_DO_(KYMO_SDTWHERE, i, x)
#define KYMO_SDT_ARGUMENT_(i) "%c[kymo_size" #i "]@%[kymo_argument" #i "] "
#define KYMO_SDT_NUMBER_(i, code)                                                                      \
  ,                                                                                                    \
      [kymo_size##i] "n"(KYMO_CONSTANT_(((code)&0xf0) == KYMO_TYPE_SIGNED_ ? -(int)sizeof(kymo_v##i)   \
                                                                           : (int)sizeof(kymo_v##i))), \
      [kymo_argument##i] KYMO_SDT_PLACE_(kymo_v##i)
#define KYMO_SDT_POINTER_(i, pointer) \
  , [kymo_size##i] "n"((int)sizeof(void *)), [kymo_argument##i] KYMO_SDT_PLACE_((const void *)(pointer))
#ifdef __cplusplus
#define KYMO_CONSTANT_(...) (std::integral_constant<int, (__VA_ARGS__)>::value)
#else
#define KYMO_CONSTANT_(...) (__VA_ARGS__)
#endif

#define KYMO_SDTTEXT_kymo_value_(i, name, x, f, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_value_(i, name, x, f, c) KYMO_SDT_NUMBER_(i, KYMO_TYPE_OF_(KYMO_X_(i)))
#define KYMO_SDTTEXT_kymo_optional_(i, name, condition, x, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_optional_(i, name, condition, x, c) KYMO_SDT_NUMBER_(i, KYMO_TYPE_OF_(KYMO_X_(i)))
#define KYMO_SDTTEXT_kymo_enum_(i, name, TYPE, x, kind) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_enum_(i, name, TYPE, x, kind) KYMO_SDT_NUMBER_(i, KYMO_SCALAR_(TYPE))
#define KYMO_SDTTEXT_kymo_typed_(i, name, TYPE, x, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_typed_(i, name, TYPE, x, c) KYMO_SDT_NUMBER_(i, KYMO_SCALAR_(TYPE))
#define KYMO_SDTTEXT_kymo_strn_(i, name, x, n, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_strn_(i, name, x, n, c) KYMO_SDT_POINTER_(i, kymo_string_of_(&kymo_text##i))
#define KYMO_SDTTEXT_kymo_blob_(i, name, x, n, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_blob_(i, name, x, n, c) KYMO_SDT_POINTER_(i, kymo_data##i)
#define KYMO_SDTTEXT_kymo_fixed_(i, name, x, n, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_fixed_(i, name, x, n, c) KYMO_SDT_POINTER_(i, kymo_data##i)
#define KYMO_SDTTEXT_kymo_array_(i, name, x, n, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_array_(i, name, x, n, c) KYMO_SDT_POINTER_(i, kymo_data##i)
#define KYMO_SDTTEXT_kymo_struct_(i, name, TYPE, x, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_struct_(i, name, TYPE, x, c) KYMO_SDT_POINTER_(i, kymo_pointer##i)
#define KYMO_SDTTEXT_kymo_union_(i, name, TYPE, x, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_union_(i, name, TYPE, x, c) KYMO_SDT_POINTER_(i, kymo_pointer##i)
#define KYMO_SDTTEXT_kymo_structs_(i, name, TYPE, x, n) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_structs_(i, name, TYPE, x, n) KYMO_SDT_POINTER_(i, kymo_pointer##i)
#define KYMO_SDTTEXT_kymo_pointee_(i, name, TYPE, x, c) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_pointee_(i, name, TYPE, x, c) KYMO_SDT_POINTER_(i, kymo_pointer##i)
#define KYMO_SDTTEXT_kymo_variant_(i, name, TYPE, tag, x) KYMO_SDT_ARGUMENT_(i)
#define KYMO_SDTWHERE_kymo_variant_(i, name, TYPE, tag, x) KYMO_SDT_POINTER_(i, kymo_pointer##i)
#define KYMO_SDTTEXT_kymo_level_(i, name, level, b, c)
#define KYMO_SDTWHERE_kymo_level_(i, name, level, b, c)
#define KYMO_SDTTEXT_kymo_miscounted_(i, name, a, b, c)
#define KYMO_SDTWHERE_kymo_miscounted_(i, name, a, b, c)
#define KYMO_SDTTEXT_kymo_about_(i, name, text, b, c)
#define KYMO_SDTWHERE_kymo_about_(i, name, text, b, c)

#ifndef KYMO_DISABLE
KYMO_INLINE_ const char *kymo_string_of_(const struct kymo_text_ *text) { return text->text; }
#endif

#endif
#endif
