#include "lower/loops/lanes.h"

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

Expr lane_of(const Expr& e, int lane) {
  if (e->type.is_scalar()) return e;
  const auto inner = [lane](const Expr& child) { return lane_of(child, lane); };
  return visit(
      e, [&](const Binary& n) { return make_binary(n.op, inner(n.a), inner(n.b), n.location); },
      [&](const Not& n) { return make_not(inner(n.value)); },
      [&](const Select& n) {
        return make_select(inner(n.condition), inner(n.if_true), inner(n.if_false));
      },
      [&](const Cast& n) { return make_cast(n.type.element(), inner(n.value)); },
      [&](const Call& n) {
        Exprs arguments;
        for (const Expr& argument : n.arguments) arguments.push_back(inner(argument));
        return make_call(n.function, std::move(arguments));
      },
      [&](const Load& n) {
        Exprs indices;
        for (const Expr& index : n.indices) indices.push_back(inner(index));
        return make_load_as(n.type.element(), n.buffer, std::move(indices), n.location);
      },
      // make_lane simplifies lanes of Ramp, Broadcast and Pack.
      [&](const auto&) { return make_lane(e, make_int(lane)); });
}

}  // namespace texloom::lower
