/* SPDX-License-Identifier: MIT */
/*
 * An entry is written once, when it is asked for or when a member of another needs it. While it is being
 * written it is BUSY: only in a corrupt file a struct contains itself. Types are spelled by their tag, or by
 * the typedef that names them: two units may define different types of one spelling, which differ in their
 * signatures (hashes of names, places and types of all members).
 */
#include "infer/listing.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 64, OTHERS_SHOWN = 3, COLUMNS = 100 };

enum state { NEW, BUSY, LISTED, UNLISTED };

struct definition {
  char *key;      /* first: the tree compares it. "struct point", or the typedef of a type without tag */
  char *spelling; /* the user's spelling, or NULL: the key */
  Dwarf_Die die;
  bool is_defined, is_asked, is_whole; /* whole: nothing left out, no padding: the listing is the bytes */
  enum state state;
  enum kymo_types_kind kind;
  size_t rank;
  uint64_t signature;
  struct kymo_strbuf others; /* units that define it differently */
  unsigned other_count;
  const char *why; /* it is not listed */
};

struct kymo_listing {
  struct kymo_dwarf *dwarf;
  void *tree;
  struct definition **entries;
  size_t count, capacity;
  unsigned walks; /* for what is only declared */
  bool failed;    /* out of memory */
  struct kymo_strbuf *out;
};

/* ---- names ---- */

static bool is_plain(const char *name) {
  if (!name || !*name || (*name >= '0' && *name <= '9'))
    return false;
  for (; *name; name++)
    if (!(*name >= 'a' && *name <= 'z') && !(*name >= 'A' && *name <= 'Z') &&
        !(*name >= '0' && *name <= '9') && *name != '_')
      return false;
  return true;
}

/* "struct point" of a peeled entry, or the name of the typedef for it; NULL if C has no name for it, or if
 * *failed: out of memory. The caller frees it. */
static char *make_key(Dwarf_Die *type, Dwarf_Die *named, bool *failed) {
  static const struct {
    int tag;
    const char *word;
  } words[] = {{DW_TAG_structure_type, "struct "},
               {DW_TAG_class_type, "struct "},
               {DW_TAG_union_type, "union "},
               {DW_TAG_enumeration_type, "enum "}};
  const char *tag = dwarf_diename(type), *alias = named->addr ? dwarf_diename(named) : NULL;
  struct kymo_strbuf key = {0};
  if (tag && is_plain(tag) && (kymo_dwarf_is_c(type) || kymo_dwarf_is_outermost(type)))
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (words[i].tag == dwarf_tag(type))
        kymo_strbuf_printf(&key, "%s%s", words[i].word, tag);
  if (!tag && is_plain(alias))
    kymo_strbuf_puts(&key, alias);
  *failed |= key.failed;
  if (key.failed)
    kymo_strbuf_free(&key);
  return key.text;
}

static const char *spelling_of(const struct definition *entry) {
  return entry->spelling ? entry->spelling : entry->key;
}

/* ---- signatures ---- */

static uint64_t mix(uint64_t seed, uint64_t value) { return kymo_hash64(&value, sizeof value, seed); }

static uint64_t mix_text(uint64_t seed, const char *text) {
  return text ? kymo_hash64(text, strlen(text), seed) : mix(seed, 0);
}

static uint64_t sign(Dwarf_Die *type, unsigned depth);

/* Of a member's type: by name if it has one, so that there are no cycles. */
static uint64_t sign_type(Dwarf_Die *member, unsigned depth) {
  Dwarf_Die type, named = {0};
  uint64_t hash = depth;
  if (!kymo_dwarf_type(member, &type) || !kymo_dwarf_peel(&type, &named) || depth > KYMO_DWARF_DEPTH)
    return hash;
  int tag = dwarf_tag(&type);
  unsigned dimensions = 0;
  hash = mix(hash, (uint64_t)tag);
  if (tag == DW_TAG_atomic_type)
    return mix(hash, sign_type(&type, depth + 1));
  if (tag == DW_TAG_base_type)
    return mix(mix(hash, kymo_dwarf_number(&type, DW_AT_encoding, 0)),
               kymo_dwarf_number(&type, DW_AT_byte_size, 0));
  if (tag == DW_TAG_array_type)
    return mix(mix(hash, kymo_dwarf_elements(&type, &dimensions)), sign_type(&type, depth + 1));
  if (!kymo_dwarf_is_composite(tag))
    return hash;
  return dwarf_diename(&type) ? mix_text(hash, dwarf_diename(&type)) : mix(hash, sign(&type, depth + 1));
}

