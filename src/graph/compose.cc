#include "graph/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "schedule/operation/extern_operation.h"
#include "schedule/operation/replace.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

using ir::Expr;

const std::string& name_of(const Expr& symbol) { return ir::as<ir::Var>(symbol)->name; }

class Composition {
 public:
  Composition(const Graph& graph, const Node& fused) : graph_(graph), fused_(fused) {}

  SharedComputation run() {
    for (const Node& member : fused_.members) {
      if (!member.computation) return nullptr;
    }
    for (const TensorId id : fused_.inputs) add_input(id);
    for (const Node& member : fused_.members) add(member);
    for (const TensorId id : fused_.outputs) made_.outputs.push_back(values_.at(id));
    for (const auto& [name, symbol] : given_) made_.symbols.push_back(symbol);
    return std::make_shared<const Computation>(std::move(made_));
  }

 private:
  // The placeholder by which a member reads the tensor. Its type is that of the computation; the
  // graph may store the tensor in a narrower type.
  const ir::Tensor& placeholder_of(TensorId id) const {
    for (const Node& member : fused_.members) {
      const auto found = std::find(member.inputs.begin(), member.inputs.end(), id);
      if (found == member.inputs.end()) continue;
      return member.computation->inputs[static_cast<std::size_t>(found - member.inputs.begin())];
    }
    TL_UNREACHABLE("no member reads an input of its node");
  }

  // The extent in the composed computation: each extent that is not a number becomes one symbol.
  Expr extent_of(const Size& extent) {
    if (const auto number = extent.constant()) return ir::make_int(*number);
    for (const auto& [known, symbol] : own_) {
      if (known == extent) return symbol;
    }
    own_.emplace_back(extent, ir::make_var(fmt::format("_s{}", own_.size())));
    return own_.back().second;
  }

  void add_input(TensorId id) {
    ir::Exprs shape;
    for (const Size& extent : graph_.tensors[id].shape) shape.push_back(extent_of(extent));
    const ir::Tensor& like = placeholder_of(id);
    const schedule::Op op = schedule::make_placeholder(
        fmt::format("in{}", made_.inputs.size()), like->type, std::move(shape), like->location);
    made_.inputs.push_back(schedule::output_of(op));
    values_.insert_or_assign(id, made_.inputs.back());
  }

  // The value, in the composed computation, of a symbol of the graph that a member uses.
  Expr given(const Expr& symbol) {
    const auto name = std::find(graph_.symbols.begin(), graph_.symbols.end(), name_of(symbol));
    if (name != graph_.symbols.end()) {
      const auto number = static_cast<std::uint32_t>(name - graph_.symbols.begin());
      for (const auto& [extent, own] : own_) {
        if (extent == Size::symbol(number)) return own;
      }
    }
    return given_.emplace(name_of(symbol), symbol).first->second;
  }

  void add(const Node& member) {
    const Computation& computation = *member.computation;
    schedule::Replacements replacements;
    for (std::size_t i = 0; i < member.inputs.size(); ++i) {
      const ir::Tensor& actual = values_.at(member.inputs[i]);
      const ir::Tensor& formal = computation.inputs[i];
      replacements.add(formal, actual);
      for (std::size_t axis = 0; axis < formal->shape.size(); ++axis) {
        if (formal->shape[axis]->kind == ir::ExprKind::Var)
          replacements.symbols.emplace(formal->shape[axis], actual->shape[axis]);
      }
    }
    for (const Expr& symbol : computation.symbols)
      replacements.symbols.emplace(symbol, given(symbol));
    const std::vector<ir::Tensor> outputs =
        schedule::with_replacements(computation.outputs, replacements);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      values_.insert_or_assign(member.outputs[i], outputs[i]);
  }

  const Graph& graph_;
  const Node& fused_;
  Computation made_;
  std::vector<std::pair<Size, Expr>> own_;  // extents of inputs, and the symbols for them
  std::map<std::string, Expr> given_;       // other symbols of the graph, by name
  std::map<TensorId, ir::Tensor> values_;
};

