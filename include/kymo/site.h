/* SPDX-License-Identifier: MIT */
/*
 * kymo/site.h: the data that a tracepoint leaves at its call site (its descriptor, and entries of sections
 * that lead to it), how a library or program registers its call sites, and the test whether one is enabled.
 * Included by kymo/trace.h.
 *
 *   code            load, compare, branch with -DKYMO_PATCH: one nop, or a jump to the code after the branch
 *   kymo_sites      descriptor, text                two offsets a call site
 *   kymo_jumps      nop, jump's target, descriptor  three offsets a nop (KYMO_PATCH)
 */
#ifndef KYMO_SITE_H
#define KYMO_SITE_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/fields.h>

#ifdef __cplusplus
extern "C" {
#endif
void kymo_register_(const int32_t *begin, const int32_t *end);
void kymo_unregister_(const int32_t *begin);
void kymo_register_jumps_(const int32_t *begin, const int32_t *end);
void kymo_unregister_jumps_(const int32_t *begin);
/* Disables the control socket from now on. */
void kymo_no_control_(void);
#ifdef __cplusplus
}
#endif

/* Where a DSO's call sites are, and the hooks that register them when it is loaded and unloaded. Each source
 * file contains the hooks; the linker keeps one pair per DSO. */
#if defined(__pic__) && __SIZEOF_POINTER__ == 4
#define KYMO_FAR_SITES_ 1
#endif
#ifdef __cplusplus
extern "C" {
#endif
extern const int32_t __start_kymo_sites[] __attribute__((weak, visibility("hidden")));
extern const int32_t __stop_kymo_sites[] __attribute__((weak, visibility("hidden")));
extern const int32_t __start_kymo_jumps[] __attribute__((weak, visibility("hidden")));
extern const int32_t __stop_kymo_jumps[] __attribute__((weak, visibility("hidden")));
#ifdef KYMO_FAR_SITES_
/* Position-independent code of 32-bit machines: no symbol is an operand there. Entries are data, pointers
 * until the hook makes them the offsets that kymo_sites has. */
struct kymo_far_site_ {
  uintptr_t point, text;
};
extern struct kymo_far_site_ __start_kymo_far_sites[] __attribute__((weak, visibility("hidden")));
extern struct kymo_far_site_ __stop_kymo_far_sites[] __attribute__((weak, visibility("hidden")));
extern bool kymo_far_entered_ __attribute__((weak, visibility("hidden")));
bool kymo_far_entered_ = false;
KYMO_INLINE_ void kymo_enter_far_(struct kymo_far_site_ *begin, struct kymo_far_site_ *end) {
  for (struct kymo_far_site_ *site = begin; site != end; site++) {
    site->point -= (uintptr_t)&site->point;
    site->text -= (uintptr_t)&site->text;
  }
  kymo_register_((const int32_t *)(const void *)begin, (const int32_t *)(const void *)end);
}
#endif
void kymo_dso_enter_(void) __attribute__((weak, visibility("hidden"), constructor, no_instrument_function));
void kymo_dso_leave_(void) __attribute__((weak, visibility("hidden"), destructor, no_instrument_function));
#ifdef KYMO_NO_CONTROL /* this program cannot be controlled from outside: set before it registers anything */
void kymo_dso_alone_(void)
    __attribute__((weak, visibility("hidden"), constructor(101), no_instrument_function));
void kymo_dso_alone_(void) { kymo_no_control_(); }
#endif
void kymo_dso_enter_(void) {
  /* pointers, since a missing section has no first element; jumps first, so that registering a site can
   * switch it on */
  const int32_t *jumps_ = __start_kymo_jumps, *jumps_end_ = __stop_kymo_jumps;
  const int32_t *sites_ = __start_kymo_sites, *sites_end_ = __stop_kymo_sites;
  if (jumps_ != jumps_end_)
    kymo_register_jumps_(jumps_, jumps_end_);
#ifdef KYMO_FAR_SITES_
  if (&__start_kymo_far_sites[0] != &__stop_kymo_far_sites[0] && !kymo_far_entered_)
    kymo_enter_far_(__start_kymo_far_sites, __stop_kymo_far_sites);
  kymo_far_entered_ = true;
#endif
  if (sites_ != sites_end_)
    kymo_register_(sites_, sites_end_);
}
void kymo_dso_leave_(void) {
  const int32_t *jumps_ = __start_kymo_jumps, *jumps_end_ = __stop_kymo_jumps;
  const int32_t *sites_ = __start_kymo_sites, *sites_end_ = __stop_kymo_sites;
  if (jumps_ != jumps_end_)
    kymo_unregister_jumps_(jumps_);
#ifdef KYMO_FAR_SITES_
  if (&__start_kymo_far_sites[0] != &__stop_kymo_far_sites[0])
    kymo_unregister_((const int32_t *)(const void *)__start_kymo_far_sites);
#endif
  if (sites_ != sites_end_)
    kymo_unregister_(sites_);
}
#ifdef __cplusplus
}
#endif