static uint64_t sign(Dwarf_Die *type, unsigned depth) {
  Dwarf_Die child;
  uint64_t hash = kymo_dwarf_number(type, DW_AT_byte_size, 0);
  if (depth > KYMO_DWARF_DEPTH)
    return hash;
  for (int more = kymo_dwarf_first(type, &child); more > 0; more = kymo_dwarf_next(&child)) {
    int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_enumerator && tag != DW_TAG_inheritance)
      continue;
    hash = mix_text(mix(hash, (uint64_t)tag), dwarf_diename(&child));
    if (tag == DW_TAG_enumerator)
      hash = mix(hash, kymo_dwarf_number(&child, DW_AT_const_value, 0));
    else
      hash = mix(mix(mix(hash, kymo_dwarf_place_bits(&child)), kymo_dwarf_number(&child, DW_AT_bit_size, 0)),
                 sign_type(&child, depth));
  }
  return hash;
}

/* ---- entries ---- */

static int compare_keys(const void *a, const void *b) {
  return strcmp(((const struct definition *)a)->key, ((const struct definition *)b)->key);
}

/* The entry of a key, which it takes over; a new one if there is none. NULL if there is no memory. */
static struct definition *find_entry(struct kymo_listing *listing, char *key) {
  struct definition wanted = {.key = key}, **found = tfind(&wanted, &listing->tree, compare_keys), *entry;
  if (found) {
    free(key);
    return *found;
  }
  if (!KYMO_LIST_ROOM(listing->entries, listing->capacity, listing->count))
    goto failed;
  entry = calloc(1, sizeof *entry);
  if (!entry)
    goto failed;
  entry->key = key;
  entry->rank = SIZE_MAX;
  if (!tsearch(entry, &listing->tree, compare_keys)) {
    free(entry);
    goto failed;
  }
  return listing->entries[listing->count++] = entry;
failed:
  free(key);
  listing->failed = true;
  return NULL;
}

/* The definition of an entry's type in one unit. */
static void define(struct definition *entry, Dwarf_Die *type) {
  bool is_definition = !kymo_dwarf_flag(type, DW_AT_declaration);
  if (!is_definition && entry->die.addr)
    return;
  if (!entry->is_defined) {
    entry->die = *type;
    entry->is_defined = is_definition;
    entry->signature = is_definition ? sign(type, 0) : 0;
  } else if (entry->die.addr != type->addr && sign(type, 0) != entry->signature) {
    if (entry->other_count < OTHERS_SHOWN) {
      kymo_strbuf_puts(&entry->others, entry->other_count ? ", " : "");
      kymo_types_comment(&entry->others, kymo_dwarf_unit(type));
    }
    entry->other_count++;
  }
}

/* The entry of a struct, union or enumeration, reached through `named` if that is not empty; NULL if it has
 * no name. */
static struct definition *entry_of(struct kymo_listing *listing, Dwarf_Die *type, Dwarf_Die *named) {
  char *key = make_key(type, named, &listing->failed);
  struct definition *entry = key ? find_entry(listing, key) : NULL;
  if (entry)
    define(entry, type);
  return entry;
}

struct kymo_listing *kymo_listing_new(struct kymo_dwarf *dwarf) {
  struct kymo_listing *listing = calloc(1, sizeof *listing);
  if (listing)
    listing->dwarf = dwarf;
  return listing;
}

static void keep(void *entry) { (void)entry; }

void kymo_listing_free(struct kymo_listing *listing) {
  if (!listing)
    return;
  tdestroy(listing->tree, keep);
  for (size_t i = 0; i < listing->count; i++) {
    free(listing->entries[i]->key);
    free(listing->entries[i]->spelling);
    kymo_strbuf_free(&listing->entries[i]->others);
    free(listing->entries[i]);
  }
  free(listing->entries);
  free(listing);
}

