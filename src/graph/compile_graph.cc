#include "graph/compile_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "graph/assembly.h"
#include "graph/choice.h"
#include "graph/folds.h"
#include "graph/invocations.h"
#include "graph/needs.h"
#include "graph/passes/seal.h"
#include "graph/verify/verify.h"
#include "ir/layout/layout_pattern.h"
#include "runtime/launch_count.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

// A choice with what it was made from, which its parts refer to.
struct Chosen {
  Offers offers;
  Choice choice;
};

Chosen choose_with(const Graph& graph, const GraphOptions& options, const Folds& folds) {
  Chosen chosen{collect_offers(graph, options.storage, options.model,
                               static_cast<int64_t>(options.buffer_alignment), folds),
                {}};
  chosen.choice = choose(choice_problem(graph, chosen.offers, options.model));
  return chosen;
}

std::vector<runtime::TensorStore> stores_of(const Offers& offers, const Assembly& assembly) {
  const runtime::LaunchPlan& plan = assembly.plan;
  std::vector<runtime::TensorStore> stores;
  const auto objects = static_cast<std::int64_t>(plan.workspace->objects.size());
  for (std::size_t i = 0; i < assembly.refs.size(); ++i) {
    runtime::TensorStore& store = stores.emplace_back();
    const auto& ref = assembly.refs[i];
    if (!ref) continue;
    store.tensor = *ref;
    using Kind = runtime::TensorRef::Kind;
    const auto arguments = static_cast<std::int64_t>(plan.arguments.size());
    store.storage_id = ref->kind == Kind::Temporary  ? plan.workspace->places[ref->index].object
                       : ref->kind == Kind::Argument ? objects + ref->index
                                                     : objects + arguments + ref->index;
    const Stored& stored = offers.storages[i][assembly.storages[i]];
    store.storage_scope = ir::to_string(stored.scope);
    if (stored.is_texture() || !stored.is_by_rule())
      store.layout =
          ir::to_string(ir::pattern_of(stored.layout, ir::axis_names(stored.layout.shape.size())));
  }
  return stores;
}

runtime::Package package_of(const Graph& graph, const Offers& offers, Assembly& assembly,
                            const CallSites& sites) {
  runtime::Package package;
  package.name = graph.name;
  for (const Tensor& tensor : graph.tensors)
    package.tensors.push_back({tensor.name,
                               *hal::element_type_from_name(ir::to_string(tensor.type)),
                               {tensor.shape.begin(), tensor.shape.end()},
                               tensor.role});
  for (const Node& node : graph.nodes)
    package.nodes.push_back({node.name, node.op, node.inputs, node.outputs, node.attributes});
  package.inputs = graph.inputs;
  package.outputs = graph.outputs;
  runtime::PackageVariant& variant = package.variants.emplace_back();
  variant.target = ir::to_string(graph.target);
  variant.needs = needs_of(assembly.plan, sites);
  variant.stores = stores_of(offers, assembly);
  for (const auto& value : assembly.values) variant.constants.push_back({*value});
  variant.nodes = std::move(assembly.nodes);
  variant.plan = std::move(assembly.plan);
  return package;
}

GraphSummary summary_of(const Graph& graph, const Chosen& chosen, const Invocations& invocations,
                        const Folds& folds) {
  GraphSummary summary;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Offer& offer = *invocations.offers[n];
    const std::string name = offer.alternative
                                 ? graph.nodes[n].alternatives[*offer.alternative].name
                                 : std::string(offer.in_place ? "in place" : "copy");
    summary.nodes.push_back({graph.nodes[n].name, name, offer.cost});
  }
  for (const Invocation& each : invocations.list) {
    const bool is_call = each.node && graph.nodes[*each.node].call;
    summary.call_sites += is_call ? 0 : 1;
    if (each.node) continue;
    const StoredTensor from = each.reads.front(), to = each.writes.front();
    const std::vector<Stored>& storages = chosen.offers.storages[from.tensor];
    summary.conversions.push_back({graph.tensors[from.tensor].name,
                                   to_string(storages[from.storage]),
                                   to_string(storages[to.storage])});
  }
  for (const auto& [tensor, fold] : folds)
    summary.folds.push_back({graph.tensors[tensor].name, fold});
  summary.cost = chosen.choice.cost;
  summary.lower_bound = chosen.choice.lower_bound;
  return summary;
}

