/* SPDX-License-Identifier: MIT */
/* Which types of a file match the names that the user gave, and which similar ones there are. */
#include "base/fail.h"
#include "base/glob.h"
#include "base/nearest.h"
#include "infer/listing.h"
#include "infer/types.h"
#include <stdlib.h>
#include <string.h>

enum { NEAR_SHOWN = 3 };

/* "struct ", … before a name or glob; "" if it is a typedef's, or may be any tag. */
static const char *keyword_of(int tag) {
  switch (tag) {
  case DW_TAG_structure_type:
  case DW_TAG_class_type: return "struct ";
  case DW_TAG_union_type: return "union ";
  case DW_TAG_enumeration_type: return "enum ";
  default: return "";
  }
}

static const char *const keywords[] = {"struct ", "union ", "enum "};

/* The keyword of the tag in a user's name, or NULL. */
static const char *keyword_in(const char *text) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (!strncmp(text, keywords[i], strlen(keywords[i])))
      return keywords[i];
  return NULL;
}

/* Whether an entry of this tag and name matches a user's name. */
static bool is_meant(const char *text, const struct kymo_glob *glob, int tag, const char *name) {
  const char *keyword = keyword_in(text);
  return (!keyword || !strcmp(keyword_of(tag), keyword)) && kymo_glob_matches(glob, name);
}

static bool is_glob(const char *text) { return kymo_glob_is(text, strlen(text)); }

/* "src/a.c" is matched by itself, by "a.c" and by globs. */
static bool is_in_unit(Dwarf_Die *die, const char *unit, const struct kymo_glob *glob) {
  const char *name = kymo_dwarf_unit(die);
  size_t length = strlen(name), wanted = strlen(unit);
  return kymo_glob_matches(glob, name) ||
         (wanted < length && name[length - wanted - 1] == '/' && !strcmp(name + length - wanted, unit));
}

/* ---- finding ---- */

struct choice {
  const struct kymo_types_wanted *wanted;
  struct kymo_listing *listing;
  struct kymo_glob *globs; /* of the names */
  struct kymo_glob unit;
};

static int make_glob(struct kymo_glob *glob, const char *whole, const char *text, struct kymo_error *error) {
  size_t at;
  const char *wrong = kymo_glob_make(glob, text, strlen(text), &at);
  return wrong ? kymo_fail(error, KYMO_E_USAGE, "\"%s\": character %zu: %s", whole,
                           (size_t)(text - whole) + at + 1, wrong)
               : KYMO_OK;
}

static int make_globs(struct choice *choice, struct kymo_error *error) {
  const struct kymo_types_wanted *wanted = choice->wanted;
  choice->globs = calloc(wanted->count + 1, sizeof *choice->globs);
  int status = choice->globs ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < wanted->count && !status; i++) {
    const char *text = wanted->names[i].text, *keyword = keyword_in(text);
    status = make_glob(&choice->globs[i], text, text + (keyword ? strlen(keyword) : 0), error);
  }
  return status || !wanted->unit ? status : make_glob(&choice->unit, wanted->unit, wanted->unit, error);
}

static void free_globs(struct choice *choice) {
  for (size_t i = 0; choice->globs && i < choice->wanted->count; i++)
    kymo_glob_free(&choice->globs[i]);
  free(choice->globs);
  kymo_glob_free(&choice->unit);
}

static bool choose(void *user, Dwarf_Die *die) {
  struct choice *choice = user;
  int tag = dwarf_tag(die);
  const char *name = kymo_dwarf_is_composite(tag) || tag == DW_TAG_typedef ? dwarf_diename(die) : NULL;
  for (size_t i = 0; name && i < choice->wanted->count; i++) {
    struct kymo_types_name *wanted = &choice->wanted->names[i];
    if (!is_meant(wanted->text, &choice->globs[i], tag, name) ||
        (choice->wanted->unit && !is_in_unit(die, choice->wanted->unit, &choice->unit)))
      continue;
    bool is_any = is_glob(wanted->text), is_named = tag == DW_TAG_typedef && !is_any;
    struct kymo_listing_wish wish = {
        .spelling = is_named ? name : NULL, .rank = i, .kind = wanted->kind, .is_glob = is_any};
    if (kymo_listing_add(choice->listing, die, &wish))
      wanted->is_found = true;
    else
      wanted->is_other = true;
  }
  return true;
}

/* ---- suggestions ---- */

struct near {
  const char *name; /* without a keyword */
  struct {
    unsigned distance;
    const char *keyword, *name;
  } best[NEAR_SHOWN];
  unsigned count;
};