#ifndef KYMO_FAR_SITES_
/* The offsets are relative, so the entry needs no relocation; "?" adds it to the group of its function, so
 * the linker drops it together with a second copy of an inline function. */
#define KYMO_SITE_(point, text)                                                                            \
  __asm__ __volatile__(".pushsection kymo_sites,\"a?\"\n\t.balign 4\n\t.long %c0 - .\n\t.long %c1 - .\n\t" \
                       ".popsection" ::KYMO_SYMBOL_(point),                                                \
                       KYMO_SYMBOL_(text))
#if defined(__aarch64__) && !defined(__clang__) /* there "i" accepts no symbol of a template in PIC */
#define KYMO_SYMBOL_(x) "S"(x)
#else
#define KYMO_SYMBOL_(x) "i"(x)
#endif
#elif !defined(__cplusplus)
#define KYMO_SITE_(point, text) \
  static struct {               \
    const void *point_, *text_; \
  } kymo_site_ __attribute__((used, section("kymo_far_sites"))) = {point, text}
#else
/* g++ cannot choose sections for data that inline functions and templates share: each entry registers
 * itself. */
namespace kymo_detail {
template <class Tag, class Site> struct __attribute__((visibility("hidden"))) far_site {
  kymo_far_site_ entry;
  far_site() : entry{(uintptr_t)&Site::point, (uintptr_t)Tag::kymo_text()} {
    kymo_enter_far_(&entry, &entry + 1);
  }
  ~far_site() { kymo_unregister_((const int32_t *)(const void *)&entry); }
  static far_site one;
};
template <class Tag, class Site> far_site<Tag, Site> far_site<Tag, Site>::one;
} // namespace kymo_detail
#define KYMO_SITE_(point, text) (void)text, (void)kymo_detail::far_site<kymo_tag_, kymo_site_>::one
#endif
#ifndef __cplusplus
#define KYMO_DESCRIBE_(written, point_flags, ...)                                  \
  static const char kymo_written_[] = written "\0" __FILE__;                       \
  KYMO_EACH_(KYMO_FIELD_DECLARE_, __VA_ARGS__)                                     \
  static struct {                                                                  \
    struct kymo_tracepoint head;                                                   \
    uint64_t fields[KYMO_COUNT_(__VA_ARGS__) - 1];                                 \
    KYMO_EACH_(KYMO_FIELD_SLOT_, __VA_ARGS__)                                      \
  } kymo_point_ = {{0, 0, 0, __LINE__, KYMO_COUNT_(__VA_ARGS__) - 2, point_flags}, \
                   {0 KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)},                  \
                   KYMO_EACH_(KYMO_FIELD_LISTING_, __VA_ARGS__)};                  \
  KYMO_SITE_(&kymo_point_, kymo_written_)
