/* SPDX-License-Identifier: MIT */
/* A program whose struct grows from VERSION 1 to 2. */
#include <kymo/trace.h>

#if VERSION == 1
struct user {
  int id;
  char name[8];
};
KYMO_STRUCT_TYPE(struct user, id, name)
#else
struct user {
  long long id;
  int age;
  char name[8];
};
KYMO_STRUCT_TYPE(struct user, id, age, name)
#endif

int main(void) {
  struct user user = {.id = VERSION, .name = "root"};
  KYMO(app, login, KYMO_STRUCT(user, struct user, &user));
  return 0;
}
