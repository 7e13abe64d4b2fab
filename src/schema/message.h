/* SPDX-License-Identifier: MIT */
/*
 * Event classes whose print template is a format. An attribute contains the kind of format:
 *
 *   "printf"  a format of printf over the fields of the payload, in their order (%m prints the last)
 *   "cpel"    a format of CPEL over one datum: %s prints the field `text`, %k `symbol`, other conversions
 *             `datum`
 *   "kernel"  a print fmt of the Linux kernel over the fields of the payload, by name (lang/ftrace/print.h)
 */
#ifndef KYMO_SCHEMA_MESSAGE_H
#define KYMO_SCHEMA_MESSAGE_H

#define KYMO_MESSAGE_NAME "kymo.template"
#define KYMO_MESSAGE_KEY "\"" KYMO_MESSAGE_NAME "\""
#define KYMO_MESSAGE_VALUE "\"printf\""
#define KYMO_MESSAGE_CPEL "cpel"
#define KYMO_MESSAGE_CPEL_VALUE "\"" KYMO_MESSAGE_CPEL "\""
#define KYMO_MESSAGE_KERNEL_VALUE "\"kernel\""
#define KYMO_MESSAGE_KERNEL_ATTRIBUTES "{" KYMO_MESSAGE_KEY ":" KYMO_MESSAGE_KERNEL_VALUE "}"
#define KYMO_MESSAGE_ATTRIBUTES "{" KYMO_MESSAGE_KEY ":" KYMO_MESSAGE_VALUE "}"

#endif