/* Keeps the nearest ones, the first of equally near ones before the others. */
static bool compare(void *user, Dwarf_Die *die) {
  struct near *near = user;
  int tag = dwarf_tag(die);
  const char *name = kymo_dwarf_is_composite(tag) || tag == DW_TAG_typedef ? dwarf_diename(die) : NULL;
  if (!name || !kymo_listing_takes(die))
    return true;
  size_t length = strnlen(name, KYMO_NEAREST_LENGTH_MAX),
         wanted = strnlen(near->name, KYMO_NEAREST_LENGTH_MAX);
  unsigned far = kymo_edit_distance(near->name, wanted, name, length), at = near->count;
  if (far > 1 && far > strlen(near->name) / 3)
    return true;
  for (unsigned i = 0; i < near->count; i++)
    if (!strcmp(near->best[i].name, name) && near->best[i].keyword == keyword_of(tag))
      return true;
  while (at > 0 && near->best[at - 1].distance > far)
    at--;
  if (at == NEAR_SHOWN)
    return true;
  near->count += near->count < NEAR_SHOWN;
  memmove(&near->best[at + 1], &near->best[at], (near->count - at - 1) * sizeof *near->best);
  near->best[at].distance = far;
  near->best[at].keyword = keyword_of(tag);
  near->best[at].name = name;
  return true;
}

static void report_unknown(struct kymo_dwarf *dwarf, struct kymo_types_made *made,
                           const struct kymo_types_wanted *wanted, const char *name) {
  const char *space = strrchr(name, ' ');
  struct near near = {.name = space ? space + 1 : name};
  struct kymo_strbuf why = {0};
  if (!is_glob(name))
    kymo_dwarf_walk(dwarf, compare, &near, NULL);
  kymo_strbuf_puts(&why, "the debug information has no such type");
  if (wanted->unit)
    kymo_strbuf_printf(&why, " in a unit \"%s\"", wanted->unit);
  if (near.count)
    kymo_strbuf_puts(&why, "; near it: ");
  for (unsigned i = 0; i < near.count; i++)
    kymo_strbuf_printf(&why, "%s\"%s%s\"", i ? ", " : "", near.best[i].keyword, near.best[i].name);
  if (dwarf->missing) {
    kymo_strbuf_puts(&why, "; not found: ");
    kymo_types_comment(&why, dwarf->missing);
  }
  made->lacks(made->user, name, why.text ? why.text : "out of memory");
  kymo_strbuf_free(&why);
}

/* ---- the file ---- */

static void report_build_id(const struct kymo_dwarf *dwarf, struct kymo_types_made *made) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *bits;
  GElf_Addr address;
  int size = dwfl_module_build_id(dwarf->module, &bits, &address);
  for (int i = 0; i < size && i < (int)(sizeof made->build_id / 2); i++) {
    made->build_id[2 * i] = digits[bits[i] >> 4];
    made->build_id[2 * i + 1] = digits[bits[i] & 15];
  }
}

static int make(struct kymo_dwarf *dwarf, struct choice *choice, struct kymo_types_made *made,
                struct kymo_error *error) {
  int status = kymo_dwarf_walk(dwarf, choose, choice, error);
  if (status)
    return status;
  for (size_t i = 0; i < choice->wanted->count; i++) {
    const struct kymo_types_name *name = &choice->wanted->names[i];
    if (name->is_found || (name->is_other && name->is_traced))
      continue;
    if (name->is_other)
      made->lacks(made->user, name->text, "it is no struct, union or enumeration");
    else
      report_unknown(dwarf, made, choice->wanted, name->text);
    if (name->is_traced)
      made->lacking++;
    else
      made->unknown++;
  }
  report_build_id(dwarf, made);
  return made->unknown ? KYMO_OK : kymo_listing_write(choice->listing, made, error);
}

int kymo_types_make(struct kymo_types_made *made, const struct kymo_types_wanted *wanted,
                    struct kymo_error *error) {
  struct kymo_dwarf dwarf;
  struct choice choice = {.wanted = wanted};
  int status = make_globs(&choice, error);
  if (status) {
    free_globs(&choice);
    return status;
  }
  status = kymo_dwarf_open(&dwarf, wanted->path, error);
  if (!status && !(choice.listing = kymo_listing_new(&dwarf)))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!status)
    status = make(&dwarf, &choice, made, error);
  kymo_listing_free(choice.listing);
  status = kymo_dwarf_close(&dwarf, status, error);
  free_globs(&choice);
  return status;
}
