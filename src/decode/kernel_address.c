/* SPDX-License-Identifier: MIT */
/* Addresses of networks and the like, as the kernel's printk prints them. */
#include "decode/kernel_print.h"
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

static void add_byte(struct kymo_strbuf *out, uint8_t byte, bool is_upper) {
  const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[2] = {digits[byte >> 4], digits[byte & 15]};
  kymo_kernel_add(out, text, 2);
}

/* 16 bits in base 16 */
static void add_word(struct kymo_strbuf *out, unsigned word) {
  char text[4], *at = text + sizeof text;
  do
    *--at = "0123456789abcdef"[word & 15];
  while ((word >>= 4) != 0);
  kymo_kernel_add(out, at, (size_t)(text + sizeof text - at));
}

/* M: 00:11:22:33:44:55, MF with "-", m without signs; R: in the reverse order */
static void add_mac(struct kymo_strbuf *out, const char *letters, const struct kymo_kernel_bytes *bytes) {
  if (bytes->size != 6) {
    kymo_strbuf_puts(out, "INVALIDMAC");
    return;
  }
  const char *sign = letters[0] == 'm' ? "" : letters[1] == 'F' ? "-" : ":";
  for (size_t i = 0; i < 6; i++) {
    if (i)
      kymo_strbuf_puts(out, sign);
    add_byte(out, bytes->data[letters[1] == 'R' ? 5 - i : i], false);
  }
}

static void add_ip4(struct kymo_strbuf *out, char letter, bool is_reverse, const uint8_t *data) {
  for (size_t i = 0; i < 4; i++) {
    uint8_t byte = data[is_reverse ? 3 - i : i];
    kymo_kernel_add(out, ".", i != 0);
    if (letter == 'i')
      kymo_kernel_add(out, "00", byte < 10 ? 2 : byte < 100);
    kymo_kernel_add_decimal(out, byte);
  }
}

static void add_ip6(struct kymo_strbuf *out, char letter, const uint8_t *data) {
  for (size_t i = 0; i < 16; i += 2) {
    if (i && letter == 'I')
      kymo_strbuf_puts(out, ":");
    add_byte(out, data[i], false);
    add_byte(out, data[i + 1], false);
  }
}

/* The longest run of zeros among `count` words, if it is longer than one. */
static size_t longest_zeros(const uint8_t *data, size_t count, size_t *length) {
  size_t best = count;
  *length = 1;
  for (size_t i = 0; i < count; i++) {
    size_t end = i;
    while (end < count && data[2 * end] == 0 && data[2 * end + 1] == 0)
      end++;
    if (end - i > *length) {
      best = i;
      *length = end - i;
    }
  }
  return best;
}

/* The short form; addresses that contain one of IPv4 show it. */
static void add_ip6_short(struct kymo_strbuf *out, const uint8_t *data) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, isatap[3] = {0, 0x5e, 0xfe};
  bool has_ip4 = memcmp(data, mapped, 12) == 0 || ((data[8] & 0xfd) == 0 && memcmp(data + 9, isatap, 3) == 0);
  size_t count = has_ip4 ? 6 : 8, length, zeros = longest_zeros(data, count, &length);
  bool needs_colon = false;
  for (size_t i = 0; i < count; i++) {
    if (i == zeros) {
      kymo_strbuf_puts(out, needs_colon || i == 0 ? "::" : ":");
      needs_colon = false;
      i += length - 1;
      continue;
    }
    kymo_kernel_add(out, ":", needs_colon);
    add_word(out, (unsigned)data[2 * i] << 8 | data[2 * i + 1]);
    needs_colon = true;
  }
  if (!has_ip4)
    return;
  kymo_strbuf_puts(out, needs_colon ? ":" : "");
  add_ip4(out, 'I', false, data + 12);
}

