#include "graph/passes/join_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/build_computation.h"
#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/passes/common/unique_names.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

using ir::Expr;
using ir::Exprs;

// A computation of columns, each from the same column of all inputs but the first, for another
// number of columns.
class Widening {
 public:
  Widening(const Computation& computation, std::int64_t columns)
      : computation_(computation), columns_(columns) {}

  // Null for any other computation. `keeps_first`: whether the first input has no such columns.
  SharedComputation run(bool keeps_first) {
    if (computation_.outputs.size() != 1 || !computation_.symbols.empty()) return nullptr;
    for (std::size_t i = 0; i < computation_.inputs.size(); ++i) {
      const ir::Tensor& input = computation_.inputs[i];
      Exprs shape = input->shape;
      const bool is_wide = i > 0 || !keeps_first;
      if (is_wide && shape.empty()) return nullptr;
      if (is_wide) shape.back() = ir::make_int(columns_);
      made_.inputs.push_back(
          placeholder(input->name, input->type, std::move(shape), input->location));
      known_.emplace(input->producer.get(), Known{made_.inputs.back(), is_wide});
    }
    const auto output = widened(computation_.outputs.front());
    if (!output || !output->is_wide) return nullptr;
    made_.outputs.push_back(output->tensor);
    return std::make_shared<const Computation>(std::move(made_));
  }

 private:
  struct Known {
    ir::Tensor tensor;
    bool is_wide = false;
  };

  std::optional<Known> widened(const ir::Tensor& tensor) {
    const schedule::Op op = schedule::operation_of(tensor);
    const auto found = known_.find(op.get());
    if (found != known_.end()) return found->second;
    if (!op->is_compute() || op->types.size() != 1 || op->axes.empty()) return std::nullopt;
    const Expr& column = op->axes.back()->var;
    bool fits = true;
    int uses = 0;
    const Expr body = ir::rewrite(op->body, [&](const ir::TensorRead& read, const Expr& self) {
      const auto source = fits ? widened(read.tensor) : std::nullopt;
      fits = source.has_value();
      if (!fits) return self;
      const bool is_own = !read.indices.empty() && read.indices.back().same_as(column);
      fits = is_own == source->is_wide;
      uses += is_own;
      return ir::make_tensor_read(source->tensor, read.indices, read.location);
    });
    int mentions = 0;
    ir::walk(body, [&](const ir::Var& var) { mentions += &var == column.get(); });
    if (!fits || mentions != uses || uses == 0) return std::nullopt;
    std::vector<ir::IterVar> axes = op->axes;
    axes.back() = ir::make_iter_var(column, ir::make_int(0), ir::make_int(columns_),
                                    ir::IterKind::Data, axes.back()->location);
    const Known made{schedule::output_of(schedule::make_compute(op->name, op->tag, axes, body,
                                                                op->location, op->attributes)),
                     true};
    known_.emplace(op.get(), made);
    return made;
  }

  const Computation& computation_;
  std::int64_t columns_;
  Computation made_;
  std::map<const void*, Known> known_;  // by the operation that computes the original
};

