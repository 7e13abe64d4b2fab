// SPDX-License-Identifier: MIT
// What C++ has and a listing cannot name, beside what it can.
struct base {
  int inherited;
};
struct derived : base {
  int own;
  virtual ~derived() {}
};
class counter {
  int secret;

public:
  int seen;
  static int shared;
  struct inner {
    int i;
  } in;
};
template <class T> struct box { T held; };
enum class strict { A, B };
enum loose { C, D };
namespace space {
struct far {
  int x;
};
} // namespace space
struct all {
  derived d;
  counter c;
  box<int> b;
  strict s;
  loose l;
  space::far f;
  int &r;
  int counter::*m;
};

derived d;
int any(all &a) { return a.l; }
