/* SPDX-License-Identifier: MIT */
/* C types of this machine in a schema, by the shape that the compiler found (kymo/c_type.h). */
#include "schema/lookup.h"
#include <string.h>

static const enum kymo_byte_order own_order =
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;

/* ---- what a shape says ---- */

static struct kymo_type scalar_of(const struct kymo_c_shape *shape) {
  static const enum kymo_type_kind kinds[] = {
      [KYMO_C_NUMBER] = KYMO_KIND_INTEGER,  [KYMO_C_CHARACTER] = KYMO_KIND_INTEGER,
      [KYMO_C_BOOLEAN] = KYMO_KIND_BOOLEAN, [KYMO_C_FLOATING] = KYMO_KIND_FLOAT,
      [KYMO_C_ADDRESS] = KYMO_KIND_INTEGER,
  };
  bool is_address = shape->class_ == KYMO_C_ADDRESS;
  return (struct kymo_type){.kind = kinds[shape->class_],
                            .size_bits = shape->size_bits,
                            .align_bits = shape->align_bits,
                            .order = own_order,
                            .is_signed = shape->is_signed,
                            .is_address = is_address,
                            .base = is_address ? 16 : 0,
                            .encoding =
                                shape->class_ == KYMO_C_CHARACTER ? KYMO_ENCODING_UTF8 : KYMO_ENCODING_NONE};
}

/* The innermost dimension of characters is a text. */
static bool is_text(const struct kymo_c_shape *shape, uint32_t dimension) {
  return shape->class_ == KYMO_C_CHARACTER && dimension + 1 == shape->rank;
}

static bool scalar_fits(const struct kymo_type *type, const struct kymo_type *given) {
  bool is_bitmap = type->kind == KYMO_KIND_BITMAP && given->kind == KYMO_KIND_INTEGER && !given->is_signed;
  return (type->kind == given->kind || is_bitmap) && type->size_bits == given->size_bits &&
         type->is_signed == given->is_signed && (type->order == given->order || type->size_bits == 8) &&
         !type->bits_reversed;
}

/* True if the type describes the memory of the shape's dimensions from this one on. */
static bool fits(const struct kymo_type *type, const struct kymo_c_shape *shape, uint32_t dimension) {
  for (; dimension < shape->rank; dimension++) {
    if (type->length != shape->lengths[dimension])
      return false;
    if (type->kind == KYMO_KIND_TEXT_ARRAY)
      return is_text(shape, dimension);
    if (type->kind != KYMO_KIND_ARRAY)
      return false;
    type = type->element;
  }
  struct kymo_type given = scalar_of(shape);
  return scalar_fits(type, &given);
}

/* ---- names of elements ---- */

/* Removes the first dimension of a normal name: "int [3][4]" becomes "int [4]". False if the name shows none,
 * like the name of a typedef. */
static bool drop_dimension(char *name) {
  char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
  if (!close || strchr(name, '('))
    return false;
  memmove(open, close + 1, strlen(close + 1) + 1);
  if (*open == 0 && open > name && open[-1] == ' ')
    open[-1] = 0;
  return true;
}

/* ---- making them ---- */

/* The type of the shape's dimensions from this one on. `name` is a normal one, which is changed, or NULL. Not
 * deeper than KYMO_C_RANK_MAX. */
static const struct kymo_type *make(struct kymo_builder *builder, char *name,
                                    const struct kymo_c_shape *shape, uint32_t dimension) {
  const struct kymo_type *known = name ? kymo_builder_lookup(builder, name) : NULL;
  if (known && fits(known, shape, dimension))
    return known;
  struct kymo_type type = scalar_of(shape);
  if (dimension < shape->rank)
    type = (struct kymo_type){.kind = is_text(shape, dimension) ? KYMO_KIND_TEXT_ARRAY : KYMO_KIND_ARRAY,
                              .length = shape->lengths[dimension]};
  if (type.kind == KYMO_KIND_TEXT_ARRAY)
    type.encoding = KYMO_ENCODING_UTF8;
  type.name = kymo_builder_text(builder, name);
  if (name && !type.name)
    return NULL;
  if (type.kind == KYMO_KIND_ARRAY) {
    type.element = make(builder, name && drop_dimension(name) ? name : NULL, shape, dimension + 1);
    if (!type.element)
      return NULL;
  }
  return kymo_builder_type(builder, &type);
}

uint32_t kymo_builder_c_type_id_(struct kymo_builder *builder, const char *name,
                                 const struct kymo_c_shape *shape) {
  char normal[KYMO_TYPE_NAME_MAX];
  const struct kymo_type *type =
      make(builder, kymo_type_name_normalize(normal, sizeof normal, name), shape, 0);
  return type ? type->id : KYMO_ID_NONE;
}