class ProductJoining {
 public:
  explicit ProductJoining(Graph& graph)
      : graph_(graph),
        node_names_(graph.nodes),
        tensor_names_(graph.tensors),
        readers_(graph.tensors.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const TensorId id : graph.nodes[n].inputs) readers_[id].insert(n);
    }
  }

  void run() {
    std::vector<std::vector<std::size_t>> groups;  // products alike of one left factor
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (!is_product(node) || !leads_to_product(node.outputs.front())) continue;
      const auto group = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& others) {
        return are_alike({others.front(), n});
      });
      if (group == groups.end()) {
        groups.push_back({n});
      } else {
        group->push_back(n);
      }
    }
    for (const std::vector<std::size_t>& group : groups) {
      if (group.size() > 1) join(group);
    }
    if (replaced_.empty()) return;
    // The new nodes read what the first product of their group reads, and constants.
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (Node& node : before_[n]) graph_.nodes.push_back(std::move(node));
      if (!replaced_.contains(n)) graph_.nodes.push_back(std::move(nodes[n]));
    }
    remove_dead_nodes(graph_);
  }

 private:
  // Whether a node multiplies a matrix by a constant matrix.
  bool is_product(const Node& node) const {
    return node.pattern == Pattern::Contraction && is_plain(node) && node.inputs.size() == 2 &&
           is_columns(node.inputs[1]) && shape_of(node.outputs.front()).size() >= 2 &&
           graph_.tensors[node.inputs[1]].shape.size() == 2;
  }

  bool is_columns(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    return tensor.role == TensorRole::Constant && tensor.value && !tensor.shape.empty() &&
           numbers_of(tensor.shape) && tensor.type.bits % 8 == 0;
  }

  ir::Shape shape_of(TensorId id) const {
    return numbers_of(graph_.tensors[id].shape).value_or(ir::Shape{});
  }
  std::int64_t columns_of(TensorId id) const { return shape_of(id).back(); }

  std::optional<std::size_t> only_reader(TensorId id) const {
    if (graph_.tensors[id].role != TensorRole::Intermediate || readers_[id].size() != 1)
      return std::nullopt;
    return *readers_[id].begin();
  }

  // Whether a tensor, moved and changed element by element, is multiplied by another result, and
  // nothing else reads it.
  bool leads_to_product(TensorId id) {
    if (const auto known = leads_.find(id); known != leads_.end()) return known->second;
    const bool leads = readers_lead_to_product(id);
    leads_.emplace(id, leads);
    return leads;
  }

  bool readers_lead_to_product(TensorId id) {
    if (graph_.tensors[id].role != TensorRole::Intermediate || readers_[id].empty()) return false;
    return std::ranges::all_of(readers_[id], [&](std::size_t reader) {
      const Node& node = graph_.nodes[reader];
      if (node.pattern == Pattern::Contraction)
        return std::ranges::none_of(node.inputs, [&](TensorId input) {
          return graph_.tensors[input].role == TensorRole::Constant;
        });
      const bool is_near = node.pattern && *node.pattern <= Pattern::Injective;
      return is_near && is_plain(node) && leads_to_product(node.outputs.front());
    });
  }

  void join(const std::vector<std::size_t>& products) {
    std::vector<Node>& added = before_[products.front()];
    std::vector<std::size_t> last = products;
    added.push_back(joined(products, graph_.nodes[products.front()].inputs.front()));
    replaced_.insert(last.begin(), last.end());
    for (auto next = next_level(last); next && are_alike(*next); next = next_level(last)) {
      added.push_back(joined(*next, added.back().outputs.front()));
      last = *std::move(next);
      replaced_.insert(last.begin(), last.end());
    }
    std::int64_t begin = 0;
    const TensorId whole = added.back().outputs.front();
    for (const std::size_t n : last) {
      added.push_back(columns(graph_.nodes[n], whole, begin));
      begin += columns_of(graph_.nodes[n].outputs.front());
    }
  }

  // The computation of a node for so many columns; null if there is no such computation.
  SharedComputation widened(const Node& node, std::int64_t columns) const {
    const bool keeps_first = node.pattern == Pattern::Contraction;
    return Widening(*node.computation, columns).run(keeps_first);
  }

  // Whether nodes compute the same of different columns: of the same tensor, if they are products.
  bool are_alike(const std::vector<std::size_t>& level) const {
    const Node& first = graph_.nodes[level.front()];
    const std::int64_t columns = 2 * columns_of(first.outputs.front());
    const SharedComputation wide = widened(first, columns);
    return wide && std::ranges::all_of(level, [&](std::size_t n) {
             const Node& node = graph_.nodes[n];
             const SharedComputation own = widened(node, columns);
             const bool is_same_factor = node.pattern != Pattern::Contraction ||
                                         node.inputs.front() == first.inputs.front();
             return own && is_same_factor && equal(*wide, *own) &&
                    graph_.tensors[node.outputs.front()].type ==
                        graph_.tensors[first.outputs.front()].type;
           });
  }

  // The readers of all results of a level, if each result has one.
  std::optional<std::vector<std::size_t>> next_level(const std::vector<std::size_t>& level) const {
    std::vector<std::size_t> next;
    for (const std::size_t n : level) {
      const TensorId id = graph_.nodes[n].outputs.front();
      const auto reader = only_reader(id);
      if (!reader) return std::nullopt;
      const Node& node = graph_.nodes[*reader];
      const bool is_alike = is_plain(node) && node.pattern && *node.pattern <= Pattern::Broadcast &&
                            node.inputs.size() == 2 && node.inputs.front() == id &&
                            is_columns(node.inputs[1]) &&
                            shape_of(node.outputs.front()) == shape_of(id) &&
                            columns_of(node.inputs[1]) == columns_of(id);
      if (!is_alike) return std::nullopt;
      next.push_back(*reader);
    }
    return next;
  }

  // The node that computes the columns of all these nodes, which are alike, from `first`.
  Node joined(const std::vector<std::size_t>& level, TensorId first) {
    const Node& like = graph_.nodes[level.front()];
    const TensorId own = like.outputs.front();
    std::int64_t total = 0;
    std::vector<TensorId> constants;
    for (const std::size_t n : level) {
      total += columns_of(graph_.nodes[n].outputs.front());
      constants.push_back(graph_.nodes[n].inputs[1]);
    }
    ir::Shape shape = shape_of(own);
    shape.back() = total;
    Node node = like;
    node.name = node_names_.unused(like.name + ".joined");
    node.computation = widened(like, total);
    node.inputs = {first, joined_constant(constants)};
    node.outputs = {graph_.add_edge(tensor_names_.unused(graph_.tensors[own].name + ".joined"),
                                    graph_.tensors[own].type, Shape(shape.begin(), shape.end()))};
    return node;
  }

  TensorId joined_constant(const std::vector<TensorId>& parts) {
    const Tensor like = graph_.tensors[parts.front()];
    ir::Shape shape = *numbers_of(like.shape);
    const std::size_t item = static_cast<std::size_t>(like.type.bits) / 8;
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (const TensorId id : parts) {
        const std::size_t size = static_cast<std::size_t>(columns_of(id)) * item;
        const auto* begin = graph_.tensors[id].value->data() + static_cast<std::size_t>(row) * size;
        bytes->insert(bytes->end(), begin, begin + size);
      }
    }
    shape.back() = static_cast<std::int64_t>(bytes->size() / item) / rows;
    return graph_.add_constant(tensor_names_.unused(like.name + ".joined"), like.type,
                               Shape(shape.begin(), shape.end()), std::move(bytes));
  }

  // The node that reads the result of `original` from the columns of `whole` from `begin` on.
  Node columns(const Node& original, TensorId whole, std::int64_t begin) {
    const Tensor& result = graph_.tensors[original.outputs.front()];
    const std::vector<ir::IterVar> axes = axes_over(extents_of(shape_of(original.outputs.front())));
    Exprs indices;
    for (const ir::IterVar& axis : axes) indices.push_back(axis->var);
    indices.back() = indices.back() + ir::make_int(begin);
    const ir::Tensor input =
        placeholder("in0", result.type, extents_of(shape_of(whole)), original.location);
    Node node;
    node.name = node_names_.unused(original.name + ".columns");
    node.op = "slice";
    node.location = original.location;
    node.inputs = {whole};
    node.outputs = {original.outputs.front()};
    node.pattern = Pattern::Injective;
    node.computation = moved_elements(input, std::move(indices), axes, "slice");
    return node;
  }

  Graph& graph_;
  UniqueNames node_names_, tensor_names_;
  std::vector<std::set<std::size_t>> readers_;       // by tensor of the original graph
  std::map<std::size_t, std::vector<Node>> before_;  // new nodes, by the first product of a group
  std::map<TensorId, bool> leads_;                   // what leads_to_product() found
  std::set<std::size_t> replaced_;                   // nodes whose results new nodes compute
};

}  // namespace

void join_products(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  if (kernels.moves_operands) ProductJoining(graph).run();
}

}  // namespace texloom::graph
