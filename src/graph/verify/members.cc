#include "graph/verify/members.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "graph/verify/computations.h"

namespace texloom::graph {
namespace {

class MemberCheck {
 public:
  MemberCheck(const Graph& graph, const Node& node, DiagnosticSink& sink)
      : graph_(graph), node_(node), sink_(sink), known_(node.inputs.begin(), node.inputs.end()) {}

  std::vector<TensorId> run() {
    if (!node_.pattern)
      error("make it an operator", "the node '{}' has members, but is not an operator", node_.name);
    for (const Node& member : node_.members) check(member);
    for (const TensorId id : node_.outputs) {
      if (!computed_.contains(id))
        error("let a member compute it", "no member of the node '{}' computes its output '{}'",
              node_.name, graph_.tensors[id].name);
    }
    for (const TensorId id : node_.inputs) {
      if (!read_.contains(id))
        error("leave it out of the inputs", "no member of the node '{}' reads its input '{}'",
              node_.name, graph_.tensors[id].name);
    }
    for (const TensorId id : node_.outputs) computed_.erase(id);
    return {computed_.begin(), computed_.end()};
  }

 private:
  template <class... Args>
  void error(std::string help, fmt::format_string<Args...> format, Args&&... args) {
    sink_.error(node_.location, Code::BadGraph, std::move(help), format,
                std::forward<Args>(args)...);
  }

  void check(const Node& member) {
    if (!names_.insert(member.name).second)
      error("give each member a name of its own", "two members of the node '{}' are called '{}'",
            node_.name, member.name);
    const bool is_plain =
        member.pattern && member.alternatives.empty() && member.members.empty() && !member.call;
    if (!is_plain)
      error("let it be an operator without alternatives and members",
            "the member '{}' of the node '{}' is not a single operator", member.name, node_.name);
    for (const auto* list : {&member.inputs, &member.outputs}) {
      for (const TensorId id : *list) {
        if (id < graph_.tensors.size()) continue;
        return error(
            "add tensors before nodes that use them",
            "the member '{}' of the node '{}' uses the tensor {}, but the graph has {} tensors",
            member.name, node_.name, id, graph_.tensors.size());
      }
    }
    check_computation(graph_, member, sink_);
    for (const TensorId id : member.inputs) {
      read_.insert(id);
      if (!known_.contains(id))
        error("make it an input of the node, or list the member that computes it earlier",
              "the member '{}' of the node '{}' reads '{}', which is not an input", member.name,
              node_.name, graph_.tensors[id].name);
    }
    for (const TensorId id : member.outputs) {
      if (!known_.insert(id).second)
        error("let each member compute tensors of its own",
              "the member '{}' of the node '{}' writes '{}', which already has a value",
              member.name, node_.name, graph_.tensors[id].name);
      computed_.insert(id);
    }
  }

  const Graph& graph_;
  const Node& node_;
  DiagnosticSink& sink_;
  std::set<TensorId> known_, read_, computed_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<TensorId> check_members(const Graph& graph, const Node& node, DiagnosticSink& sink) {
  return MemberCheck(graph, node, sink).run();
}

}  // namespace texloom::graph
