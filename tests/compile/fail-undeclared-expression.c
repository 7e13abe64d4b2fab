/* SPDX-License-Identifier: MIT */
/* expect: ('no_such_variable' undeclared|‘no_such_variable’ (undeclared|was not declared)|undeclared identifier 'no_such_variable') */
#include <kymo/trace.h>

void record(void);

void record(void) { KYMO(group, name, no_such_variable); }
