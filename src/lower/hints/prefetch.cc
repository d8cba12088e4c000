#include "lower/hints/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ir/arith/region.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Region;
using schedule::LeafLoop;
using schedule::Pragma;
using schedule::Stage;

namespace {

constexpr std::string_view kPrefix = "prefetch_";
constexpr int64_t kLineBytes = 64;

using Box = std::vector<Region>;  // one for each axis

// Finds the boxes of elements that a body reads, as expressions of variables outside of the body.
class ReadBoxes {
 public:
  ReadBoxes(const std::vector<Buffer>& buffers, const arith::Ranges& ranges)
      : buffers_(buffers), ranges_(ranges) {}

  std::map<const BufferNode*, Box> of(const Stmt& body) && {
    stmt(body);
    return std::move(found_);
  }

 private:
  void stmt(const Stmt& s) {
    if (const auto* loop = as<For>(s)) enter(*loop);
    for_each_child(
        s, [&](const Expr& e) { walk(e, [&](const Load& n) { note(n); }); },
        [&](const Stmt& child) { stmt(child); });
  }

  void enter(const For& loop) {
    const auto last = arith::region_of(loop.extent - 1, running_, ranges_);
    inside_.push_back(loop.var);
    if (last) running_[loop.var] = {make_int(0, loop.var->type), last->max};
  }

  void note(const Load& n) {
    if (std::ranges::none_of(buffers_, [&](const Buffer& b) { return b.same_as(n.buffer); }))
      return;
    Box box;
    for (const Expr& index : n.indices) {
      const auto region = arith::region_of(index, running_, ranges_);
      if (!region || is_inside(region->min) || is_inside(region->max)) return;
      box.push_back(*region);
    }
    const auto [known, is_new] = found_.try_emplace(n.buffer.get(), box);
    if (is_new) return;
    for (size_t i = 0; i < box.size(); ++i)
      known->second[i] = arith::join(known->second[i], box[i], ranges_);
  }

  // Whether a variable of the body occurs whose values are not known.
  bool is_inside(const Expr& e) const {
    return std::ranges::any_of(inside_, [&](const Expr& var) { return uses_var(e, var); });
  }

  const std::vector<Buffer>& buffers_;
  const arith::Ranges& ranges_;
  arith::RegionMap running_;
  Exprs inside_;
  std::map<const BufferNode*, Box> found_;
};

bool is_fixed(const Box& box, const Expr& var) {
  return std::ranges::none_of(
      box, [&](const Region& r) { return uses_var(r.min, var) || uses_var(r.max, var); });
}

// Loops over the lines of the box.
Stmt lines_of(const Buffer& buffer, const Box& box, const arith::Ranges& ranges,
              const SourceLocation& where) {
  const int64_t line = std::max<int64_t>(kLineBytes / buffer->type.bytes(), 1);
  Exprs indices, vars, counts;
  for (size_t i = 0; i < box.size(); ++i) {
    const bool last = i + 1 == box.size();
    const Expr extent = box[i].max - box[i].min + 1;
    const Expr count = last ? floordiv(extent + (line - 1), line) : extent;
    counts.push_back(arith::simplify(count, ranges));
    vars.push_back(make_var(buffer->name + ".ahead", counts.back()->type));
    indices.push_back(box[i].min + (last ? vars.back() * line : vars.back()));
  }
  Stmt body = make_prefetch(buffer, indices, where);
  for (size_t i = box.size(); i-- > 0;)
    body = make_for(vars[i], counts[i], LoopKind::Serial, std::move(body), where);
  return body;
}

}  // namespace

std::optional<std::string> prefetched_tensor(const Pragma& pragma) {
  if (!pragma.key.starts_with(kPrefix)) return std::nullopt;
  return pragma.key.substr(kPrefix.size());
}

Stmt prefetched(const Stage& stage, const LeafLoop& loop, const PrefetchHint& hint, Stmt body,
                const arith::Ranges& ranges, std::vector<Diagnostic>& warnings) {
  const auto without = [&](std::string_view why, std::string_view way_out) {
    warnings.push_back(
        {Severity::Warning,
         Code::AnnotationIgnored,
         hint.pragma.location,
         fmt::format("the prefetch of '{}' in the loop '{}' of '{}' has no effect: {}",
                     *prefetched_tensor(hint.pragma), loop.axis->name(), stage.name(), why),
         std::string(way_out),
         {}});
    return body;
  };
  const schedule::AxisAttributes* attributes = stage.attributes_of(loop.axis);
  if (attributes != nullptr && attributes->loop == LoopKind::Vectorized)
    return without("the loop becomes a vector", "name an outer loop");
  const auto is_array = [](const Buffer& b) {
    return b->memory == MemoryScope::Global && has_strides(*b);
  };
  if (!hint.buffers.empty() && std::ranges::none_of(hint.buffers, is_array))
    return without("the tensor is not a row-major array in global memory", "leave it out");
  std::vector<Buffer> arrays;
  std::ranges::copy_if(hint.buffers, std::back_inserter(arrays), is_array);
  const auto boxes = ReadBoxes(arrays, ranges).of(body);
  if (boxes.empty()) {
    return without("the loop reads no elements of it whose indices are known",
                   "name a loop that reads the tensor");
  }
  Stmts statements;
  for (const Buffer& buffer : arrays) {
    const auto box = boxes.find(buffer.get());
    if (box == boxes.end() || is_fixed(box->second, loop.var)) continue;
    const Expr later = loop.var + hint.ahead;
    statements.push_back(substitute(lines_of(buffer, box->second, ranges, hint.pragma.location),
                                    {{loop.var, later}}));
  }
  if (statements.empty())
    return without("each iteration reads the same elements", "name an inner or an outer loop");
  statements.push_back(std::move(body));
  return make_seq(std::move(statements));
}

}  // namespace texloom::lower