bool kymo_listing_takes(Dwarf_Die *die) {
  Dwarf_Die type = *die, named = {0};
  if (!kymo_dwarf_peel(&type, &named) || !kymo_dwarf_is_composite(dwarf_tag(&type)))
    return false;
  bool failed = false;
  char *key = make_key(&type, &named, &failed);
  free(key);
  return key || failed; /* it is requested again when it is listed */
}

bool kymo_listing_add(struct kymo_listing *listing, Dwarf_Die *die, const struct kymo_listing_wish *wish) {
  Dwarf_Die type = *die, named = {0};
  if (!kymo_dwarf_peel(&type, &named) || !kymo_dwarf_is_composite(dwarf_tag(&type)))
    return false;
  struct definition *entry = entry_of(listing, &type, &named);
  if (!entry)
    return false;
  entry->is_asked |= !wish->is_glob;
  if (wish->rank < entry->rank)
    entry->rank = wish->rank;
  if (wish->kind != KYMO_TYPES_ANY)
    entry->kind = wish->kind;
  if (wish->spelling && !entry->spelling)
    listing->failed |= !(entry->spelling = strdup(wish->spelling));
  return true;
}

static bool define_declared(void *user, Dwarf_Die *die) {
  Dwarf_Die none = {0};
  if (!kymo_dwarf_is_composite(dwarf_tag(die)) || kymo_dwarf_flag(die, DW_AT_declaration))
    return true;
  struct kymo_listing *listing = user;
  struct definition wanted = {.key = make_key(die, &none, &listing->failed)}, **found;
  if (wanted.key && (found = tfind(&wanted, &listing->tree, compare_keys)))
    define(*found, die);
  free(wanted.key);
  return true;
}

/* Looks for definitions of types that are only declared so far. Such members are rare; a corrupt file may
 * have many. */
static void look_for_definitions(struct kymo_listing *listing) {
  if (listing->walks++ < KYMO_DWARF_DEPTH)
    kymo_dwarf_walk(listing->dwarf, define_declared, listing, NULL);
}

/* ---- members ---- */

/* Words with commas between them, in lines of limited length. */
struct items {
  struct kymo_strbuf text;
  size_t column;
};

static void put_item(struct items *items, const char *item, const char *indent) {
  size_t length = strlen(item);
  bool is_full = items->column + length + 3 > COLUMNS;
  kymo_strbuf_printf(&items->text, "%s%s%s", items->text.length ? "," : "", is_full ? indent : " ", item);
  items->column = is_full ? length + strlen(indent) : items->column + length + 2;
}

/* A listing in the making. */
struct draft {
  struct kymo_listing *listing;
  bool is_union, is_whole;
  unsigned access; /* of members without their own */
  struct items members, left_out, texts;
  unsigned count; /* of the members */
  uint64_t bytes; /* of the listed members */
};

static void put_member(struct draft *draft, const char *text) {
  put_item(&draft->members, text, "\n  ");
  draft->count++;
}

static void leave_out(struct draft *draft, const char *name, const char *why) {
  struct kymo_strbuf text = {0};
  draft->is_whole = false;
  kymo_types_comment(&text, name ? name : "?");
  kymo_strbuf_printf(&text, " (%s)", why);
  draft->members.text.failed |= text.failed;
  put_item(&draft->left_out, text.text ? text.text : "?", "\n   ");
  kymo_strbuf_free(&text);
}

static bool list_entry(struct kymo_listing *listing, struct definition *entry, unsigned depth);

/* The shape of a member, after typedefs, qualifiers and arrays. */
struct shape {
  Dwarf_Die type;
  Dwarf_Die alias, name; /* the first typedef on the way, and the typedef of a type without tag; or empty */
  bool is_atomic;
  unsigned dimensions, steps;
  uint64_t size_bytes;
  const char *problem;
};

/* Counts an array's dimensions. Returns why it cannot be listed, or NULL. */
static const char *add_dimensions(struct shape *shape) {
  unsigned dimensions;
  if (dwarf_hasattr(&shape->type, DW_AT_GNU_vector))
    return "a vector";
  if (!kymo_dwarf_elements(&shape->type, &dimensions))
    return "an array of unknown length";
  shape->dimensions += dimensions;
  return shape->dimensions > 3 ? "an array of more than three dimensions" : NULL;
}

