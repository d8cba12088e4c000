#include "graph/compile_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/needs.h"
#include "graph/assembly.h"
#include "graph/passes/seal.h"
#include "graph/scopes/decide.h"
#include "graph/scopes/invocations.h"
#include "graph/verify/verify.h"
#include "ir/layout/layout_pattern.h"
#include "runtime/plan/launch_count.h"
#include "runtime/plan/workspace.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

std::vector<runtime::TensorStore> stores_of(const Offers& offers, const Assembly& assembly) {
  const runtime::LaunchPlan& plan = assembly.plan;
  std::vector<runtime::TensorStore> stores;
  // Without a workspace, each temporary is an object of its own.
  const auto objects = static_cast<std::int64_t>(plan.workspace ? plan.workspace->objects.size()
                                                                : plan.temporaries.size());
  for (std::size_t i = 0; i < assembly.refs.size(); ++i) {
    runtime::TensorStore& store = stores.emplace_back();
    const auto& ref = assembly.refs[i];
    if (!ref) continue;
    store.tensor = *ref;
    using Kind = runtime::TensorRef::Kind;
    const auto arguments = static_cast<std::int64_t>(plan.arguments.size());
    store.storage_id = ref->kind == Kind::Argument   ? objects + ref->index
                       : ref->kind == Kind::Constant ? objects + arguments + ref->index
                       : plan.workspace              ? plan.workspace->places[ref->index].object
                                                     : runtime::memory_of(plan, ref->index);
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
  package.symbols = graph.symbols;
  for (const Tensor& tensor : graph.tensors)
    package.tensors.push_back({tensor.name,
                               *hal::element_type_from_name(ir::to_string(tensor.type)),
                               tensor.shape, tensor.role});
  for (const Node& node : graph.nodes)
    package.nodes.push_back({node.name, node.op, node.inputs, node.outputs, node.attributes});
  package.inputs = graph.inputs;
  package.outputs = graph.outputs;
  runtime::PackageVariant& variant = package.variants.emplace_back();
  variant.target = ir::to_string(graph.target);
  std::vector<const compile::CompiledModule*> modules;
  for (const auto& [signature, site] : sites.all()) modules.push_back(&site->module);
  variant.needs = compile::needs_of(assembly.plan, modules);
  variant.stores = stores_of(offers, assembly);
  for (const auto& value : assembly.values) variant.constants.push_back({*value});
  variant.nodes = std::move(assembly.nodes);
  variant.plan = std::move(assembly.plan);
  return package;
}

ScopeChoice scope_choice(const Graph& graph, Decision decision) {
  ScopeChoice scopes{std::move(decision.problem), std::move(decision.choice), {}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    scopes.tensors.push_back(graph.tensors[i].name);
    auto& storages = scopes.storages.emplace_back();
    for (const Stored& stored : decision.offers.storages[i]) storages.push_back(to_string(stored));
  }
  for (const TensorId input : graph.inputs) {
    scopes.nodes.push_back(graph.tensors[input].name);
    scopes.options.push_back(scopes.storages[input]);
    scopes.keys.emplace_back(scopes.options.back().size());
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    scopes.nodes.push_back(graph.nodes[n].name);
    auto& options = scopes.options.emplace_back();
    auto& keys = scopes.keys.emplace_back();
    for (const Offer& offer : decision.offers.nodes[n]) {
      options.push_back(name_of(graph.nodes[n], offer));
      keys.push_back(offer.cost.key);
    }
  }
  return scopes;
}

// The launches and calls of steps of a plan; 0 if the iterations of a loop depend on symbols.
std::int64_t launches_in(const runtime::LaunchPlan& plan, std::span<const runtime::Step> steps) {
  const auto launches = runtime::launches_of(steps);
  TL_CHECK(launches.ok() || !plan.symbols.empty(), launches.status().message());
  return launches.ok() ? *launches : 0;
}

// Adds the invocations to the summary, each with the number of launches of its steps in the plan.
void add_runs(const Graph& graph, const Offers& offers, const Invocations& invocations,
              Assembly& assembly, GraphSummary& summary) {
  for (std::size_t i = 0; i < invocations.list.size(); ++i) {
    const Invocation& each = invocations.list[i];
    auto& run = summary.runs.emplace_back();
    run.signature = std::move(assembly.signatures[i]);
    run.work = std::move(assembly.work[i]);
    if (each.node) {
      run.what = graph.nodes[*each.node].name;
      run.cost = invocations.offers[*each.node]->cost;
    } else {
      const StoredTensor from = each.reads.front(), to = each.writes.front();
      run.what = "convert " + graph.tensors[from.tensor].name;
      run.cost = offers.conversions[from.tensor][from.storage][to.storage];
    }
  }
  for (std::size_t i = 0; i < assembly.invocations.size(); ++i) {
    const std::span step(&assembly.plan.steps[i], 1);
    summary.runs[assembly.invocations[i]].launches += launches_in(assembly.plan, step);
  }
}

GraphSummary summary_of(const Graph& graph, const Decision& decision,
                        const Invocations& invocations) {
  GraphSummary summary;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Offer& offer = *invocations.offers[n];
    const std::string name = name_of(graph.nodes[n], offer);
    summary.nodes.push_back({graph.nodes[n].name, name, offer.cost.ns});
  }
  for (const Invocation& each : invocations.list) {
    const bool is_call = each.node && graph.nodes[*each.node].call;
    summary.call_sites += is_call ? 0 : 1;
    if (each.node) continue;
    const StoredTensor from = each.reads.front(), to = each.writes.front();
    const std::vector<Stored>& storages = decision.offers.storages[from.tensor];
    summary.conversions.push_back({graph.tensors[from.tensor].name,
                                   to_string(storages[from.storage]),
                                   to_string(storages[to.storage])});
  }
  for (const TensorId tensor : decision.in_buffers)
    summary.in_buffers.push_back(graph.tensors[tensor].name);
  for (const auto& [tensor, fold] : decision.folds)
    summary.folds.push_back({graph.tensors[tensor].name, fold});
  summary.small_gain = decision.small_gain;
  summary.cost = decision.choice.cost;
  summary.lower_bound = decision.choice.lower_bound;
  return summary;
}

