// SPDX-License-Identifier: MIT
// Functions of C++ by all kinds of names.
namespace net {
template <class T, int N> struct ring {
  T items[N];
  explicit ring(T first) : items{first} {}
  ~ring() {}
  T &operator[](int i) { return items[i]; }
  bool operator<(const ring &other) const { return items[0] < other.items[0]; }
  operator T() const { return items[0]; }
  template <class U> U as(U unused) const volatile { return unused; }
};
namespace {
int hidden(const char *const *, int (*)(double), int (&)[3], long double, unsigned char) { return 1; }
} // namespace
struct outer {
  struct inner {
    static int count(outer *, inner &&, const inner &) { return 2; }
  };
  int member(int outer::*, int (outer::*)(int) const) & { return 3; }
  int here(int) const { return value; }
  int value = 4;
};
template <class... Types> int many(Types... values) { return (0 + ... + values); }
template <class Type> auto twice(Type &&value) -> Type { return value + value; }
} // namespace net
static double halve(int n) { return n / 2.0; }
static int to_int(double d) { return (int)d; }

int main() {
  net::ring<int, 3> one(1), two(2);
  net::outer outer;
  const char *const *texts = nullptr;
  auto lambda = [&](int n) { return n + one[0]; };
  int sum = one < two ? int(one) : 0;
  sum +=
      two.as(5) + net::hidden(texts, to_int, one.items, 1.0L, 'c') + net::outer::inner::count(&outer, {}, {});
  sum += outer.member(&net::outer::value, &net::outer::here) + net::many(1, 2L, 3) + net::many() +
         net::twice(7) + lambda(1) + (int)halve(3);
  return sum ? 0 : 1;
}
