#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "graph/text/computation_text.h"
#include "graph/text/text.h"
#include "ir/text/lexer.h"
#include "lower/te_text.h"
#include "runtime/custom/size_text.h"

namespace texloom::graph {
namespace {

using ir::quote;
using ir::spell_name;

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string text() {
    std::string text = fmt::format("program {} stage=graph target={}\n", spell_name(graph_.name),
                                   quote(ir::to_string(graph_.target)));
    for (const std::string& symbol : graph_.symbols)
      text += fmt::format("  symbol {}\n", spell_name(symbol));
    for (const Tensor& tensor : graph_.tensors) text += line_of(tensor);
    for (const runtime::SizeCondition& condition : graph_.conditions) text += line_of(condition);
    text += fmt::format("  outputs ({})\n", names(graph_.outputs));
    for (const Node& node : graph_.nodes) text += text_of(node);
    for (std::size_t i = 0; i < computations_.size(); ++i)
      text += "\n" + graph::to_string(*computations_[i], i);
    for (const std::string& program : programs_) text += "\n" + program;
    return text;
  }

 private:
  // A number, or an expression in quotes.
  std::string text_of(const Size& size) const {
    const std::string text = runtime::size_text(size, graph_.symbols);
    return size.constant() ? text : quote(text);
  }

  std::string line_of(const runtime::SizeCondition& condition) const {
    const bool is_equality = condition.kind == runtime::SizeCondition::Kind::Equal;
    return fmt::format("  condition {} {} {} {}\n", quote(condition.subject),
                       text_of(condition.left),
                       is_equality ? "==" : ">=", text_of(condition.right));
  }

  std::string line_of(const Tensor& tensor) const {
    const char* kind = tensor.role == TensorRole::Input      ? "input"
                       : tensor.role == TensorRole::Constant ? "constant"
                                                             : "edge";
    std::vector<std::string> extents;
    for (const Size& extent : tensor.shape) extents.push_back(text_of(extent));
    return fmt::format("  {} {}: {}[{}]\n", kind, spell_name(tensor.name),
                       ir::to_string(tensor.type), fmt::join(extents, ", "));
  }

  std::string names(const std::vector<TensorId>& tensors) const {
    std::vector<std::string> list;
    for (const TensorId tensor : tensors) list.push_back(spell_name(graph_.tensors[tensor].name));
    return fmt::format("{}", fmt::join(list, ", "));
  }

  std::string text_of(const Node& node) {
    std::string text = fmt::format("  {} {} op={}{} ({}) -> ({})", kind_of(node),
                                   spell_name(node.name), quote(node.op), kind_of_operator(node),
                                   names(node.inputs), names(node.outputs));
    if (node.concat_axis) text += fmt::format(" axis={}", *node.concat_axis);
    text += "\n";
    if (node.call) text += text_of(*node.call);
    for (const runtime::Attribute& attribute : node.attributes)
      text += "    attribute " + text_of(attribute) + "\n";
    if (!node.members.empty()) text += members_of(node);
    for (const Alternative& alternative : node.alternatives) text += text_of(alternative);
    return text;
  }

  static std::string_view kind_of(const Node& node) {
    return node.concat_axis ? "concatenate"
           : node.call      ? "call"
           : node.pattern   ? "operator"
                            : "node";
  }

  std::string kind_of_operator(const Node& node) {
    if (!node.pattern) return {};
    std::string text = fmt::format(" pattern={}", to_string(*node.pattern));
    // The computation of a fused operator follows from those of its members.
    if (node.computation && node.members.empty())
      text += fmt::format(" computation={}", number_of(node.computation));
    if (node.is_view) text += " view";
    if (node.joins_along) text += fmt::format(" joins={}", *node.joins_along);
    if (!node.coordinates.empty())
      text += fmt::format(" coordinates={{{}}}", fmt::join(node.coordinates, ", "));
    return text;
  }

  // "    members {", then a line for each, two columns further to the right
  std::string members_of(const Node& node) {
    std::string lines;
    for (const Node& member : node.members) lines += text_of(member);
    std::string text = "    members {\n";
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = lines.find('\n', begin) + 1;
      text += "    " + lines.substr(begin, end - begin);
      begin = end;
    }
    return text + "    }\n";
  }

  static std::string text_of(const runtime::OperatorCall& call) {
    std::vector<std::string_view> accesses;
    for (const hal::Access access : call.accesses)
      accesses.push_back(access == hal::Access::ReadWrite ? "read_write" : hal::to_string(access));
    std::string text = fmt::format("    operator {} version={} ({})", quote(call.op), call.version,
                                   fmt::join(accesses, ", "));
    if (call.encoding != runtime::Encoding::Kernels)
      text += fmt::format(" encoding={}", to_string(call.encoding));
    if (!call.payload.empty()) {
      text += " payload=\"";
      for (const std::byte byte : call.payload)
        text += fmt::format("{:02x}", std::to_integer<int>(byte));
      text += "\"";
    }
    text += "\n";
    for (const runtime::Attribute& attribute : call.attributes)
      text += "    given " + text_of(attribute) + "\n";
    return text;
  }

  static std::string text_of(const runtime::Attribute& attribute) {
    std::string value;
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
      value = std::to_string(*integer);
    } else if (const auto* number = std::get_if<double>(&attribute.value)) {
      value = ir::spell_float(*number, 64);
    } else {
      value = quote(std::get<std::string>(attribute.value));
    }
    return fmt::format("{} = {}", spell_name(attribute.name), value);
  }

  std::string text_of(const Alternative& alternative) {
    std::string text = fmt::format("    alternative {}", spell_name(alternative.name));
    if (alternative.program) {
      text += fmt::format(" program={}", number_of(lower::to_string(*alternative.program)));
    } else {
      std::vector<std::string> scopes;
      for (const ir::StorageScope& scope : alternative.scopes)
        scopes.push_back(quote(ir::to_string(scope)));
      text += fmt::format(" ({})", fmt::join(scopes, ", "));
    }
    if (alternative.cost) text += " cost=" + ir::spell_float(*alternative.cost, 64);
    return text + " fold_share=" + ir::spell_float(alternative.fold_share, 64) + "\n";
  }

  std::size_t number_of(const std::string& program) {
    const auto found = std::find(programs_.begin(), programs_.end(), program);
    if (found != programs_.end()) return static_cast<std::size_t>(found - programs_.begin());
    programs_.push_back(program);
    return programs_.size() - 1;
  }

  std::size_t number_of(const SharedComputation& computation) {
    const auto found = std::find_if(computations_.begin(), computations_.end(),
                                    [&](const SharedComputation& each) {
                                      return each == computation || equal(*each, *computation);
                                    });
    if (found != computations_.end())
      return static_cast<std::size_t>(found - computations_.begin());
    computations_.push_back(computation);
    return computations_.size() - 1;
  }

  const Graph& graph_;
  std::vector<SharedComputation> computations_;  // in the order in which they are named
  std::vector<std::string> programs_;            // in the order in which they are named
};

}  // namespace

std::string to_string(const Graph& graph) { return Printer(graph).text(); }

}  // namespace texloom::graph