void add_members(const Graph& graph, GraphSummary& summary) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const Node& member : graph.nodes[n].members)
      summary.nodes[n].members.push_back(member.name);
  }
}

void add_memory(const runtime::LaunchPlan& plan, GraphSummary& summary) {
  if (plan.workspace) {
    for (const runtime::TensorStorage& object : plan.workspace->objects)
      summary.workspace_bytes += runtime::bytes_of(object);
    summary.least_bytes = runtime::least_workspace_bytes(plan);
  }
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
  for (const std::string& each : summary.in_buffers)
    text += fmt::format("buffer {}: an image for it is not worth its memory\n", each);
  if (summary.small_gain)
    text += fmt::format("no textures: {:.1f} % faster is too little to rely on\n",
                        *summary.small_gain * 100);
  for (const auto& each : summary.folds)
    text += fmt::format("fold {}: {} planes side by side\n", each.tensor, each.fold);
  text += fmt::format("cost: {:.0f} ns{}, {}\n", summary.cost,
                      summary.costs_are_default ? " by the default model" : "",
                      summary.lower_bound >= summary.cost
                          ? std::string("the least of all choices")
                          : fmt::format("at least {:.0f} ns", summary.lower_bound));
  text += fmt::format("kernels: {} of {}\n", counted(summary.call_sites, "call site"),
                      counted(summary.signatures, "signature"));
  return text + fmt::format("memory: {} for temporaries of {}, at least {}; {} of constants\n",
                            counted(summary.workspace_bytes, "byte"), summary.temporary_bytes,
                            summary.least_bytes, counted(summary.constant_bytes, "byte"));
}

CompiledGraph compile_graph(const Graph& given, const GraphOptions& options,
                            compile::Interruption interruption) {
  verify(given);
  const Graph graph = sealed(given);
  CompiledSites own;
  CallSites sites(options.compile, interruption, options.compiled ? *options.compiled : own);
  SiteCosts costs(graph, options.model, options.costs, sites);
  Decision decision = decide(graph,
                             {.storage = options.storage,
                              .rules = options.rules,
                              .buffer_alignment = static_cast<int64_t>(options.buffer_alignment),
                              .may_fold = options.may_fold},
                             costs);
  const Invocations invocations = invocations_of(graph, decision.offers, decision.choice);
  Assembly assembly = assemble(graph, decision.offers, invocations, sites, options.buffer_alignment,
                               options.interpreted);
  CompiledGraph compiled;
  compiled.summary = summary_of(graph, decision, invocations);
  compiled.summary.costs_are_default = !options.costs;
  add_runs(graph, decision.offers, invocations, assembly, compiled.summary);
  add_members(given, compiled.summary);
  compiled.summary.signatures = sites.size();
  compiled.summary.launches = launches_in(assembly.plan, assembly.plan.steps);
  add_memory(assembly.plan, compiled.summary);
  compiled.package = package_of(graph, decision.offers, assembly, sites);
  compiled.values = std::move(assembly.values);
  compiled.objects = std::move(assembly.objects);
  compiled.scopes = scope_choice(graph, std::move(decision));
  return compiled;
}

CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options) {
  return compile_graph(graph, options, [] {});
}

}  // namespace texloom::graph