static void find_shape(Dwarf_Die *member, struct shape *shape) {
  static const Dwarf_Die none;
  *shape = (struct shape){.type = *member};
  while (shape->steps++ < KYMO_DWARF_DEPTH && kymo_dwarf_type(&shape->type, &shape->type) &&
         !shape->problem) {
    if (shape->steps == 1)
      shape->size_bytes = kymo_dwarf_size_bytes(&shape->type);
    switch (dwarf_tag(&shape->type)) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type: break;
    case DW_TAG_atomic_type: shape->is_atomic = true; break;
    case DW_TAG_typedef:
      shape->alias = shape->alias.addr ? shape->alias : shape->type;
      shape->name = shape->type;
      break;
    case DW_TAG_array_type:
      shape->alias = shape->name = none;
      shape->problem = add_dimensions(shape);
      break;
    default: return;
    }
  }
  shape->problem = shape->problem ? shape->problem : "its type is damaged";
}

/* Stored as a double, so that it is never whole; on some machines it is one. */
static bool is_long_double(Dwarf_Die *type) {
  const char *name = dwarf_diename(type);
  return name && !strcmp(name, "long double");
}

static const char *number_problem(Dwarf_Die *type) {
  uint64_t size = kymo_dwarf_number(type, DW_AT_byte_size, 0);
  switch (kymo_dwarf_number(type, DW_AT_encoding, 0)) {
  case DW_ATE_boolean:
  case DW_ATE_signed:
  case DW_ATE_unsigned:
  case DW_ATE_signed_char:
  case DW_ATE_unsigned_char:
  case DW_ATE_UTF: return size > 8 ? "a number of more than 64 bits" : NULL;
  case DW_ATE_float:
    return size == 4 || size == 8 || is_long_double(type) ? NULL : "a float of an unusual size";
  default: return "a number of an unusual kind";
  }
}

/* Whether the name of a number's typedef says more than its size. */
static bool is_descriptive(const char *alias) {
  static const char *const sizes[] = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                                      "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (alias && !strcmp(alias, sizes[i]))
      return false;
  return is_plain(alias);
}

static void add_bits(struct draft *draft, const char *name, const struct definition *entry) {
  struct kymo_strbuf text = {0};
  draft->is_whole = false;
  if (draft->is_union) {
    leave_out(draft, name, "a bit-field");
    return;
  }
  if (entry)
    kymo_strbuf_printf(&text, "KYMO_BITS((%s) %s)", spelling_of(entry), name);
  else
    kymo_strbuf_printf(&text, "KYMO_BITS(%s)", name);
  draft->members.text.failed |= text.failed;
  if (text.text)
    put_member(draft, text.text);
  kymo_strbuf_free(&text);
}

/* A member whose type has a listing; NULL and the reason if it has none. */
static struct definition *listed_type(struct draft *draft, struct shape *shape, unsigned depth,
                                      const char **why) {
  bool is_enum = dwarf_tag(&shape->type) == DW_TAG_enumeration_type;
  struct definition *entry = entry_of(draft->listing, &shape->type, &shape->name);
  *why = entry ? "its type cannot be listed" : "its type has no plain name";
  if (!entry)
    return NULL;
  if (!list_entry(draft->listing, entry, depth + 1)) {
    if (!entry->is_defined)
      *why = "its type is not defined in this file";
    return NULL;
  }
  if (draft->is_union && !is_enum && (dwarf_tag(&shape->type) == DW_TAG_union_type || !entry->is_whole)) {
    *why = "a type with padding or parts left out";
    return NULL;
  }
  draft->is_whole &= is_enum || entry->is_whole;
  *why = NULL;
  return entry;
}

static void note_text(struct draft *draft, const char *name, struct shape *shape) {
  Dwarf_Die target;
  const char *type;
  if (shape->dimensions || draft->is_union || !kymo_dwarf_type(&shape->type, &target) ||
      !kymo_dwarf_peel(&target, NULL) || dwarf_tag(&target) != DW_TAG_base_type ||
      !(type = dwarf_diename(&target)) || strcmp(type, "char"))
    return;
  put_item(&draft->texts, name, "\n   ");
}

