#include "graph/copies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compile/te_program.h"
#include "graph/build_computation.h"
#include "ir/arith/simplify.h"
#include "ir/layout/layout_pattern.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

constexpr int64_t kThreads = 64;  // threads of a block

// What a block with loops copies, about: enough to make its start cheap.
constexpr int64_t kBlock = 4096;
// A tile of a transpose: a vector for each element of a cache line of float32.
constexpr int64_t kRows = 16, kLanes = 8;

// The symbols of a program: one for each extent that is not a number.
class Symbols {
 public:
  Exprs extents_of(const Shape& shape) {
    Exprs extents;
    for (const Size& extent : shape) {
      const auto number = extent.constant();
      extents.push_back(number ? make_int(*number) : symbol_for(extent));
    }
    return extents;
  }

 private:
  Expr symbol_for(const Size& extent) {
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const auto& row) { return row.first == extent; });
    if (known != all_.end()) return known->second;
    return all_.emplace_back(extent, make_var("s" + std::to_string(all_.size()))).second;
  }

  std::vector<std::pair<Size, Expr>> all_;
};

// The axes of a buffer in the order of their strides, the contiguous one last; nullopt if the
// layout cuts an axis.
std::optional<std::vector<std::size_t>> order_of(const Stored& stored) {
  std::vector<std::size_t> order;
  if (stored.is_open || stored.is_texture()) return std::nullopt;
  std::vector<bool> is_placed(stored.layout.shape.size());
  for (const LayoutPart& part : stored.layout.cols) {
    const auto axis = static_cast<std::size_t>(part.axis);
    if (is_placed[axis] || part.extent != stored.layout.shape[axis]) return std::nullopt;
    is_placed[axis] = true;
    order.push_back(axis);
  }
  for (std::size_t axis = 0; axis < is_placed.size(); ++axis) {
    if (!is_placed[axis]) order.insert(order.begin(), axis);
  }
  return order;
}

// The contiguous axis.
std::size_t fastest(const std::vector<std::size_t>& order, const ir::Shape& shape) {
  const auto found = std::find_if(order.rbegin(), order.rend(),
                                  [&](std::size_t axis) { return shape[axis] != 1; });
  return found == order.rend() ? order.back() : *found;
}

// The axis of the lanes, if there is one: a texel is read or written as a whole, and so are vectors
// of buffers that all have the same contiguous axis.
std::optional<std::size_t> lane_axis(const std::vector<const Stored*>& tensors) {
  for (const Stored* stored : tensors) {
    if (!stored->is_texture()) continue;
    if (const auto axis = stored->layout.lane_axis()) return static_cast<std::size_t>(*axis);
  }
  std::optional<std::size_t> contiguous;
  for (const Stored* stored : tensors) {
    const auto order = order_of(*stored);
    if (!order || order->empty()) return std::nullopt;
    const std::size_t axis = fastest(*order, stored->layout.shape);
    if (stored->layout.shape[axis] % kTexelLanes != 0 || contiguous.value_or(axis) != axis)
      return std::nullopt;
    contiguous = axis;
  }
  return contiguous;
}

// Gives each thread an element, or four along the axis of lanes. Neighboring threads write along
// the axes in this order.
void spread(Schedule& s, const ir::Tensor& result, std::optional<std::size_t> lanes,
            const std::optional<std::vector<std::size_t>>& written) {
  const StageId id = *s.find(operation_of(result));
  std::vector<IterVar> outer = s.stage(id).leaves;
  IterVar inner;
  if (lanes) {
    const auto [groups, four] =
        s.split(id, outer[*lanes], kTexelLanes, std::nullopt, SourceLocation{});
    outer[*lanes] = groups;
    inner = four;
  }
  if (written) {
    const std::vector<IterVar> axes = outer;
    for (std::size_t i = 0; i < axes.size(); ++i) outer[i] = axes[(*written)[i]];
  }
  std::vector<IterVar> order = outer;
  if (inner) order.push_back(inner);
  if (order.size() > 1) s.reorder(id, order, {});
  const IterVar all = s.fuse(id, outer, {});
  const auto [block, thread] = s.split(id, all, kThreads, std::nullopt, SourceLocation{});
  s.bind(id, block, make_thread_axis(*parse_thread_tag("blockIdx.x")), {});
  s.bind(id, thread, make_thread_axis(*parse_thread_tag("threadIdx.x")), {});
  if (inner) s.annotate(id, inner, LoopKind::Vectorized, {});
}

int64_t divisor_near(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (extent % divisor != 0) --divisor;
  return divisor * 4 >= std::min(extent, most) ? divisor : std::min(extent, most);
}

// Binds loops around `inner` to blocks of about kBlock elements.
void bind_blocks(Schedule& s, StageId id, std::vector<IterVar> outer,
                 const std::vector<IterVar>& inner, int64_t elements) {
  if (outer.empty()) outer.push_back(s.fuse(id, {}, {}));
  std::vector<IterVar> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  s.reorder(id, order, {});
  const IterVar all = s.fuse(id, outer, {});
  const auto [block, own] =
      s.split(id, all, std::max<int64_t>(1, kBlock / elements), std::nullopt, {});
  s.bind(id, block, make_thread_axis(*parse_thread_tag("blockIdx.x")), {});
}

