// Guards of vectorized loops that end inside a vector.
#pragma once

#include <optional>

#include "ir/expr.h"

namespace texloom::lower {

// What a guard says of the lanes of a vector: all, some first ones, or none.
struct VectorTail {
  ir::Expr others;  // the conditions that do not depend on the lane; null without
  ir::Expr room;    // how many lanes are inside, if there is room for no more
  int rest = 0;     // the room of a vector that is neither all inside nor all outside
};

// The tail of a loop over `lanes` lanes whose body is under this guard. nullopt if other lanes than
// the first ones may be inside, or if the number of lanes of the last vector is not the same for
// all vectors:
//     o < 2 && v * 16 + lane < 58    ->    others o < 2, room 58 - v * 16, rest 10
std::optional<VectorTail> tail_of(const ir::Expr& guard, const ir::Expr& lane, int lanes);

}  // namespace texloom::lower
