#include "codegen/c/border_reads.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::codegen {

using namespace ir;  // the whole file works on IR nodes
using arith::Ranges;

namespace {

using Seen = std::unordered_set<const ExprNode*>;

class BorderFinder {
 public:
  std::unordered_set<const BufferNode*> run(const Kernel& kernel) {
    Ranges known = ranges_of_params(kernel);
    for (const ThreadAxis& axis : kernel.axes) known.enter(axis.var, axis.extent);
    stmt(kernel.body, known);
    return std::move(found_);
  }

 private:
  void stmt(const Stmt& s, const Ranges& known) {
    Seen seen;
    Ranges inside = known;
    if (const auto* loop = as<For>(s)) inside.enter(*loop);
    if (const auto* let = as<Let>(s)) inside.enter(*let);
    if (const auto* guard = as<If>(s)) inside.assume(guard->condition);
    for_each_child(
        s, [&](const Expr& e) { expr(e, known, seen); },
        [&](const Stmt& child) { stmt(child, inside); });
  }

  // `seen`: the expressions that were visited with the same known ranges.
  void expr(const Expr& e, const Ranges& known, Seen& seen) {
    if (!has_texel(e) || !seen.insert(e.get()).second) return;
    if (const auto* load = as<TextureLoad>(e)) see(*load, known);
    const auto* select = as<Select>(e);
    if (select == nullptr || !select->condition->type.is_scalar()) {
      return for_each_child(e, [&](const Expr& child) { expr(child, known, seen); });
    }
    expr(select->condition, known, seen);
    branch(select->if_true, select->condition, true, known);
    branch(select->if_false, select->condition, false, known);
  }

  // An operand of a Select, which is evaluated only if it is chosen.
  void branch(const Expr& e, const Expr& condition, bool holds, const Ranges& known) {
    if (!has_texel(e)) return;
    Ranges more = known;
    more.assume(condition, holds);
    Seen seen;
    expr(e, more, seen);
  }

  bool has_texel(const Expr& e) {
    if (const auto known = has_texel_.find(e.get()); known != has_texel_.end()) {
      return known->second;
    }
    bool found = e->kind == ExprKind::TextureLoad;
    for_each_child(e, [&](const Expr& child) { found = has_texel(child) || found; });
    has_texel_.emplace(e.get(), found);
    return found;
  }

  void see(const TextureLoad& load, const Ranges& known) {
    if (found_.contains(load.texture.get())) return;
    const Layout& layout = load.texture->layout;
    const TextureOrigin& origin = load.texture->origin;
    if (!is_inside(load.x, origin.x, layout.cols, known) ||
        !is_inside(load.y, origin.y, layout.rows, known)) {
      found_.insert(load.texture.get());
    }
  }

  // Whether the coordinate, minus the origin if there is one, is proven to be inside the image.
  // False for an open layout, whose extent is known only at the call.
  static bool is_inside(const Expr& coordinate, const Expr& origin, const LayoutParts& parts,
                        const Ranges& known) {
    const bool is_open = std::any_of(parts.begin(), parts.end(), [](const LayoutPart& part) {
      return part.extent == kToTheEnd;
    });
    if (is_open) return false;
    const int64_t extent = count_of(parts);
    arith::LinearSum sum = arith::linear_sum(coordinate, known);
    if (origin) sum = sum.plus(arith::linear_sum(origin, known), -1);
    return sum.bounds(known).within(0, extent - 1);
  }

  std::unordered_set<const BufferNode*> found_;
  std::unordered_map<const ExprNode*, bool> has_texel_;  // the kernel keeps the keys alive
};

}  // namespace

std::unordered_set<const BufferNode*> textures_with_border(const Kernel& kernel) {
  const bool reads_textures =
      std::any_of(kernel.params.begin(), kernel.params.end(), [](const KernelParam& p) {
        return p.buffer && p.buffer->is_texture() && p.access == Access::Read;
      });
  if (!reads_textures) return {};
  return BorderFinder().run(kernel);
}

}  // namespace texloom::codegen
