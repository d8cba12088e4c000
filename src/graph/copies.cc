#include "graph/copies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compile/te_program.h"
#include "ir/layout/layout_pattern.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // and on stages of a schedule

namespace {

constexpr int64_t kThreads = 64;  // of a block

Exprs extents_of(const Shape& shape) {
  Exprs extents;
  for (const int64_t extent : shape) extents.push_back(make_int(extent));
  return extents;
}

ir::Tensor placeholder(std::string name, Type type, const Shape& shape) {
  return output_of(make_placeholder(std::move(name), type, extents_of(shape), {}));
}

std::vector<IterVar> axes_of(const Shape& shape) {
  std::vector<IterVar> axes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    axes.push_back(make_iter_var(make_var("i" + std::to_string(i)), make_int(0), make_int(shape[i]),
                                 IterKind::Data));
  return axes;
}

// A texel is read or written as a whole: the axis of its lanes, if the element axis is one.
std::optional<std::size_t> lane_axis(const std::vector<const Stored*>& tensors) {
  for (const Stored* stored : tensors) {
    if (!stored->is_texture()) continue;
    if (const auto axis = stored->layout.lane_axis()) return static_cast<std::size_t>(*axis);
  }
  return std::nullopt;
}

// Gives each thread an element, or four along the axis of lanes.
void spread(Schedule& s, const ir::Tensor& result, std::optional<std::size_t> lanes) {
  const StageId id = *s.find(operation_of(result));
  std::vector<IterVar> outer = s.stage(id).leaves;
  IterVar inner;
  if (lanes) {
    const auto [groups, four] =
        s.split(id, outer[*lanes], kTexelLanes, std::nullopt, SourceLocation{});
    outer[*lanes] = groups;
    inner = four;
    std::vector<IterVar> order = outer;
    order.push_back(inner);
    s.reorder(id, order, {});
  }
  const IterVar all = s.fuse(id, outer, {});
  const auto [block, thread] = s.split(id, all, kThreads, std::nullopt, SourceLocation{});
  s.bind(id, block, make_thread_axis(*parse_thread_tag("blockIdx.x")), {});
  s.bind(id, thread, make_thread_axis(*parse_thread_tag("threadIdx.x")), {});
  if (inner) s.annotate(id, inner, LoopKind::Vectorized, {});
}

compile::Binding declared(const ir::Tensor& tensor, const Stored& stored) {
  compile::Binding binding{tensor, {}};
  lower::BufferDeclaration& d = binding.buffer.declaration;
  d.type = tensor->type;
  d.shape = tensor->shape;
  d.scope = stored.scope;
  d.layout = pattern_of(stored.layout, axis_names(stored.layout.shape.size()));
  d.exact_image = stored.exact;
  return binding;
}

lower::Lowering program_of(std::string name, const std::vector<ir::Tensor>& tensors,
                           const std::vector<const Stored*>& storages, const Target& target) {
  compile::TeProgramDesc desc;
  desc.schedule = Schedule::create({operation_of(tensors.back())});
  spread(desc.schedule, tensors.back(), lane_axis({storages.rbegin(), storages.rend()}));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    desc.arguments.emplace_back(tensors[i]);
    desc.bindings.push_back(declared(tensors[i], *storages[i]));
  }
  desc.name = std::move(name);
  desc.target = target;
  return compile::te_program(std::move(desc));
}

}  // namespace

lower::Lowering conversion(const Stored& from, const Stored& to, Type type, const Target& target) {
  const ir::Tensor source = placeholder("source", type, from.layout.shape);
  const std::vector<IterVar> axes = axes_of(to.layout.shape);
  Exprs index;
  for (const IterVar& axis : axes) index.push_back(axis->var);
  const ir::Tensor result =
      output_of(make_compute("result", "", axes, read(source, index, {}), {}));
  return program_of("convert", {source, result}, {&from, &to}, target);
}

lower::Lowering concatenation(const std::vector<Stored>& parts, const Stored& whole,
                              std::size_t axis, Type type, const Target& target) {
  std::vector<ir::Tensor> tensors;
  std::vector<const Stored*> storages;
  for (const Stored& part : parts) {
    tensors.push_back(
        placeholder("part" + std::to_string(tensors.size()), type, part.layout.shape));
    storages.push_back(&part);
  }
  const std::vector<IterVar> axes = axes_of(whole.layout.shape);
  Exprs index;
  for (const IterVar& each : axes) index.push_back(each->var);
  // The parts from the last to the first: each is read where the index is below its end.
  int64_t begin = whole.layout.shape[axis];
  Expr value;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const int64_t end = begin;
    begin -= parts[i].layout.shape[axis];
    Exprs own = index;
    own[axis] = make_binary(BinaryOp::Sub, index[axis], make_int(begin));
    const Expr element = read(tensors[i], own, {});
    value = value
                ? make_select(make_binary(BinaryOp::Lt, index[axis], make_int(end)), element, value)
                : element;
  }
  tensors.push_back(output_of(make_compute("whole", "", axes, value, {})));
  storages.push_back(&whole);
  return program_of("concatenate", tensors, storages, target);
}

}  // namespace texloom::graph
