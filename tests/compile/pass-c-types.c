/* SPDX-License-Identifier: MIT */
/* kymo_builder_lookup_or_create_type_id takes scalars, arrays of them and typedefs for them, at every
 * place. */
#include <kymo/schema.h>
#include <sys/types.h>

enum color { RED, GREEN };
typedef int vector[3];
typedef void (*callback)(int, const char *);
#define NAME_LENGTH 16

uint32_t take(struct kymo_builder *builder) {
  uint32_t sum = 0;
  sum += kymo_builder_lookup_or_create_type_id(builder, char);
  sum += kymo_builder_lookup_or_create_type_id(builder, const unsigned char);
  sum += kymo_builder_lookup_or_create_type_id(builder, long long unsigned);
  sum += kymo_builder_lookup_or_create_type_id(builder, bool);
  sum += kymo_builder_lookup_or_create_type_id(builder, pid_t);
  sum += kymo_builder_lookup_or_create_type_id(builder, enum color);
  sum += kymo_builder_lookup_or_create_type_id(builder, float) +
         kymo_builder_lookup_or_create_type_id(builder, double);
  sum += kymo_builder_lookup_or_create_type_id(builder, void *);
  sum += kymo_builder_lookup_or_create_type_id(builder, const char *const);
  sum += kymo_builder_lookup_or_create_type_id(builder, struct kymo_builder *);
  sum += kymo_builder_lookup_or_create_type_id(builder, callback);
  sum += kymo_builder_lookup_or_create_type_id(builder, void (*)(int, char));
  sum += kymo_builder_lookup_or_create_type_id(builder, char[NAME_LENGTH]);
  sum += kymo_builder_lookup_or_create_type_id(builder, const char[2][NAME_LENGTH]);
  sum += kymo_builder_lookup_or_create_type_id(builder, vector);
  sum += kymo_builder_lookup_or_create_type_id(builder, void *[1][2][3]);
  return sum ? sum : kymo_builder_lookup_or_create_type_id(builder, volatile int);
}

#ifdef __cplusplus
enum class small : signed char { NO, YES };
using kymo_c_type_::shape_of;
static_assert(shape_of<char[2][16]>::get().rank == 2 && shape_of<char[2][16]>::get().lengths[1] == 16, "");
static_assert(shape_of<const char[16]>::get().class_ == KYMO_C_CHARACTER, "");
static_assert(shape_of<small>::get().is_signed && shape_of<small>::get().size_bits == 8, "");
static_assert(shape_of<unsigned>::get().class_ == KYMO_C_NUMBER && !shape_of<unsigned>::get().is_signed, "");
static_assert(shape_of<bool>::get().class_ == KYMO_C_BOOLEAN && !shape_of<void *>::get().is_signed, "");
static_assert(shape_of<double[1]>::get().class_ == KYMO_C_FLOATING && shape_of<double[1]>::get().rank == 1,
              "");
static_assert(shape_of<callback>::get().class_ == KYMO_C_ADDRESS, "");
uint32_t take_cpp(kymo_builder *builder) { return kymo_builder_lookup_or_create_type_id(builder, small); }
#endif