// Copies with loops along axes, in the order of the result; in tiles, if another axis is contiguous
// in what is read. Returns false if a layout has no such order.
bool loop(Schedule& s, const ir::Tensor& result, const Stored& from, const Stored& to) {
  const auto read = order_of(from), written = order_of(to);
  const StageId id = *s.find(operation_of(result));
  std::vector<IterVar> axes = s.stage(id).leaves;
  if (!read || !written || axes.empty()) return false;
  const ir::Shape& shape = to.layout.shape;
  const std::size_t across = fastest(*read, shape), last = fastest(*written, shape);
  std::vector<IterVar> outer, inner;
  int64_t elements = 1;  // of the inner loops
  for (const std::size_t axis : *written) {
    if (axis != last && (across == last || axis != across)) {
      outer.push_back(axes[axis]);
      continue;
    }
    if (across == last) {
      inner.push_back(axes[axis]);
      elements = shape[axis];
      continue;
    }
    const int64_t factor = divisor_near(shape[axis], axis == across ? kRows : kLanes);
    const auto [tiles, own] = s.split(id, axes[axis], factor, std::nullopt, {});
    outer.push_back(tiles);
    elements *= factor;
    // The vector is along the axis that is contiguous in the result.
    inner.insert(axis == across ? inner.begin() : inner.end(), own);
    if (axis == last && shape[axis] % factor == 0 && factor == kLanes)
      s.annotate(id, own, LoopKind::Vectorized, {});
  }
  bind_blocks(s, id, std::move(outer), inner, elements);
  return true;
}

compile::Binding declared(const ir::Tensor& tensor, const Stored& stored) {
  compile::Binding binding{tensor, {}};
  lower::BufferDeclaration& d = binding.buffer.declaration;
  d.type = tensor->type;
  d.shape = tensor->shape;
  d.scope = stored.scope;
  if (!stored.is_open || stored.is_texture())
    d.layout = pattern_of(stored.layout, axis_names(stored.layout.shape.size()));
  return binding;
}

lower::Lowering program_of(std::string name, const std::vector<ir::Tensor>& tensors,
                           const std::vector<const Stored*>& storages, const Target& target) {
  compile::TeProgramDesc desc;
  desc.schedule = Schedule::create({operation_of(tensors.back())});
  const bool has_loops = target.has_known_vectors() &&
                         loop(desc.schedule, tensors.back(), *storages.front(), *storages.back());
  if (!has_loops)
    spread(desc.schedule, tensors.back(), lane_axis({storages.rbegin(), storages.rend()}),
           order_of(*storages.back()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    desc.arguments.emplace_back(tensors[i]);
    desc.bindings.push_back(declared(tensors[i], *storages[i]));
  }
  desc.name = std::move(name);
  desc.target = target;
  return compile::te_program(std::move(desc));
}

}  // namespace

lower::Lowering conversion(const Stored& from, const Stored& to, const Shape& shape, Type type,
                           const Target& target) {
  const Exprs extents = Symbols().extents_of(shape);
  const ir::Tensor source = placeholder("source", type, extents);
  const std::vector<IterVar> axes = axes_over(extents);
  Exprs index;
  for (const IterVar& axis : axes) index.push_back(axis->var);
  const ir::Tensor result =
      output_of(make_compute("result", "", axes, read(source, index, {}), {}));
  return program_of("convert", {source, result}, {&from, &to}, target);
}

lower::Lowering concatenation(const std::vector<StoredPart>& parts, const Stored& whole,
                              std::size_t axis, Type type, const Target& target) {
  std::vector<ir::Tensor> tensors;
  std::vector<const Stored*> storages;
  Symbols symbols;
  Exprs begins = {make_int(0)};  // the begin of each part, then the end of the last part
  for (const auto& [stored, shape] : parts) {
    const Exprs extents = symbols.extents_of(shape);
    begins.push_back(arith::simplify(make_binary(BinaryOp::Add, begins.back(), extents[axis])));
    tensors.push_back(placeholder("part" + std::to_string(tensors.size()), type, extents));
    storages.push_back(&stored);
  }
  Exprs joined = symbols.extents_of(parts.front().shape);
  joined[axis] = begins.back();
  const std::vector<IterVar> axes = axes_over(joined);
  Exprs index;
  for (const IterVar& each : axes) index.push_back(each->var);
  // Nests Selects from the last part to the first: a part is read where the index is below its end.
  Expr value;
  for (std::size_t i = parts.size(); i-- > 0;) {
    Exprs own = index;
    own[axis] = make_binary(BinaryOp::Sub, index[axis], begins[i]);
    const Expr element = read(tensors[i], own, {});
    value = value
                ? make_select(make_binary(BinaryOp::Lt, index[axis], begins[i + 1]), element, value)
                : element;
  }
  tensors.push_back(output_of(make_compute("whole", "", axes, value, {})));
  storages.push_back(&whole);
  return program_of("concatenate", tensors, storages, target);
}

}  // namespace texloom::graph