#define KYMO_HEAD_ kymo_point_.head
#define KYMO_CODES_HERE_ kymo_point_.fields
#else
namespace kymo_detail {
template <class Tag, size_t count, bool = std::is_empty<typename Tag::kymo_slots>::value> struct point {
  template <class... Codes>
  constexpr point(Codes... codes)
      : head{0, 0, 0, Tag::kymo_line, (uint16_t)count, Tag::kymo_flags}, fields{0, codes...} {}
  struct kymo_tracepoint head;
  uint64_t fields[count + 1];
};
template <class Tag, size_t count> struct point<Tag, count, false> {
  template <class... Codes>
  constexpr point(Codes... codes)
      : head{0, 0, 0, Tag::kymo_line, (uint16_t)count, Tag::kymo_flags}, fields{0, codes...},
        listings(Tag::kymo_listings()) {}
  struct kymo_tracepoint head;
  uint64_t fields[count + 1];
  typename Tag::kymo_slots listings;
};
/* The descriptor of one call site. Hidden, so that its address is a constant also in PIC. */
template <class Tag, uint64_t... Codes> struct __attribute__((visibility("hidden"))) site {
  static kymo_detail::point<Tag, sizeof...(Codes)> point;
};
template <class Tag, uint64_t... Codes>
kymo_detail::point<Tag, sizeof...(Codes)> site<Tag, Codes...>::point{Codes...};
} // namespace kymo_detail
#define KYMO_DESCRIBE_(written, point_flags, ...)                                            \
  KYMO_EACH_(KYMO_FIELD_DECLARE_, __VA_ARGS__)                                               \
  struct kymo_tag_ {                                                                         \
    static constexpr const char *kymo_text() { return (written "\0" __FILE__); }             \
    enum : uint32_t { kymo_line = __LINE__ };                                                \
    enum : uint16_t { kymo_flags = point_flags };                                            \
    struct kymo_slots {                                                                      \
      KYMO_EACH_(KYMO_FIELD_SLOT_, __VA_ARGS__)                                              \
    };                                                                                       \
    static constexpr kymo_slots kymo_listings() {                                            \
      return kymo_slots{KYMO_EACH_(KYMO_FIELD_LISTING_, __VA_ARGS__)};                       \
    }                                                                                        \
  };                                                                                         \
  using kymo_site_ = kymo_detail::site<kymo_tag_ KYMO_EACH_(KYMO_FIELD_CODE_, __VA_ARGS__)>; \
  constexpr const char *kymo_written_ =                                                      \
      kymo_tag_::kymo_text(); /* clang -O0 does not accept a call as a constant */           \
  KYMO_SITE_(&kymo_site_::point, kymo_written_)
#define KYMO_HEAD_ kymo_site_::point.head
#define KYMO_CODES_HERE_ kymo_site_::point.fields
#endif

/* ---- is it on? ---- */

/* clang resolves a symbol that is passed to a function only when it optimises. */
#if defined(KYMO_PATCH) && !defined(KYMO_SDT) &&                            \
    ((defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)) && \
    (!defined(__clang__) || defined(__OPTIMIZE__))
#ifdef __aarch64__
#define KYMO_NOP_ "1:\tnop\n\t"
#else
/* Five bytes in one aligned word of eight, so that one store changes them. Prefixes of the nop, and later of
 * the jump, align them: no other instruction is executed. */
#define KYMO_NOP_ ".p2align 3,0x2e,4\n1:\t.byte 0x0f,0x1f,0x44,0x00,0x00\n\t"
#endif
#define KYMO_GOTO_(point, label)                                                                            \
  __asm__ goto(KYMO_NOP_ ".pushsection kymo_jumps,\"a?\"\n\t.balign 4\n\t.long 1b - .\n\t.long %l1 - .\n\t" \
                         ".long %c0 - .\n\t.popsection" ::KYMO_SYMBOL_(point)::label)
#ifdef __clang__
/* A function, since clang 14 treats the targets of all such statements of a function as possible for each. */
KYMO_INLINE_ bool kymo_is_on_(const struct kymo_tracepoint *point) {
  KYMO_GOTO_(point, on);
  return false;
on:
  return true;
}
#define KYMO_IS_ON_(head) kymo_is_on_(&(head))
#else
#define KYMO_IS_ON_(head)          \
  __extension__({                  \
    __label__ kymo_on_;            \
    bool kymo_is_on_ = true;       \
    KYMO_GOTO_(&(head), kymo_on_); \
    kymo_is_on_ = false;           \
  kymo_on_:                        \
    kymo_is_on_;                   \
  })
#endif
#else
/* Both halves of the word. */
typedef uint32_t __attribute__((may_alias)) kymo_switch_;
/* partner: the registry stores it after the class is described on disk */
#define KYMO_IS_ON_(head) \
  (__atomic_load_n((const kymo_switch_ *)(const void *)&(head), __ATOMIC_RELAXED) != 0)
#endif

#endif
