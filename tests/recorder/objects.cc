/* SPDX-License-Identifier: MIT */
/*
 * C++: an exception in an argument leaves no event and no other effect; constructors and destructors of
 * static objects record; templates, inline functions of two files, lambdas and members each have their own
 * tracepoints.
 */
#include "objects.h"
#include <stdexcept>
#include <string>

struct life {
  life() { KYMO(life, begins); }
  ~life() { KYMO(life, ends); }
};
static life of_the_program;

static int throwing(int i) {
  if (i % 2)
    throw std::runtime_error("odd");
  return i;
}

struct point {
  int x, y;
  void tell() const { KYMO(point, told, x, y, KYMO_AS(sum, this->x + this->y)); }
};

int main() {
  int caught = 0;
  for (int i = 0; i < 1000; i++) {
    std::string text("a string of more than sixteen characters");
    try {
      KYMO(object, argument, i, throwing(i), KYMO_AS(text, text.c_str()));
    } catch (const std::runtime_error &) {
      caught++;
    }
  }
  KYMO(object, caught, caught);
  in_a_template(1);
  in_a_template(2.5);
  in_a_template("three");
  inline_in_both(1);
  other_file();
  point{3, 4}.tell();
  auto lambda = [](int value) { KYMO(object, lambda, value); };
  lambda(6);
  enum class scoped : unsigned char { five = 5 };
  KYMO(object, scoped, KYMO_AS(value, scoped::five), KYMO_AS(yes, true),
       KYMO_AS(null, (const char *)nullptr));
  return 0;
}
