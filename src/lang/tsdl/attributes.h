/* SPDX-License-Identifier: MIT */
/* Values of attributes. All functions report faults and return false then. */
#ifndef KYMO_LANG_TSDL_ATTRIBUTES_H
#define KYMO_LANG_TSDL_ATTRIBUTES_H

#include "lang/tsdl/tree.h"

bool kymo_tsdl_value_unsigned(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                              uint64_t *out);
bool kymo_tsdl_value_signed(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                            int64_t *out);
/* A quoted text. */
bool kymo_tsdl_value_text(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          const char **out);
/* A quoted text or a bare name. */
bool kymo_tsdl_value_name(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          struct tsdl_word **out);
bool kymo_tsdl_value_boolean(struct tsdl_session *session, const struct tsdl_attribute *attribute, bool *out);
bool kymo_tsdl_value_uuid(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          uint8_t out[16]);
bool kymo_tsdl_value_order(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                           enum tsdl_order *out);
/* The type after ":=". */
bool kymo_tsdl_value_type(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          struct tsdl_type **out);
/* True if the attribute has this name. */
bool kymo_tsdl_is_attribute(const struct tsdl_attribute *attribute, const char *name);

/* The attributes of integer, floating_point and string. */
bool kymo_tsdl_integer_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                  const struct tsdl_attribute *attributes);
bool kymo_tsdl_float_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                const struct tsdl_attribute *attributes);
bool kymo_tsdl_string_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                 const struct tsdl_attribute *attributes);

#endif