void add_members(const Graph& graph, GraphSummary& summary) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const Node& member : graph.nodes[n].members)
      summary.nodes[n].members.push_back(member.name);
  }
}

void add_launches(const runtime::LaunchPlan& plan, GraphSummary& summary) {
  const auto launches = runtime::launches_of(plan.steps);
  TL_CHECK(launches.ok(), launches.status().message());
  summary.launches = *launches;
}

void add_memory(const runtime::LaunchPlan& plan, GraphSummary& summary) {
  for (const runtime::TensorStorage& object : plan.workspace->objects)
    summary.workspace_bytes += runtime::bytes_of(object);
  for (std::uint32_t i = 0; i < plan.temporaries.size(); ++i) {
    if (runtime::part_at(plan, i) == nullptr)
      summary.temporary_bytes += runtime::bytes_of(plan.temporaries[i].storage);
  }
  for (const runtime::TensorSpec& constant : plan.constants)
    summary.constant_bytes += runtime::bytes_of(constant.storage);
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string to_string(const GraphSummary& summary) {
  std::string text;
  for (const auto& pass : summary.passes) {
    if (pass.nodes_before == pass.nodes_after) continue;
    text += fmt::format("pass {}: {} -> {}\n", pass.pass, pass.nodes_before,
                        counted(pass.nodes_after, "node"));
  }
  for (const auto& node : summary.nodes) {
    text += fmt::format("node {}: {}, {:.0f} ns", node.node, node.alternative, node.cost);
    if (!node.members.empty()) text += fmt::format(", of {}", fmt::join(node.members, ", "));
    text += "\n";
  }
  for (const auto& each : summary.conversions)
    text += fmt::format("convert {}: {} -> {}\n", each.tensor, each.from, each.to);
  for (const auto& each : summary.folds)
    text += fmt::format("fold {}: {} planes side by side\n", each.tensor, each.fold);
  text += fmt::format("cost: {:.0f} ns, {}\n", summary.cost,
                      summary.lower_bound >= summary.cost
                          ? std::string("the least of all choices")
                          : fmt::format("at least {:.0f} ns", summary.lower_bound));
  text += fmt::format("kernels: {} of {}\n", counted(summary.call_sites, "call site"),
                      counted(summary.signatures, "signature"));
  return text + fmt::format("memory: {} for temporaries of {}, {} of constants\n",
                            counted(summary.workspace_bytes, "byte"), summary.temporary_bytes,
                            counted(summary.constant_bytes, "byte"));
}

CompiledGraph compile_graph(const Graph& given, const GraphOptions& options,
                            compile::Interruption interruption) {
  verify(given);
  const Graph graph = sealed(given);
  Chosen chosen = choose_with(graph, options, {});
  Folds folds;
  {
    const Invocations first = invocations_of(graph, chosen.offers, chosen.choice);
    folds = choose_folds(graph, chosen.offers, first, chosen.choice.cost);
  }
  if (!folds.empty()) chosen = choose_with(graph, options, folds);
  const Invocations invocations = invocations_of(graph, chosen.offers, chosen.choice);
  CallSites sites(options.compile, interruption);
  Assembly assembly = assemble(graph, chosen.offers, invocations, sites, options.buffer_alignment,
                               options.interpreted);
  CompiledGraph compiled;
  compiled.summary = summary_of(graph, chosen, invocations, folds);
  add_members(given, compiled.summary);
  compiled.summary.signatures = sites.size();
  add_launches(assembly.plan, compiled.summary);
  add_memory(assembly.plan, compiled.summary);
  compiled.package = package_of(graph, chosen.offers, assembly, sites);
  compiled.values = std::move(assembly.values);
  return compiled;
}

CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options) {
  return compile_graph(graph, options, [] {});
}

}  // namespace texloom::graph
