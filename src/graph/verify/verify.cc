#include "graph/verify/verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/verify/computations.h"
#include "graph/verify/members.h"
#include "support/diagnostic.h"
#include "support/identifiers.h"

namespace texloom::graph {
namespace {

// Whether runtime::parse_size() reads the text as a name.
bool is_symbol_name(std::string_view name) {
  const auto is_of_name = [](char c) { return is_identifier_character(c) || c == '.'; };
  return !name.empty() && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), is_of_name) && name != "min" && name != "max";
}

// The number of elements; nullopt if it depends on symbols.
std::optional<int64_t> elements_of(const Shape& shape) {
  const auto numbers = numbers_of(shape);
  if (!numbers) return std::nullopt;
  return std::accumulate(numbers->begin(), numbers->end(), int64_t{1}, std::multiplies<>());
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), computed_(graph.tensors.size()), inner_(graph.tensors.size()) {}

  void run() {
    check_symbols();
    check_tensors();
    for (const Node& node : graph_.nodes) check(node);
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorRole role = graph_.tensors[i].role;
      if (computed_[i] || role == TensorRole::Input || role == TensorRole::Constant) continue;
      error({}, "add the node that computes it", "no node computes the tensor '{}'",
            graph_.tensors[i].name);
    }
    check_inputs();
    check_outputs();
    sink_.throw_if_errors();
  }

 private:
  template <class... Args>
  void error(const SourceLocation& where, std::string help, fmt::format_string<Args...> format,
             Args&&... args) {
    sink_.error(where, Code::BadGraph, std::move(help), format, std::forward<Args>(args)...);
  }

  // Whether an input or an output of the graph is one of its tensors.
  bool is_known(TensorId id, std::string_view kind) {
    if (id < graph_.tensors.size()) return true;
    error({}, fmt::format("add the tensor before it is made an {}", kind),
          "an {} of the graph '{}' is the tensor {}, but the graph has {} tensors", kind,
          graph_.name, id, graph_.tensors.size());
    return false;
  }

  void check_inputs() {
    std::set<TensorId> inputs;
    for (const TensorId id : graph_.inputs) {
      if (!is_known(id, "input")) continue;
      const Tensor& tensor = graph_.tensors[id];
      if (!inputs.insert(id).second)
        error({}, "name each input once", "'{}' is an input twice", tensor.name);
      if (tensor.role != TensorRole::Input)
        error({}, "add inputs with add_input()",
              "'{}' is among the graph's inputs, but its role is not input", tensor.name);
    }
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      if (graph_.tensors[id].role == TensorRole::Input && !inputs.contains(id))
        error({}, "add inputs with add_input()",
              "'{}' has the role input, but is not among the graph's inputs",
              graph_.tensors[id].name);
    }
  }

  void check_outputs() {
    std::set<TensorId> outputs;
    for (const TensorId id : graph_.outputs) {
      if (!is_known(id, "output")) continue;
      const Tensor& tensor = graph_.tensors[id];
      if (!outputs.insert(id).second)
        error({}, "name each output once", "'{}' is an output twice", tensor.name);
      if (tensor.role != TensorRole::Output)
        error({}, "mark a tensor that a node computes", "the output '{}' is not computed",
              tensor.name);
    }
    if (graph_.outputs.empty())
      error({}, "mark what it computes as an output", "the graph '{}' has no output", graph_.name);
  }

  std::string text_of(ir::Type type, const Shape& shape) const {
    std::vector<std::string> extents;
    for (const Size& extent : shape)
      extents.push_back(is_known(extent) ? extent.text(graph_.symbols) : "?");
    return fmt::format("{}[{}]", ir::to_string(type), fmt::join(extents, ", "));
  }

  bool is_known(const Size& size) const {
    return size.symbol_count() <= graph_.symbols.size() && size.loop_slots().empty();
  }

  void check_symbols() {
    std::set<std::string> names;
    for (const std::string& symbol : graph_.symbols) {
      if (!names.insert(symbol).second)
        error({}, "give each symbol a name of its own", "two symbols are called '{}'", symbol);
      if (!is_symbol_name(symbol))
        error({}, "use letters, digits, points and underscores, a letter first",
              "the symbol name '{}' is not valid", symbol);
    }
    for (const runtime::SizeCondition& condition : graph_.conditions) {
      if (!is_known(condition.left) || !is_known(condition.right))
        error({}, "add its symbols to the graph",
              "a condition of {} depends on a symbol that the graph lacks", condition.subject);
    }
  }

  void check_extents(const Tensor& tensor) {
    for (const Size& extent : tensor.shape) {
      const auto number = extent.constant();
      if (number && *number < 1)
        error({}, "give positive extents", "the tensor '{}' is {}, with an extent below 1",
              tensor.name, text_of(tensor.type, tensor.shape));
      if (!is_known(extent))
        error({}, "add its symbols to the graph",
              "an extent of the tensor '{}' depends on a symbol that the graph lacks", tensor.name);
      if (!number && tensor.role == TensorRole::Constant)
        error({}, "give it extents that are numbers",
              "the constant '{}' has an extent that depends on symbols", tensor.name);
    }
  }

  void check_tensors() {
    std::set<std::string> names;
    for (const Tensor& tensor : graph_.tensors) {
      if (!names.insert(tensor.name).second)
        error({}, "give each tensor a name of its own", "two tensors are called '{}'", tensor.name);
      const auto bytes = static_cast<uint64_t>(elements_of(tensor.shape).value_or(0)) *
                         static_cast<uint64_t>(tensor.type.bytes());
      if (tensor.value && tensor.value->size() != bytes)
        error({}, "give an element for each index", "the constant '{}' is {}, but has {} bytes",
              tensor.name, text_of(tensor.type, tensor.shape), tensor.value->size());
      check_extents(tensor);
    }
  }

  bool has_known_tensors(const Node& node) {
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const TensorId id : *list) {
        if (id < graph_.tensors.size()) continue;
        error(node.location, "add tensors before nodes that use them",
              "the node '{}' uses the tensor {}, but the graph has {} tensors", node.name, id,
              graph_.tensors.size());
        return false;
      }
    }
    return true;
  }

  void check(const Node& node) {
    if (!names_.insert(node.name).second)
      error(node.location, "give each node a name of its own", "two nodes are called '{}'",
            node.name);
    if (!has_known_tensors(node)) return;
    for (const TensorId id : node.inputs) {
      const Tensor& tensor = graph_.tensors[id];
      const bool is_given = tensor.role == TensorRole::Input || tensor.role == TensorRole::Constant;
      if (!is_given && !computed_[id])
        error(node.location, "list nodes after those whose outputs they read",
              "the node '{}' reads '{}' before it is computed", node.name, tensor.name);
      if (inner_[id])
        error(node.location, "make it an output of the node that computes it",
              "the node '{}' reads '{}', which only the members of another node may read",
              node.name, tensor.name);
    }
    for (const TensorId id : node.outputs) {
      const Tensor& tensor = graph_.tensors[id];
      const bool is_given = tensor.role == TensorRole::Input || tensor.role == TensorRole::Constant;
      if (is_given || computed_[id])
        error(node.location, "let it write a tensor of its own", "the node '{}' writes '{}', {}",
              node.name, tensor.name,
              is_given ? "which is an input or a constant" : "which another node writes");
      computed_[id] = true;
    }
    if (!node.members.empty()) add_inner(node);
    check_computation(graph_, node, sink_);
    if (node.is_view) check_view(node);
    for (const std::size_t input : node.coordinates) {
      if (input >= node.inputs.size())
        error(node.location, "number the inputs from 0",
              "the node '{}' reads its input {} as coordinates, but the number of its inputs is {}",
              node.name, input, node.inputs.size());
    }
    if (node.joins_along) check_concatenation(node, *node.joins_along);
    if (node.concat_axis) return check_concatenation(node, *node.concat_axis);
    check_alternatives(node);
  }

  void check_view(const Node& node) {
    const bool is_single = node.inputs.size() == 1 && node.outputs.size() == 1;
    const auto tensor = [&](TensorId id) -> const Tensor& { return graph_.tensors[id]; };
    const auto agree = [](std::optional<int64_t> a, std::optional<int64_t> b) {
      return !a || !b || *a == *b;  // sizes with symbols are assumed to agree
    };
    const bool fits = node.pattern == Pattern::Injective && is_single &&
                      tensor(node.inputs[0]).type == tensor(node.outputs[0]).type &&
                      agree(elements_of(tensor(node.inputs[0]).shape),
                            elements_of(tensor(node.outputs[0]).shape));
    if (!fits)
      error(node.location,
            "give it the pattern injective, and one input with as many elements of the same type",
            "the view '{}' cannot have the elements of its input", node.name);
  }

  void add_inner(const Node& node) {
    for (const TensorId id : check_members(graph_, node, sink_)) {
      const Tensor& tensor = graph_.tensors[id];
      if (computed_[id] || tensor.role != TensorRole::Intermediate)
        error(node.location, "let its members compute edges of their own",
              "a member of the node '{}' writes '{}', {}", node.name, tensor.name,
              computed_[id] ? "which another node writes" : "which is not a tensor between nodes");
      computed_[id] = inner_[id] = true;
    }
  }

  void check_accesses(const Node& node) {
    const std::vector<hal::Access>& accesses = node.call->accesses;
    const std::size_t count = node.inputs.size() + node.outputs.size();
    if (accesses.size() != count)
      return error(node.location, "give an access for each input and each output",
                   "the operator '{}' of the node '{}' has {} tensors, but {} accesses",
                   node.call->op, node.name, count, accesses.size());
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_input = i < node.inputs.size();
      const hal::Access wanted = is_input ? hal::Access::Read : hal::Access::Write;
      if (accesses[i] == wanted) continue;
      const TensorId id = is_input ? node.inputs[i] : node.outputs[i - node.inputs.size()];
      error(node.location, "let it read its inputs and write its outputs",
            "the operator '{}' of the node '{}' has the access '{}' to its {} '{}'", node.call->op,
            node.name, hal::to_string(accesses[i]), is_input ? "input" : "output",
            graph_.tensors[id].name);
    }
  }

  void check_alternatives(const Node& node) {
    if (node.call) check_accesses(node);
    if (node.alternatives.empty() && !node.pattern)
      error(node.location, "give it at least one schedule", "the node '{}' has no alternative",
            node.name);
    std::set<std::string> names;
    for (const Alternative& alternative : node.alternatives) {
      if (!names.insert(alternative.name).second)
        error(node.location, "give each a name of its own",
              "two alternatives of the node '{}' are called '{}'", node.name, alternative.name);
      if (alternative.cost && !(*alternative.cost >= 0 && std::isfinite(*alternative.cost)))
        error(node.location, "give nonnegative, finite nanoseconds, or leave the cost out",
              "the alternative '{}' of the node '{}' costs {}", alternative.name, node.name,
              *alternative.cost);
      if (!(alternative.fold_share >= 0))
        error(node.location, "give a nonnegative share of the cost, such as 0.005",
              "the fold share of the alternative '{}' of the node '{}' is {}", alternative.name,
              node.name, alternative.fold_share);
      check_arguments(node, alternative);
    }
  }

  void check_arguments(const Node& node, const Alternative& alternative) {
    const std::vector<TensorId> tensors = tensors_of(node);
    if (node.call) {
      if (alternative.scopes.size() != tensors.size())
        error(node.location, "give a scope for each input and each output",
              "the operator '{}' of the node '{}' has {} tensors, but {} scopes", node.call->op,
              node.name, tensors.size(), alternative.scopes.size());
      return;
    }
    const std::string what =
        fmt::format("the alternative '{}' of the node '{}'", alternative.name, node.name);
    if (!alternative.program)
      return error(node.location, "give it a schedule", "{} has no program", what);
    const lower::Lowering& program = *alternative.program;
    check_program_symbols(node, what, alternative);
    if (program.program.stage != ir::ProgramStage::Te)
      return error(node.location, "give a program that a schedule of tensors makes",
                   "{} is not a schedule", what);
    if (program.arguments.size() != tensors.size())
      return error(node.location, "pass the node's inputs, then its outputs, as arguments",
                   "{} takes {} arguments, but the node has {} tensors", what,
                   program.arguments.size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
      check_argument(node, what, program, tensors, i);
  }

  void check_program_symbols(const Node& node, const std::string& what,
                             const Alternative& alternative) {
    for (const lower::SymbolArgument& given : alternative.program->symbol_arguments) {
      const std::string& name = ir::as<ir::Var>(given.symbol)->name;
      const auto& known = graph_.symbols;
      if (std::find(known.begin(), known.end(), name) == known.end())
        error(node.location, "let only symbols of the graph be arguments of schedules",
              "{} takes a number '{}', which is not a symbol of the graph", what, name);
    }
  }

  void check_argument(const Node& node, const std::string& what, const lower::Lowering& program,
                      const std::vector<TensorId>& tensors, std::size_t i) {
    const ir::Tensor& argument = program.arguments[i].tensor;
    const Tensor& tensor = graph_.tensors[tensors[i]];
    std::vector<std::string> shape;
    bool agrees = argument->type == tensor.type && argument->shape.size() == tensor.shape.size();
    for (std::size_t axis = 0; axis < argument->shape.size(); ++axis) {
      const int64_t* value = ir::int_value(argument->shape[axis]);
      shape.push_back(ir::to_string(argument->shape[axis]));
      if (axis >= tensor.shape.size()) continue;
      const auto number = tensor.shape[axis].constant();
      // Extents that are expressions are not compared: assembling the graph checks some of them.
      agrees = agrees && (value != nullptr) == number.has_value() && (!number || *number == *value);
    }
    if (agrees) return;
    error(node.location, "give the argument and the tensor the same type and shape",
          "{} takes {}[{}] for '{}', which is {}", what, ir::to_string(argument->type),
          fmt::join(shape, ", "), tensor.name, text_of(tensor.type, tensor.shape));
  }

  // Checks a concatenation, or an operator with `joins_along`, whose parts may have other types.
  void check_concatenation(const Node& node, std::size_t axis) {
    if (node.inputs.empty() || node.outputs.size() != 1)
      return error(node.location, "give it tensors to join",
                   "the concatenation '{}' has {} inputs and {} outputs", node.name,
                   node.inputs.size(), node.outputs.size());
    const Tensor& whole = graph_.tensors[node.outputs.front()];
    if (axis >= whole.shape.size())
      return error(node.location, fmt::format("number the axes 0 to {}", whole.shape.size() - 1),
                   "the concatenation '{}' is along axis {}", node.name, axis);
    std::optional<int64_t> sum = 0;
    for (const TensorId id : node.inputs) {
      const Tensor& part = graph_.tensors[id];
      bool fits =
          (node.joins_along || part.type == whole.type) && part.shape.size() == whole.shape.size();
      for (std::size_t i = 0; fits && i < part.shape.size(); ++i) {
        const auto own = part.shape[i].constant(), other = whole.shape[i].constant();
        fits = i == axis || !own || !other || *own == *other;  // symbols are assumed to agree
      }
      if (!fits)
        return error(node.location, "join tensors that differ only along that axis",
                     "the concatenation '{}' along axis {} makes {} of '{}', which is {}",
                     node.name, axis, text_of(whole.type, whole.shape), part.name,
                     text_of(part.type, part.shape));
      const auto extent = part.shape[axis].constant();
      sum = sum && extent ? std::optional(*sum + *extent) : std::nullopt;
    }
    if (sum && whole.shape[axis] != Size(*sum))
      error(node.location, "give the result the sum of the extents",
            "the concatenation '{}' joins extents that add up to {} along axis {}, but its result "
            "has {}",
            node.name, *sum, axis, whole.shape[axis].text(graph_.symbols));
  }

  const Graph& graph_;
  // By tensor: whether a node computes it, and whether only the members of one node may use it.
  std::vector<bool> computed_, inner_;
  std::set<std::string> names_;
  DiagnosticSink sink_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace texloom::graph