static void add_members(struct draft *draft, Dwarf_Die *type, unsigned depth);

/* Why the form of a member cannot be listed, or NULL. */
static const char *member_problem(Dwarf_Die *member, const char *name, const struct draft *draft) {
  if (dwarf_tag(member) == DW_TAG_inheritance)
    return "a base class";
  if (!is_plain(name) || kymo_dwarf_flag(member, DW_AT_artificial))
    return "made by the compiler";
  if (kymo_dwarf_number(member, DW_AT_accessibility, draft->access) != DW_ACCESS_public)
    return "not public";
  if (draft->count >= MEMBERS_MAX)
    return "a listing has 64 members at most";
  return NULL;
}

static void add_named(struct draft *draft, Dwarf_Die *member, const char *name, unsigned depth) {
  struct shape shape;
  struct definition *entry = NULL;
  struct kymo_strbuf text = {0};
  const char *alias, *why = NULL;
  find_shape(member, &shape);
  int tag = shape.problem ? 0 : dwarf_tag(&shape.type);
  if (shape.problem)
    why = shape.problem;
  else if (kymo_dwarf_is_composite(tag) && shape.is_atomic)
    why = "an atomic struct or union"; /* whose size may be another */
  else if (kymo_dwarf_is_composite(tag))
    entry = listed_type(draft, &shape, depth, &why);
  else if (tag == DW_TAG_base_type)
    why = draft->is_union && is_long_double(&shape.type) ? "a long double" : number_problem(&shape.type);
  else if (tag != DW_TAG_pointer_type)
    why = "neither number, pointer, struct, union nor enumeration";
  else if (draft->is_union)
    why = "a pointer";
  if (!entry && tag == DW_TAG_enumeration_type)
    why = NULL; /* an integer */
  if (why) {
    leave_out(draft, name, why);
    return;
  }
  if (dwarf_hasattr(member, DW_AT_bit_size)) {
    add_bits(draft, name, entry);
    return;
  }
  if (tag == DW_TAG_pointer_type)
    note_text(draft, name, &shape);
  draft->is_whole &= !is_long_double(&shape.type);
  alias = tag == DW_TAG_base_type && !shape.is_atomic && !shape.dimensions && shape.alias.addr
              ? dwarf_diename(&shape.alias)
              : NULL;
  if (entry)
    kymo_strbuf_printf(&text, "(%s) ", spelling_of(entry));
  else if (is_descriptive(alias))
    kymo_strbuf_printf(&text, "(%s) ", alias);
  kymo_strbuf_puts(&text, name);
  draft->members.text.failed |= text.failed;
  put_member(draft, text.text ? text.text : name);
  draft->bytes += shape.size_bytes;
  kymo_strbuf_free(&text);
}

static void add_member(struct draft *draft, Dwarf_Die *member, unsigned depth) {
  const char *name = dwarf_diename(member);
  struct shape shape;
  if (kymo_dwarf_flag(member, DW_AT_external) || kymo_dwarf_flag(member, DW_AT_declaration))
    return; /* static */
  if (dwarf_tag(member) == DW_TAG_member && !name) {
    find_shape(member, &shape);
    if (!shape.problem && kymo_dwarf_is_composite(dwarf_tag(&shape.type))) {
      /* C accesses the members of a struct without name through the surrounding struct */
      draft->is_whole &= dwarf_tag(&shape.type) == DW_TAG_structure_type;
      add_members(draft, &shape.type, depth + 1);
    }
    return;
  }
  const char *problem = member_problem(member, name, draft);
  Dwarf_Die base;
  if (dwarf_tag(member) == DW_TAG_inheritance && kymo_dwarf_type(member, &base))
    name = dwarf_diename(&base);
  if (problem)
    leave_out(draft, name, problem);
  else
    add_named(draft, member, name, depth);
}

static void add_members(struct draft *draft, Dwarf_Die *type, unsigned depth) {
  Dwarf_Die child;
  if (depth > KYMO_DWARF_DEPTH)
    return;
  unsigned access = draft->access;
  draft->access = dwarf_tag(type) == DW_TAG_class_type ? DW_ACCESS_private : DW_ACCESS_public;
  for (int more = kymo_dwarf_first(type, &child); more > 0; more = kymo_dwarf_next(&child))
    if (dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance)
      add_member(draft, &child, depth);
  draft->access = access;
}

