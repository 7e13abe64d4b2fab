/* SPDX-License-Identifier: MIT */
#include "record/describe.h"
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The alignment of a type as a struct member: on some machines it is less than the alignment of the type
 * itself. */
#define ALIGNMENT_(type) \
  offsetof(              \
      struct {           \
        char before;     \
        type member;     \
      },                 \
      member)
#define BASIC_(index, type) out->sizes[index] = sizeof(type), out->alignments[index] = ALIGNMENT_(type)

void kymo_machine_describe(struct kymo_machine *out) {
  struct utsname name;
  long page = sysconf(_SC_PAGESIZE);
  memset(out, 0, sizeof *out);
  if (!uname(&name))
    memcpy(out->name, name.machine, strnlen(name.machine, sizeof out->name - 1));
  out->page_size = page > 0 ? (uint32_t)page : 4096;
  out->char_is_signed = (char)-1 < 0;
  BASIC_(KYMO_C_CHAR, char);
  BASIC_(KYMO_C_SHORT, short);
  BASIC_(KYMO_C_INT, int);
  BASIC_(KYMO_C_LONG, long);
  BASIC_(KYMO_C_LONG_LONG, long long);
  BASIC_(KYMO_C_POINTER, void *);
  BASIC_(KYMO_C_SIZE_T, size_t);
  BASIC_(KYMO_C_OFF_T, off_t);
  BASIC_(KYMO_C_PTRDIFF_T, ptrdiff_t);
  BASIC_(KYMO_C_FLOAT, float);
  BASIC_(KYMO_C_DOUBLE, double);
  BASIC_(KYMO_C_LONG_DOUBLE, long double);
}
