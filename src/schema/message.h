/* SPDX-License-Identifier: MIT */
/* Event classes whose print template is a format of printf over all fields of the payload, in their order (%m prints the last). */
#ifndef KYMO_SCHEMA_MESSAGE_H
#define KYMO_SCHEMA_MESSAGE_H

#define KYMO_MESSAGE_KEY "\"kymo.template\""
#define KYMO_MESSAGE_VALUE "\"printf\""
#define KYMO_MESSAGE_ATTRIBUTES "{" KYMO_MESSAGE_KEY ":" KYMO_MESSAGE_VALUE "}"

#endif