/* A struct sockaddr of IPv4 or IPv6; p: with the port. */
static void add_sockaddr(struct kymo_strbuf *out, const char *letters, bool is_reverse, bool is_big,
                         const struct kymo_kernel_bytes *bytes) {
  bool has_port = strchr(letters, 'p') != NULL, is_short = strchr(letters, 'c') != NULL;
  unsigned family = bytes->size >= 2 ? (unsigned)kymo_kernel_load(bytes->data, 2, is_big) : 0;
  if (family == AF_INET && bytes->size >= 16) {
    add_ip4(out, letters[0], is_reverse, bytes->data + 4);
    if (has_port)
      kymo_strbuf_printf(out, ":%u", (unsigned)bytes->data[2] << 8 | bytes->data[3]);
  } else if (family == AF_INET6 && bytes->size >= 28) {
    kymo_strbuf_puts(out, has_port ? "[" : "");
    if (is_short)
      add_ip6_short(out, bytes->data + 8);
    else
      add_ip6(out, letters[0], bytes->data + 8);
    if (has_port)
      kymo_strbuf_printf(out, "]:%u", (unsigned)bytes->data[2] << 8 | bytes->data[3]);
  } else if (family == AF_INET || family == AF_INET6) {
    kymo_strbuf_puts(out, family == AF_INET ? "INVALIDIPv4" : "INVALIDIPv6");
  }
}

static void add_ip(const struct kymo_kernel_printing *printing, const char *letters, bool is_big,
                   const struct kymo_kernel_bytes *bytes) {
  struct kymo_strbuf *out = printing->out;
  bool is_reverse = strchr(letters + 1, 'l') || (strchr(letters + 1, 'h') && !is_big);
  if (letters[1] == 'S')
    /* trace-cmd reads the family in the order of its own machine */
    add_sockaddr(out, letters, is_reverse, is_big && !printing->is_trace_cmd, bytes);
  else if (letters[1] == '4' && bytes->size == 4)
    add_ip4(out, letters[0], is_reverse, bytes->data);
  else if (letters[1] == '4')
    kymo_strbuf_puts(out, "INVALIDIPv4");
  else if (bytes->size != 16)
    kymo_strbuf_puts(out, "INVALIDIPv6");
  else if (letters[0] == 'I' && letters[2] == 'c')
    add_ip6_short(out, bytes->data);
  else
    add_ip6(out, letters[0], bytes->data);
}

/* U, Ub: as the bytes are; Ul: the first three groups are numbers, the lowest byte first. Upper case: UB, UL.
 */
static void add_uuid(struct kymo_strbuf *out, const char *letters, const struct kymo_kernel_bytes *bytes) {
  static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  if (bytes->size != 16) {
    kymo_strbuf_puts(out, "INVALIDUUID");
    return;
  }
  for (size_t i = 0; i < 16; i++) {
    bool is_little = letters[1] == 'l' || letters[1] == 'L';
    kymo_strbuf_puts(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
    add_byte(out, bytes->data[is_little ? little[i] : i], letters[1] == 'L' || letters[1] == 'B');
  }
}

static void add_buffer(struct kymo_strbuf *out, const char *letters, const struct kymo_kernel_bytes *bytes,
                       size_t most) {
  const char *sign = letters[1] == 'C' ? ":" : letters[1] == 'D' ? "-" : letters[1] == 'N' ? "" : " ";
  for (size_t i = 0; i < most && i < bytes->size; i++) {
    kymo_strbuf_puts(out, i ? sign : "");
    add_byte(out, bytes->data[i], false);
  }
}

bool kymo_kernel_print_address(const struct kymo_kernel_printing *printing, const char *letters,
                               const struct kymo_kernel_bytes *bytes, size_t most) {
  bool is_big = printing->decoder->stream.part->schema->order == KYMO_ORDER_BIG;
  switch (letters[0]) {
  case 'M':
  case 'm': add_mac(printing->out, letters, bytes); return true;
  case 'I':
  case 'i': add_ip(printing, letters, is_big, bytes); return true;
  case 'U': add_uuid(printing->out, letters, bytes); return true;
  case 'h': add_buffer(printing->out, letters, bytes, most); return true;
  default: return false;
  }
}