/* ---- enumerations ---- */

static uint64_t value_of(Dwarf_Die *enumerator, bool *is_negative) {
  Dwarf_Attribute found;
  Dwarf_Sword value = 0;
  *is_negative = dwarf_attr(enumerator, DW_AT_const_value, &found) && !dwarf_formsdata(&found, &value) &&
                 value < 0 && found.form != DW_FORM_udata && found.form != DW_FORM_data1 &&
                 found.form != DW_FORM_data2 && found.form != DW_FORM_data4 && found.form != DW_FORM_data8;
  return *is_negative ? (uint64_t)value : kymo_dwarf_number(enumerator, DW_AT_const_value, 0);
}

/* Whether a value has more than one bit set: as a flag it would show wherever one of them is set. */
static bool is_mixed(uint64_t value) { return value & (value - 1); }

/* Whether the values are bits and combinations of them. Consecutive values, as the compiler numbers them, are
 * not flags. */
static bool looks_like_flags(Dwarf_Die *type) {
  Dwarf_Die child;
  uint64_t bits = 0, all = 0, previous = 0, count = 0;
  bool is_negative = false, has_others = false, is_row = true;
  for (int more = kymo_dwarf_first(type, &child); more > 0; more = kymo_dwarf_next(&child)) {
    if (dwarf_tag(&child) != DW_TAG_enumerator)
      continue;
    uint64_t value = value_of(&child, &is_negative);
    if (is_negative)
      return false;
    bool is_bit = value && !is_mixed(value);
    is_row &= !count++ || value == previous + 1;
    has_others |= !is_bit;
    previous = value;
    bits |= is_bit ? value : 0;
    all |= value;
  }
  return is_mixed(bits) && !(all & ~bits) && (!has_others || !is_row);
}

static void add_enumerators(struct draft *draft, Dwarf_Die *type, bool are_flags) {
  Dwarf_Die child;
  bool is_negative;
  for (int more = kymo_dwarf_first(type, &child); more > 0; more = kymo_dwarf_next(&child)) {
    const char *name = dwarf_tag(&child) == DW_TAG_enumerator ? dwarf_diename(&child) : NULL;
    if (dwarf_tag(&child) != DW_TAG_enumerator)
      continue;
    if (!is_plain(name))
      leave_out(draft, name, "no plain name");
    else if (draft->count >= MEMBERS_MAX)
      leave_out(draft, name, "a listing has 64 members at most");
    else if (are_flags && is_mixed(value_of(&child, &is_negative)))
      leave_out(draft, name, "more than one bit");
    else
      put_member(draft, name);
  }
}

/* ---- listings ---- */

static const char *macro_of(const struct definition *entry, Dwarf_Die *type) {
  switch (dwarf_tag(type)) {
  case DW_TAG_union_type: return "KYMO_UNION_TYPE";
  case DW_TAG_enumeration_type:
    return entry->kind == KYMO_TYPES_FLAGS || (entry->kind != KYMO_TYPES_ENUM && looks_like_flags(type))
               ? "KYMO_FLAGS_TYPE"
               : "KYMO_ENUM_TYPE";
  default: return "KYMO_STRUCT_TYPE";
  }
}

static void write_comments(struct kymo_strbuf *out, const struct definition *entry, Dwarf_Die *type,
                           const struct draft *draft) {
  if (entry->other_count) {
    kymo_strbuf_printf(out, "/* %s: as in ", spelling_of(entry));
    kymo_types_comment(out, kymo_dwarf_unit(type));
    kymo_strbuf_printf(out, "; it is different in %s", entry->others.text ? entry->others.text : "others");
    if (entry->other_count > OTHERS_SHOWN)
      kymo_strbuf_printf(out, " and %u more", entry->other_count - OTHERS_SHOWN);
    kymo_strbuf_puts(out, " (--unit chooses) */\n");
  }
  if (draft->left_out.text.text)
    kymo_strbuf_printf(out, "/* %s, left out:%s */\n", spelling_of(entry), draft->left_out.text.text);
  if (draft->texts.text.text)
    kymo_strbuf_printf(out, "/* %s, KYMO_TEXT(…) stores the text instead of the address:%s */\n",
                       spelling_of(entry), draft->texts.text.text);
}

