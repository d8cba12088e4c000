#include "lower/kernels/drop_border_guards.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Ranges;

namespace {

// Whether the value is +0, as in the border of an image.
bool is_zero(const Expr& e) {
  if (const auto* all = as<Broadcast>(e)) return is_zero(all->value);
  if (const auto* number = as<FloatImm>(e))
    return number->value == 0 && !std::signbit(number->value);
  return is_int(e, 0);
}

using Texels = std::vector<const TextureLoad*>;

// Whether the value is zero if all its texels are zero; adds the texels to `texels`.
bool is_zero_with_texels(const Expr& e, Texels& texels) {
  if (const auto* load = as<TextureLoad>(e)) {
    texels.push_back(load);
    return true;
  }
  if (const auto* lane = as<Lane>(e)) {
    return int_value(lane->index) != nullptr && is_zero_with_texels(lane->vector, texels);
  }
  if (const auto* cast = as<Cast>(e)) return is_zero_with_texels(cast->value, texels);
  if (const auto* all = as<Broadcast>(e)) return is_zero_with_texels(all->value, texels);
  const auto* pack = as<Pack>(e);
  return pack != nullptr &&
         std::all_of(pack->elements.begin(), pack->elements.end(),
                     [&](const Expr& each) { return is_zero_with_texels(each, texels); });
}

// Whether the expression may be evaluated anywhere: it reads no memory and cannot fail.
bool is_plain(const Expr& e) { return !arith::reads_memory(e) && !Failures().possible_in(e); }

// Whether the texel may be read whatever its coordinates are, and is zero outside its rectangle.
bool has_zero_border(const TextureLoad& load) {
  return load.texture->origin.exact_image && is_plain(load.x) && is_plain(load.y);
}

Expr as_type(const Expr& e, Type type) { return e->type == type ? e : make_cast(type, e); }

bool is_outside(const TextureLoad& load, const Ranges& known) {
  const auto beyond = [&](const Expr& coordinate, const Expr& extent) {
    if (arith::linear_sum(coordinate, known).bounds(known).max < 0) return true;
    const Expr past = coordinate - as_type(extent, coordinate->type);
    return arith::linear_sum(past, known).bounds(known).min >= 0;
  };
  return beyond(load.x, col_count(*load.texture)) || beyond(load.y, row_count(*load.texture));
}

void add_parts(const Expr& condition, Exprs& parts) {
  const auto* both = as<Binary>(condition);
  if (both == nullptr || both->op != BinaryOp::And) return parts.push_back(condition);
  add_parts(both->a, parts);
  add_parts(both->b, parts);
}

Expr without_guards(const Select& n, const Expr& self, const Ranges& known) {
  Texels texels;
  if (!n.condition->type.is_scalar() || !is_zero(n.if_false) ||
      !is_zero_with_texels(n.if_true, texels) ||
      !std::all_of(texels.begin(), texels.end(),
                   [](const TextureLoad* load) { return has_zero_border(*load); })) {
    return self;
  }
  Exprs parts;
  add_parts(n.condition, parts);
  // Tries the parts one by one: a part can be removed only if the remaining parts give the same
  // result. A part also guards the parts after it, which may read memory that exists only if this
  // part holds.
  for (size_t i = 0; i < parts.size();) {
    const auto after = parts.begin() + static_cast<ptrdiff_t>(i) + 1;
    if (!std::all_of(after, parts.end(), is_plain)) {
      ++i;
      continue;
    }
    Ranges outside = known;
    for (size_t other = 0; other < parts.size(); ++other) {
      outside.assume(parts[other], other != i);
    }
    if (std::all_of(texels.begin(), texels.end(),
                    [&](const TextureLoad* load) { return is_outside(*load, outside); })) {
      parts.erase(after - 1);
    } else {
      ++i;
    }
  }
  if (parts.empty()) return n.if_true;
  Expr condition = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) condition = condition && parts[i];
  return make_select(condition, n.if_true, n.if_false);
}

Stmt without_guards(const Stmt& s, const Ranges& known) {
  Ranges inside = known;
  if (const auto* loop = as<For>(s)) inside.enter(*loop);
  if (const auto* let = as<Let>(s)) inside.enter(*let);
  if (const auto* guard = as<If>(s)) inside.assume(guard->condition);
  return map_children(
      s,
      [&](const Expr& e) {
        return rewrite(
            e, [&](const Select& n, const Expr& self) { return without_guards(n, self, known); });
      },
      [&](const Stmt& child) { return without_guards(child, inside); });
}

bool reads_exact_images(const Kernel& kernel) {
  return std::any_of(kernel.params.begin(), kernel.params.end(), [](const KernelParam& p) {
    return p.buffer && p.buffer->origin.exact_image && p.access == Access::Read;
  });
}

}  // namespace

void drop_border_guards(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    if (!reads_exact_images(kernel)) continue;
    Ranges known = ranges_of_params(kernel);
    for (const ThreadAxis& axis : kernel.axes) known.enter(axis.var, axis.extent);
    kernel.body = without_guards(kernel.body, known);
  }
}

}  // namespace texloom::lower
