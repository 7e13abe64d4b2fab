/* SPDX-License-Identifier: MIT */
/* Parts of the parser of TDL that call each other. As in parser.h: false or NULL after an error was
 * reported. */
#ifndef KYMO_LANG_TDL_SYNTAX_H
#define KYMO_LANG_TDL_SYNTAX_H

#include "lang/tdl/parser.h"

/* One level deeper, and back. */
bool kymo_tdl_enter(struct tdl_parser *parser);
void kymo_tdl_leave(struct tdl_parser *parser);

/* type {attr} */
struct tdl_field *kymo_tdl_parse_field(struct tdl_parser *parser);
/* {attr}, of those in `allowed` (bits of enum tdl_attribute). */
bool kymo_tdl_parse_attributes(struct tdl_parser *parser, uint32_t allowed,
                               struct tdl_attributes *attributes);

/* member {, member} */
struct tdl_set *kymo_tdl_parse_members(struct tdl_parser *parser);

/* {item} until a token that begins none. */
bool kymo_tdl_parse_items(struct tdl_parser *parser, struct tdl_item **items);
/* The layout, after the word LAYOUT. */
bool kymo_tdl_parse_layout(struct tdl_parser *parser, struct tdl_layout *layout);

/* ZLIB, LZ4, ZSTD or XOR sum, after AFTER. */
bool kymo_tdl_parse_transform(struct tdl_parser *parser, enum tdl_transform *transform,
                              struct tdl_expr **key);
/* name {OR name}; kinds of records. */
bool kymo_tdl_parse_kinds(struct tdl_parser *parser, struct tdl_names **kinds);
/* END, of what began at byte `at` with the word `what`; E22 if another word or the end of the text comes
 * before it. */
bool kymo_tdl_expect_end(struct tdl_parser *parser, const char *what, uint32_t at);
/* LITTLE or BIG. */
bool kymo_tdl_expect_order(struct tdl_parser *parser, enum tdl_order *order);

#endif