static bool list_definition(struct kymo_listing *listing, struct definition *entry, unsigned depth) {
  Dwarf_Die type = entry->die; /* the entry may get another one meanwhile */
  struct draft draft = {
      .listing = listing, .is_whole = true, .is_union = dwarf_tag(&type) == DW_TAG_union_type};
  const char *macro = macro_of(entry, &type);
  draft.members.column = strlen(macro) + 1 + strlen(spelling_of(entry)) + 2;
  draft.left_out.column = 16 + strlen(spelling_of(entry));
  draft.texts.column = 61 + strlen(spelling_of(entry));
  if (dwarf_tag(&type) == DW_TAG_enumeration_type)
    add_enumerators(&draft, &type, !strcmp(macro, "KYMO_FLAGS_TYPE"));
  else
    add_members(&draft, &type, depth);
  entry->is_whole = draft.is_whole && draft.bytes == kymo_dwarf_number(&type, DW_AT_byte_size, 0);
  listing->failed |= entry->others.failed;
  write_comments(listing->out, entry, &type, &draft);
  if (draft.count)
    kymo_strbuf_printf(listing->out, "%s(%s,%s)\n\n", macro, spelling_of(entry), draft.members.text.text);
  else
    kymo_strbuf_printf(listing->out, "/* %s has no member that can be listed */\n\n", spelling_of(entry));
  entry->why = draft.count ? NULL : "it has no member that can be listed";
  struct items *const all[] = {&draft.members, &draft.left_out, &draft.texts};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    listing->failed |= all[i]->text.failed;
    kymo_strbuf_free(&all[i]->text);
  }
  return !entry->why;
}

/* Why a definition cannot be listed at all, or NULL. */
static const char *entry_problem(struct kymo_listing *listing, struct definition *entry, unsigned depth) {
  if (!entry->is_defined)
    look_for_definitions(listing);
  if (!entry->is_defined)
    return "it is declared, but defined nowhere in this file";
  if (!kymo_dwarf_number(&entry->die, DW_AT_decl_line, 0)) /* va_list's struct */
    return "it is the compiler's own";
  if (entry->kind == KYMO_TYPES_VARIANT)
    return "its tags must be listed by hand: KYMO_VARIANT_TYPE";
  if (kymo_dwarf_flag(&entry->die, DW_AT_enum_class))
    return "an enum class of C++";
  return depth > KYMO_DWARF_DEPTH ? "it is nested too deeply" : NULL;
}

/* Writes an entry if it was not written yet. Returns whether it has a listing. */
static bool list_entry(struct kymo_listing *listing, struct definition *entry, unsigned depth) {
  if (entry->state != NEW)
    return entry->state == LISTED;
  entry->state = BUSY;
  entry->why = entry_problem(listing, entry, depth);
  if (entry->why && (entry->is_asked || entry->is_defined))
    kymo_strbuf_printf(listing->out, "/* %s is not listed: %s */\n\n", spelling_of(entry), entry->why);
  entry->state = !entry->why && list_definition(listing, entry, depth) ? LISTED : UNLISTED;
  return entry->state == LISTED;
}

static int compare_ranks(const void *a, const void *b) {
  const struct definition *x = *(struct definition *const *)a, *y = *(struct definition *const *)b;
  return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : strcmp(x->key, y->key);
}

int kymo_listing_write(struct kymo_listing *listing, struct kymo_types_made *made, struct kymo_error *error) {
  size_t asked = listing->count; /* entries that members add come later in the list, and are written before
                                  * those */
  listing->out = &made->listings;
  qsort(listing->entries, asked, sizeof(struct definition *), compare_ranks);
  for (size_t i = 0; i < asked; i++) {
    struct definition *entry = listing->entries[i];
    if (list_entry(listing, entry, 0)) {
      made->listed++;
      continue;
    }
    if (!entry->is_asked)
      continue;
    made->lacking++;
    made->lacks(made->user, spelling_of(entry), entry->why);
  }
  return listing->failed || listing->out->failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}