// The elements of a tensor in another type.
ir::Tensor converted(const ir::Tensor& tensor, ir::Type type, std::string name) {
  if (tensor->type == type) return tensor;
  std::vector<ir::IterVar> axes;
  ir::Exprs indices;
  for (std::size_t i = 0; i < tensor->shape.size(); ++i) {
    indices.push_back(ir::make_var(fmt::format("i{}", i), ir::kInt32, tensor->location));
    axes.push_back(
        ir::make_iter_var(indices.back(), ir::make_int(0), tensor->shape[i], ir::IterKind::Data));
  }
  const Expr read = ir::make_tensor_read(tensor, std::move(indices), tensor->location);
  const Expr value = ir::make_cast(type, read, tensor->location);
  return schedule::output_of(
      schedule::make_compute(std::move(name), "", axes, value, tensor->location));
}

// The extern that computes all outputs, from inputs alone; null for other computations.
const schedule::Operation* only_extern(const Computation& computation) {
  const schedule::Op op = schedule::operation_of(computation.outputs.front());
  const auto is_own = [&](const ir::Tensor& output) {
    return output->producer.get() == computation.outputs.front()->producer.get();
  };
  const auto is_input = [&](const schedule::ExternInput& read) {
    return std::ranges::any_of(computation.inputs, [&](const ir::Tensor& input) {
      return input->same_tensor(*read.tensor);
    });
  };
  const bool fits = op->is_extern() && std::ranges::all_of(computation.outputs, is_own) &&
                    computation.outputs.size() == op->types.size() &&
                    std::ranges::all_of(op->reads, is_input);
  return fits ? op.get() : nullptr;  // the computation keeps it alive
}

// The outputs of an extern over inputs and outputs of these types; empty if they need copies.
std::vector<ir::Tensor> stored_outputs(const Computation& computation,
                                       const std::vector<ir::Tensor>& inputs,
                                       const std::vector<ir::Type>& types) {
  const schedule::Operation* op = only_extern(computation);
  if (op == nullptr) return {};
  std::vector<ir::Tensor> read;
  for (const schedule::ExternInput& each : op->reads) {
    const auto place = std::ranges::find_if(computation.inputs, [&](const ir::Tensor& input) {
      return input->same_tensor(*each.tensor);
    });
    read.push_back(inputs[static_cast<std::size_t>(place - computation.inputs.begin())]);
  }
  std::vector<ir::Type> written = op->types;
  for (std::size_t i = 0; i < types.size(); ++i)
    written[static_cast<std::size_t>(computation.outputs[i]->output)] = types[i];
  const schedule::Op made = schedule::with_types(*op, read, written);
  std::vector<ir::Tensor> outputs;
  for (const ir::Tensor& output : computation.outputs) {
    if (made)
      outputs.push_back(schedule::output_of(made, static_cast<std::size_t>(output->output)));
  }
  return outputs;
}

}  // namespace

SharedComputation composed(const Graph& graph, const Node& fused) {
  return Composition(graph, fused).run();
}

SharedComputation with_types(SharedComputation computation, const std::vector<ir::Type>& inputs,
                             const std::vector<ir::Type>& outputs) {
  const auto agree = [](const std::vector<ir::Tensor>& tensors,
                        const std::vector<ir::Type>& types) {
    return std::equal(tensors.begin(), tensors.end(), types.begin(), types.end(),
                      [](const ir::Tensor& tensor, ir::Type type) { return tensor->type == type; });
  };
  if (agree(computation->inputs, inputs) && agree(computation->outputs, outputs))
    return computation;
  Computation made{.inputs = {}, .outputs = {}, .symbols = computation->symbols};
  schedule::Replacements wide;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Tensor& input = computation->inputs[i];
    made.inputs.push_back(schedule::output_of(
        schedule::make_placeholder(input->name, inputs[i], input->shape, input->location)));
    wide.add(input, converted(made.inputs.back(), input->type, "widened"));
  }
  made.outputs = stored_outputs(*computation, made.inputs, outputs);
  if (!made.outputs.empty()) return std::make_shared<const Computation>(std::move(made));
  made.outputs = schedule::with_replacements(computation->outputs, wide);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    made.outputs[i] = converted(made.outputs[i], outputs[i], "rounded");
  return std::make_shared<const Computation>(std::move(made));
}

SharedComputation computation_as_stored(const Graph& graph, const Node& node) {
  if (!node.computation) return nullptr;
  std::vector<ir::Type> inputs, outputs;
  for (const TensorId id : node.inputs) inputs.push_back(graph.tensors[id].type);
  for (const TensorId id : node.outputs) outputs.push_back(graph.tensors[id].type);
  return with_types(node.computation, inputs, outputs);
}

}  // namespace texloom::graph
