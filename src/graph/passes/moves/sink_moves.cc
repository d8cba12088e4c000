#include "graph/passes/moves/sink_moves.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/build_computation.h"
#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/passes/common/unique_names.h"
#include "graph/passes/moves/move.h"
#include "graph/passes/moves/order.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

class Sinking {
 public:
  Sinking(Graph& graph, const KernelLibrary& kernels)
      : graph_(graph),
        kernels_(kernels),
        node_names_(graph.nodes),
        tensor_names_(graph.tensors),
        readers_(graph.tensors.size()) {
    for (const Node& node : graph.nodes) {
      for (const TensorId id : node.inputs) ++readers_[id];
    }
  }

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      for (TensorId& id : node.inputs) id = known_as(id);
      if (cancels(node)) continue;
      reorder_moves(node);
      std::vector<Node> views;  // of the node's output, the last one first
      if (auto view = join_rows(node)) views.push_back(*std::move(view));
      while (auto view = sink(node)) views.push_back(*std::move(view));
      add(std::move(node));
      while (!views.empty()) {
        add(std::move(views.back()));
        views.pop_back();
      }
    }
    remove_dead_nodes(graph_);
  }

 private:
  void add(Node node) {
    for (const TensorId id : node.outputs) producers_.insert_or_assign(id, graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  TensorId known_as(TensorId id) const {
    const auto found = equal_.find(id);
    return found == equal_.end() ? id : found->second;
  }

  // Whether a move undoes the move before it, so that readers can read what was moved.
  bool cancels(const Node& node) {
    const TensorId moved = node.outputs.empty() ? 0 : node.outputs.front();
    const auto move = move_of(graph_, node);
    if (!move || graph_.tensors[moved].role != TensorRole::Intermediate) return false;
    const auto source = source_of(node.inputs.front(), move->inverse());
    if (!source) return false;
    readers_[*source] += readers_[moved];
    forget_reader(node.inputs.front());
    equal_.emplace(moved, *source);
    return true;
  }

  // Replaces a move and the moves before it by fewer or cheaper ones: by a view, if together they
  // keep the order of the elements; or by a view, and a permutation that moves the channels of an
  // image, which needs no kernel next to convolutions.
  void reorder_moves(Node& node) {
    const auto move = move_of(graph_, node);
    if (!move) return;
    const auto moves_image = [](const Move& each) {
      return each.moves_channels && each.before.size() > 3;
    };
    Order order = order_of(*move);
    TensorId source = node.inputs.front();
    bool is_alone = true, has_permutation = !move->is_view, has_image = moves_image(*move);
    std::optional<TensorId> image;  // the source of moves that are a view and a permutation
    Order of_image;
    for (const Node* mover = producer(source); mover != nullptr; mover = producer(source)) {
      const auto earlier = move_of(graph_, *mover);
      const auto both = earlier ? composed(order_of(*earlier), order) : std::nullopt;
      if (!both) break;
      order = *both;
      is_alone = is_alone && is_inner(source);
      has_permutation = has_permutation || !earlier->is_view;
      has_image = has_image || moves_image(*earlier);
      source = mover->inputs.front();
      if (has_permutation && order.keeps_all()) return become_view(node, source);
      if (!image && has_permutation && is_alone && !has_image) {
        image = source;
        of_image = order;
      }
    }
    if (image && !move_after_view(node, *image, of_image)) view_after_move(node, *image, of_image);
  }

  void become_view(Node& node, TensorId source) {
    Node view = node;
    view.op = "reshape";
    view.attributes.clear();
    view.is_view = true;
    view.computation =
        reshaped(shape_of(source), shape_of(node.outputs.front()), graph_.tensors[source].type);
    view.inputs = {read_instead(node.inputs.front(), source)};
    node = std::move(view);
  }

  // Makes an image's shape with channels last, whose permutation is the output of `node`.
  bool move_after_view(Node& node, TensorId source, const Order& order) {
    const ir::Shape image = shape_of(node.outputs.front());
    const auto permutation = channels_last(image);
    if (!permutation || order != order_of(permutation->inverse())) return false;
    const TensorId read = read_instead(node.inputs.front(), source);
    Node view = reshape(read, permutation->after, node);
    node.inputs = view.outputs;
    readers_[node.inputs.front()] = 1;
    permute(node, permutation->inverse());
    add(std::move(view));
    return true;
  }

  // Moves the channels of the image `source` to the end; its view is the output of `node`.
  void view_after_move(Node& node, TensorId source, const Order& order) {
    const auto permutation = channels_last(shape_of(source));
    if (!permutation || order != order_of(*permutation)) return;
    const TensorId read = read_instead(node.inputs.front(), source);
    const Tensor image = graph_.tensors[source];
    const TensorId moved = new_tensor(image.name, image.type, permutation->after);
    Node mover = move_to(read, moved, node);
    permute(mover, *permutation);
    readers_[moved] = 1;
    add(std::move(mover));
    node.inputs = {moved};
    become_view(node, moved);
  }

  // The permutation that moves the channels of an image to the end; nullopt for shapes that are
  // those of rows, too.
  static std::optional<Move> channels_last(const ir::Shape& image) {
    if (image.size() < 4) return std::nullopt;
    std::vector<std::size_t> axes(image.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
    return permutation_of(image, axes);
  }

  // Lets a node permute the axes of its input.
  void permute(Node& node, const Move& permutation) {
    node.op = "transpose";
    node.attributes.clear();
    node.is_view = false;
    node.computation = permuted_back(permutation.inverse(), permutation.before, permutation.after,
                                     graph_.tensors[node.inputs.front()].type);
  }

  ir::Shape shape_of(TensorId id) const { return *numbers_of(graph_.tensors[id].shape); }

  // The tensor that was moved by an equal move; nullopt if the tensor is no such result.
  std::optional<TensorId> source_of(TensorId id, const Move& move) const {
    const Node* mover = producer(id);
    const auto own = mover == nullptr ? std::nullopt : move_of(graph_, *mover);
    if (!own || !(*own == move)) return std::nullopt;
    return mover->inputs.front();
  }

  // A node no longer reads a tensor. A move without readers reads nothing, either.
  void forget_reader(TensorId id) {
    const Node* mover = producer(id);
    const bool is_read = --readers_[id] > 0 || graph_.tensors[id].role != TensorRole::Intermediate;
    if (is_read || mover == nullptr || !move_of(graph_, *mover)) return;
    forget_reader(mover->inputs.front());
  }

  const Node* producer(TensorId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &graph_.nodes[found->second];
  }

  bool is_inner(TensorId id) const {
    return graph_.tensors[id].role == TensorRole::Intermediate && readers_[id] == 1;
  }

  // Lets a product of matrices that share their right factor multiply all rows at once. Returns the
  // view of its result.
  std::optional<Node> join_rows(Node& node) {
    if (!kernels_.product_of_rows || node.pattern != Pattern::Contraction || !is_plain(node))
      return std::nullopt;
    const TensorId left = node.inputs.front(), written = node.outputs.front();
    const auto is_viewable = [&](TensorId id) {
      return graph_.tensors[id].role == TensorRole::Intermediate &&
             numbers_of(graph_.tensors[id].shape);
    };
    if (!is_viewable(left) || !is_viewable(written)) return std::nullopt;
    const auto computation = kernels_.product_of_rows(node.computation);
    if (!computation) return std::nullopt;
    const ir::Shape shape = *numbers_of((*computation)->inputs.front()->shape);
    const ir::Shape made = *numbers_of((*computation)->outputs.front()->shape);
    const Tensor result = graph_.tensors[written];
    Node after =
        reshape(new_tensor(result.name, result.type, made), *numbers_of(result.shape), node);
    node.inputs.front() = rows_of(left, shape, node);
    node.outputs = after.inputs;
    after.outputs = {written};
    readers_[node.outputs.front()] = 1;
    node.computation = *computation;
    return after;
  }

  // Returns the view of a tensor as a matrix, for one more reader. All products of a tensor read
  // one view, so that they are seen to have the same factor.
  TensorId rows_of(TensorId tensor, const ir::Shape& shape, const Node& reader) {
    const auto found = rows_.find({tensor, shape});
    if (found != rows_.end()) {
      ++readers_[found->second];
      forget_reader(tensor);
      return found->second;
    }
    Node view = reshape(tensor, shape, reader);
    const TensorId rows = view.outputs.front();
    readers_[rows] = 1;
    if (cancels(view)) return known_as(rows);
    rows_.emplace(std::pair(tensor, shape), rows);
    add(std::move(view));
    return rows;
  }

  // Computes the node before a move of one of its inputs. Returns the move, which now follows;
  // nullopt if there is no such input, and then nothing changes.
  std::optional<Node> sink(Node& node) {
    if (auto moved = sink_normalization(node)) return moved;
    const bool is_elementwise =
        node.pattern == Pattern::Elementwise || node.pattern == Pattern::Broadcast;
    if (!is_elementwise || !is_plain(node)) return std::nullopt;
    // Only without other readers can the node be an epilogue of what computes the elements.
    for (const bool is_alone : {true, false}) {
      for (const TensorId id : std::vector(node.inputs)) {
        auto moved = is_inner(id) == is_alone ? sink(node, id) : std::nullopt;
        if (moved) return moved;
      }
    }
    return std::nullopt;
  }

  std::optional<Node> sink(Node& node, TensorId viewed) {
    const Node* mover = producer(viewed);
    const auto move = mover == nullptr ? std::nullopt : move_of(graph_, *mover);
    if (!has_use(node, viewed)) return std::nullopt;
    if (!move || numbers_of(graph_.tensors[node.outputs.front()].shape) != move->after ||
        !is_worth_it(*mover, *move) || !can_move_operands(node, viewed, *move))
      return std::nullopt;
    const SharedComputation computation = moved_before(*move, *node.computation);
    if (!computation) return std::nullopt;
    return moved_after(node, viewed, *move, computation);
  }

  // Whether a node may be computed before the move of `moved`. Without this test, two moved
  // operands would sink in turns forever. Without an epilogue, a move that cannot share memory
  // would be a kernel more.
  bool has_use(const Node& node, TensorId moved) const {
    const TensorRole role = graph_.tensors[node.outputs.front()].role;
    return !made_operands_.contains(moved) && (is_inner(moved) || role == TensorRole::Intermediate);
  }

  // Computes a normalization of rows before the view that makes rows of an image's channels.
  std::optional<Node> sink_normalization(Node& node) {
    const bool reduces = node.pattern == Pattern::Reduction || node.pattern == Pattern::Contraction;
    if (!kernels_.normalization_before || !reduces || !is_plain(node)) return std::nullopt;
    const TensorId viewed = node.inputs.front();
    if (!has_use(node, viewed)) return std::nullopt;
    const Node* mover = producer(viewed);
    const auto move = mover == nullptr ? std::nullopt : move_of(graph_, *mover);
    if (!move || !move->is_view || !is_worth_it(*mover, *move) ||
        numbers_of(graph_.tensors[node.outputs.front()].shape) != move->after)
      return std::nullopt;
    const auto computation = kernels_.normalization_before(node.computation, move->before);
    if (!computation) return std::nullopt;
    return moved_after(node, viewed, *move, *computation);
  }

  // Lets a node compute this before a move of `viewed`; returns the move of its result.
  Node moved_after(Node& node, TensorId viewed, const Move& move,
                   const SharedComputation& computation) {
    const Node* mover = producer(viewed);
    const TensorId source = mover->inputs.front();
    Node after = *mover;
    after.name = node_names_.unused(node.name + "." + mover->op);
    const Tensor written = graph_.tensors[node.outputs.front()];
    const TensorId before = new_tensor(written.name, written.type, move.before);
    if (written.type != graph_.tensors[viewed].type)
      after.computation =
          move.is_view ? reshaped(move.before, move.after, written.type)
                       : permuted_back(move.inverse(), move.before, move.after, written.type);
    after.inputs = {before};
    after.outputs = std::exchange(node.outputs, {before});
    readers_[before] = 1;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& id = node.inputs[i];
      const auto shape = *numbers_of(computation->inputs[i]->shape);
      id = id == viewed ? read_instead(id, source) : operand_before(id, move, shape, node);
    }
    node.computation = computation;
    return after;
  }

  TensorId read_instead(TensorId id, TensorId source) {
    ++readers_[source];
    forget_reader(id);
    return source;
  }

  // Whether the elements that are moved are computed by an operator to which the node can be an
  // epilogue. Other moves between them sink as well, one after another. A view may have other
  // readers: they may sink, too, and else the view still needs no kernel.
  bool is_worth_it(const Node& mover, const Move& move) const {
    TensorId moved = mover.outputs.front();
    const Node* origin = &mover;
    while (origin != nullptr && move_of(graph_, *origin)) {
      if (!move.is_view && !is_inner(moved)) return false;
      moved = origin->inputs.front();
      if (graph_.tensors[moved].role != TensorRole::Intermediate) return false;
      origin = producer(moved);
    }
    if (origin == nullptr || !origin->pattern || origin->outputs.size() != 1) return false;
    if (!move.is_view) return is_inner(moved) && has_contraction(*origin);
    return origin->pattern != Pattern::Opaque && origin->pattern != Pattern::Injective;
  }

  // Whether an operator is a contraction, or will be an epilogue of one.
  bool has_contraction(const Node& node) const {
    if (node.pattern == Pattern::Contraction) return true;
    if (node.pattern != Pattern::Elementwise && node.pattern != Pattern::Broadcast) return false;
    return std::ranges::any_of(node.inputs, [&](TensorId id) {
      const Node* before = is_inner(id) ? producer(id) : nullptr;
      return before != nullptr && has_contraction(*before);
    });
  }

  // Whether the other operands of a node can be moved without kernels, except for constants.
  bool can_move_operands(const Node& node, TensorId viewed, const Move& move) const {
    return std::ranges::all_of(node.inputs, [&](TensorId id) {
      const Tensor& tensor = graph_.tensors[id];
      if (id == viewed || source_of(id, move)) return true;
      const auto shape = numbers_of(tensor.shape);
      if (!shape) return false;
      if (tensor.role == TensorRole::Constant)
        return move.keeps_order() || shape->size() == move.after.size() ||
               is_along_one_axis(*shape);
      // The node may be an epilogue of what computes this operand.
      if (!is_inner(viewed)) return false;
      const auto before = move.shape_before(*shape);
      if (!before) return false;
      if (move.is_view) return *before == *shape || tensor.role == TensorRole::Intermediate;
      return *shape == move.after && move.moves_channels && tensor.role == TensorRole::Intermediate;
    });
  }

  static bool is_along_one_axis(const ir::Shape& shape) {
    return std::ranges::count_if(shape, [](std::int64_t extent) { return extent != 1; }) <= 1;
  }

  TensorId new_tensor(const std::string& like, ir::Type type, const ir::Shape& shape) {
    readers_.push_back(0);
    return graph_.add_edge(tensor_names_.unused(like + ".before"), type,
                           Shape(shape.begin(), shape.end()));
  }

  // A node that moves elements from one tensor to another, for `node`.
  Node move_to(TensorId from, TensorId to, const Node& node) {
    Node mover;
    mover.name = node_names_.unused(graph_.tensors[to].name);
    mover.location = node.location;
    mover.inputs = {from};
    mover.outputs = {to};
    mover.pattern = Pattern::Injective;
    return mover;
  }

  // The view of a tensor in another shape, for `node`.
  Node reshape(TensorId from, const ir::Shape& shape, const Node& node) {
    const Tensor tensor = graph_.tensors[from];
    Node view = move_to(from, new_tensor(tensor.name, tensor.type, shape), node);
    view.op = "reshape";
    view.is_view = true;
    view.computation = reshaped(*numbers_of(tensor.shape), shape, tensor.type);
    return view;
  }

  // An operand of a node as it is before the move, where it has this shape.
  TensorId operand_before(TensorId id, const Move& move, const ir::Shape& shape, const Node& node) {
    const Tensor tensor = graph_.tensors[id];
    const ir::Shape own = *numbers_of(tensor.shape);
    const bool is_whole = own.size() == move.after.size();
    const bool is_reshaped = move.is_view || is_along_one_axis(own) || move.keeps_order();
    if (is_reshaped && own == shape) return id;
    if (is_whole) {
      if (const auto source = source_of(id, move)) return read_instead(id, *source);
    }
    const TensorId made = new_tensor(tensor.name, tensor.type, shape);
    readers_[made] = 1;
    if (is_reshaped && tensor.role == TensorRole::Constant) {
      graph_.tensors[made].role = TensorRole::Constant;
      graph_.tensors[made].value = tensor.value;
      --readers_[id];
      return made;
    }
    TL_CHECK(is_reshaped || is_whole);
    Node mover = move_to(id, made, node);
    mover.op = is_reshaped ? "reshape" : "transpose";
    mover.is_view = is_reshaped;
    mover.computation = is_reshaped ? reshaped(own, shape, tensor.type)
                                    : permuted_back(move, own, shape, tensor.type);
    add(std::move(mover));
    made_operands_.insert(made);
    return made;
  }

  Graph& graph_;
  const KernelLibrary& kernels_;
  UniqueNames node_names_, tensor_names_;
  std::vector<int> readers_;                        // by tensor: how often nodes read it
  std::map<TensorId, std::size_t> producers_ = {};  // by tensor: the number of a node that is added
  std::map<TensorId, TensorId> equal_ = {};         // by the output of a move that is left out
  // The views of tensors as matrices, by tensor and shape.
  std::map<std::pair<TensorId, ir::Shape>, TensorId> rows_ = {};
  std::set<TensorId> made_operands_ = {};  // of the moves that operand_before() adds
};

}  // namespace

void sink_moves(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  Sinking(graph, kernels).run();
}

}  // namespace texloom::graph
