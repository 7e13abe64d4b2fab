/* SPDX-License-Identifier: MIT */
/* Names of C++: a table of names that compilers make, and of names that none should make. */
#include "rounds.h"
#include "symbols/demangle.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *demangle(const char *mangled) {
  static char out[4096];
  return kymo_demangle(mangled, out, sizeof out) ? out : "-";
}

static void names_are_as_people_write_them(void **state) {
  static const char *const names[][2] = {
      {"_Z3foov", "foo()"},
      {"_Z3fooiz", "foo(int, ...)"},
      {"_ZN3net4conn4sendEPKcm", "net::conn::send(char const*, unsigned long)"},
      {"_ZNK3net4conn4sizeEv", "net::conn::size() const"},
      {"_ZNO3net4conn4takeEv", "net::conn::take() &&"},
      {"_ZN3net4connC1ERKS0_", "net::conn::conn(net::conn const&)"},
      {"_ZN3net4connD0Ev", "net::conn::~conn()"},
      {"_ZN3netlsERNS_4connEi", "net::operator<<(net::conn&, int)"},
      {"_ZN3net4conncvbEv", "net::conn::operator bool()"},
      {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
      {"_Z5twiceIiET_S0_", "int twice<int>(int)"},
      {"_Z4manyIJilEEvDpT_", "void many<int, long>(int, long)"},
      {"_Z4manyIJEEvDpT_", "void many<>()"},
      {"_Z4passIRiEvOT_", "void pass<int&>(int&)"},
      {"_Z4passIOiEvRT_", "void pass<int&&>(int&)"},
      {"_Z3fooPFivE", "foo(int (*)())"},
      {"_Z3fooPFPFvcEiE", "foo(void (*(*)(int))(char))"},
      {"_Z3fooRA3_A4_i", "foo(int (&) [3][4])"},
      {"_Z3fooM3netKFivE", "foo(int (net::*)() const)"},
      {"_Z3fooM3neti", "foo(int net::*)"},
      {"_Z3fooSt6vectorIS_IiSaIiEESaIS1_EE",
       "foo(std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, "
       "std::allocator<int> > > >)"},
      {"_Z3fooSt6vectorIiSaIiEE", "foo(std::vector<int, std::allocator<int> >)"},
      {"_Z3fooRKSs", "foo(std::string const&)"},
      {"_ZNSsC2Ev", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()"},
      {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeB5cxx11Ev",
       "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size[abi:cxx11]()"},
      {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
      {"_ZZ3foovE1x_0", "foo()::x"},
      {"_ZZN3net4conn4sendEvENKUlT_E0_clIiEEDaS1_",
       "auto net::conn::send()::{lambda(auto:1)#2}::operator()<int>(int) const"},
      {"_Z3fooILi5ELb1ELin3ELm7EEvv", "void foo<5, true, -3, 7ul>()"},
      {"_Z3fooIL4kind2EEvv", "void foo<(kind)2>()"},
      {"_ZTV3net", "vtable for net"},
      {"_ZThn16_N3net4sendEv", "non-virtual thunk to net::send()"},
      {"_Z3fooi.part.0.constprop.1", "foo(int) [clone .part.0] [clone .constprop.1]"},
      {"_ZL5valuei", "value(int)"},
      {"_Zli2_sy", "operator\"\" _s(unsigned long long)"},
      {"_Z3fooDnDsPVKi", "foo(decltype(nullptr), char16_t, int const volatile*)"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_string_equal(demangle(names[i][0]), names[i][1]);
}

/* Texts that are no such name, are cut off, refer to nothing, or would be endless. */
static void other_texts_are_refused(void **state) {
  static const char *const texts[] = {"",
                                      "_Z",
                                      "main",
                                      "_Z3fo",
                                      "_Z99999999999999999999foo",
                                      "_Z3fooS_",
                                      "_Z3fooT_",
                                      "_ZN3foo",
                                      "_ZN",
                                      "_Z3fooiE",
                                      "_Z3foo.",
                                      "_Z3fooIXadL_Z1xEEEvv",
                                      "_Z3fooDTplfp_fp_E",
                                      "_ZC1v",
                                      "_Z3fooISZZZZZZZ_Evv",
                                      "_Z0v"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_string_equal(demangle(texts[i]), "-");
  char small[9];
  assert_false(kymo_demangle("_Z3fooid", small, 8));
  assert_false(kymo_demangle("_Z3foov", small, 5));
  assert_true(kymo_demangle("_Z3foov", small, 6));
}

/* Each level doubles the text: 2^60 bytes, but for the bound. */
static void growth_is_bounded(void **state) {
  char name[8192] = "_Z1fSt4pairIiiE", *at = name + strlen(name);
  (void)state;
  for (char last = '_'; at < name + 400;) {
    char sub[3] = {last == '_' ? 0 : last, '_', 0};
    if (last == '_')
      at += snprintf(at, 16, "S_IS0_S0_E");
    else
      at += snprintf(at, 16, "S_IS%sS%sE", sub, sub);
    last = last == '_' ? '1' : last == '9' ? 'A' : (char)(last + 1);
  }
  assert_string_equal(demangle(name), "-");
  memset(name, 'P', sizeof name - 1);
  memcpy(name, "_Z1f", 4);
  name[sizeof name - 1] = 0;
  assert_string_equal(demangle(name), "-");
  for (size_t i = 4; i + 1 < sizeof name; i++)
    name[i] = i % 2 ? 'I' : 'N';
  assert_string_equal(demangle(name), "-");
}

static void random_names_do_no_harm(void **state) {
  static const char letters[] = "_ZNSTIELJDpFPRKOMAtCUlbBivcjmx0123456789.";
  static const char seed[] = "_ZNKSt3net4connIJiRKNS_4pairIcLi3EEEEE4sendIPFivEEEDaDpOT_S3_";
  char name[160];
  (void)state;
  srand(1);
  for (int i = 0; i < (int)rounds(200000); i++) {
    size_t length = sizeof seed - 1;
    memcpy(name, seed, length + 1);
    for (int k = rand() % 6; k >= 0; k--) {
      size_t at = 2 + (size_t)rand() % (length - 2);
      if (rand() % 3 == 0 && length < sizeof name - 2) {
        memmove(name + at + 1, name + at, length - at + 1);
        length++;
      }
      name[at] = letters[(size_t)rand() % (sizeof letters - 1)];
    }
    demangle(name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_as_people_write_them),
      cmocka_unit_test(other_texts_are_refused),
      cmocka_unit_test(growth_is_bounded),
      cmocka_unit_test(random_names_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
