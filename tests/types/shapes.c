/* SPDX-License-Identifier: MIT */
#include "shapes.h"

struct shape shape;
union value value;
enum pair pair;
enum row row;
enum twice twice;
struct later *later;
