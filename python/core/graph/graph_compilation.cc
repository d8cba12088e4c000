#include "core/graph/graph_compilation.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/compile/program.h"
#include "core/handles.h"
#include "core/runtime/custom.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"

namespace texloom::python {
namespace {

graph::StoragePreference preference(const std::string& storage) {
  if (storage == "texture") return graph::StoragePreference::Textures;
  if (storage == "global") return graph::StoragePreference::Buffers;
  return graph::StoragePreference::Any;
}

// Compiled call sites that several compilations share.
struct PyCompiledSites {
  std::shared_ptr<graph::CompiledSites> sites = std::make_shared<graph::CompiledSites>();
};

// The options of a compilation from Python, without the operators.
struct PyGraphOptions {
  std::string storage;
  graph::CostModel model;
  std::vector<graph::GraphPassReport> passes;
  py::object costs;  // a function (graph::SiteFacts) -> (nanoseconds, key), or None
  std::vector<std::string> fixed;
  std::optional<std::uint64_t> max_live_bytes;
  double least_gain = graph::kLeastGain;
  bool may_fold = true;
  std::optional<PyCompiledSites> compiled;
};

graph::CostSource cost_source(const py::object& costs) {
  if (costs.is_none()) return {};
  return [costs](const graph::SiteFacts& facts) {
    const py::gil_scoped_acquire lock;
    py::list sources;
    for (const std::string_view source : facts.sources) sources.append(py::str(source));
    const py::tuple made =
        costs(py::str(facts.kind), py::str(facts.signature), sources, facts.bytes, facts.operations,
              facts.launches, facts.textures, facts.work);
    return graph::SiteCost{made[0].cast<double>(), made[1].cast<std::string>()};
  };
}

std::shared_ptr<PyCompiledGraph> compile(const graph::Graph& g, const py::list& operators,
                                         const PyGraphOptions& given) {
  graph::GraphOptions options;
  options.storage = preference(given.storage);
  options.model = given.model;
  options.costs = cost_source(given.costs);
  options.rules = {
      .max_live_bytes = given.max_live_bytes, .fixed = given.fixed, .least_gain = given.least_gain};
  options.may_fold = given.may_fold;
  if (given.compiled) options.compiled = given.compiled->sites;
  options.interpreted = true;
  options.compile = compile_options();
  auto result = std::make_shared<PyCompiledGraph>();
  for (const py::handle& op : operators) throw_if_error(result->operators.add(operator_of(op)));
  const ReleasedLock unlocked;
  result->compiled = graph::compile_graph(g, options, [] { hear_interrupt(); });
  result->compiled.summary.passes = given.passes;
  return result;
}

py::list pairs_of(const std::vector<graph::StoredTensor>& list) {
  py::list pairs;
  for (const graph::StoredTensor& each : list)
    pairs.append(py::make_tuple(each.tensor, each.storage));
  return pairs;
}

// The problem that choose_options() solved and its solution, with the names of tensors, storages,
// nodes and options.
py::dict scopes_dict(const PyCompiledGraph& graph) {
  const graph::ScopeChoice& scopes = graph.compiled.scopes;
  py::list nodes;
  for (const auto& options : scopes.problem.nodes) {
    py::list list;
    for (const graph::ChoiceOption& option : options)
      list.append(py::make_tuple(option.cost, pairs_of(option.reads), pairs_of(option.writes)));
    nodes.append(list);
  }
  py::list limits;
  for (const graph::ChoiceLimit& limit : scopes.problem.limits)
    limits.append(py::make_tuple(limit.most, limit.uses));
  py::dict d;
  d["conversions"] = scopes.problem.conversions;
  d["nodes"] = nodes;
  d["limits"] = limits;
  d["chosen"] = scopes.choice.options;
  d["cost"] = scopes.choice.cost;
  d["lower_bound"] = scopes.choice.lower_bound;
  d["tensor_names"] = scopes.tensors;
  d["storage_names"] = scopes.storages;
  d["node_names"] = scopes.nodes;
  d["option_names"] = scopes.options;
  d["option_keys"] = scopes.keys;
  return d;
}

using PairList = std::vector<std::pair<std::size_t, std::size_t>>;
std::vector<graph::StoredTensor> stored_tensors(const PairList& pairs) {
  std::vector<graph::StoredTensor> list;
  for (const auto& [tensor, storage] : pairs) list.push_back({tensor, storage});
  return list;
}

// Returns (options, cost, lower bound); see graph/scopes/choice.h.
py::tuple choose_options(
    std::vector<std::vector<std::vector<double>>> conversions,
    const std::vector<std::vector<std::tuple<double, PairList, PairList>>>& nodes,
    const std::vector<std::pair<double, std::vector<std::vector<double>>>>& limits) {
  graph::ChoiceProblem problem{std::move(conversions), {}, {}};
  for (const auto& options : nodes) {
    auto& list = problem.nodes.emplace_back();
    for (const auto& [cost, reads, writes] : options)
      list.push_back({cost, stored_tensors(reads), stored_tensors(writes)});
  }
  for (const auto& [most, uses] : limits) problem.limits.push_back({most, uses});
  const graph::Choice choice = [&] {
    const ReleasedLock released;
    return graph::choose(problem);
  }();
  return py::make_tuple(choice.options, choice.cost, choice.lower_bound);
}

py::dict summary_dict(const PyCompiledGraph& graph) {
  const graph::GraphSummary& summary = graph.compiled.summary;
  py::dict d;
  py::dict nodes, members, stores;
  for (const auto& node : summary.nodes) {
    nodes[py::str(node.node)] = node.alternative;
    if (!node.members.empty()) members[py::str(node.node)] = py::tuple(py::cast(node.members));
  }
  py::list conversions;
  for (const auto& each : summary.conversions)
    conversions.append(py::make_tuple(each.tensor, each.from, each.to));
  py::dict folds;
  for (const auto& each : summary.folds) folds[py::str(each.tensor)] = each.fold;
  const runtime::Package& package = graph.compiled.package;
  for (std::size_t i = 0; i < package.tensors.size(); ++i) {
    const runtime::TensorStore& store = package.variants.front().stores[i];
    if (store.tensor)
      stores[py::str(package.tensors[i].name)] =
          py::make_tuple(store.storage_id, store.storage_scope, store.layout);
  }
  py::list passes;
  for (const auto& pass : summary.passes)
    passes.append(py::make_tuple(pass.pass, pass.nodes_before, pass.nodes_after));
  d["passes"] = passes;
  d["nodes"] = nodes;
  d["members"] = members;
  d["conversions"] = conversions;
  d["folds"] = folds;
  d["stores"] = stores;
  py::list runs;
  for (const auto& run : summary.runs)
    runs.append(py::make_tuple(run.what, run.cost.key, run.cost.ns, run.launches, run.work));
  d["runs"] = runs;
  d["in_buffers"] = summary.in_buffers;
  d["small_gain"] = summary.small_gain;
  d["cost"] = summary.cost;
  d["lower_bound"] = summary.lower_bound;
  d["call_sites"] = summary.call_sites;
  d["signatures"] = summary.signatures;
  d["launches"] = summary.launches;
  d["workspace_bytes"] = summary.workspace_bytes;
  d["least_bytes"] = summary.least_bytes;
  d["temporary_bytes"] = summary.temporary_bytes;
  d["constant_bytes"] = summary.constant_bytes;
  return d;
}

}  // namespace

void bind_compilation(py::module_& m, py::class_<graph::Graph>& graphs,
                      CompiledGraphClass& compiled) {
  py::class_<graph::CostModel>(m, "_CostModel")
      .def(py::init([](double start, double bytes, double operations) {
        return graph::CostModel{start, bytes, operations};
      }));
  using lower::KernelWork;
  py::class_<KernelWork>(m, "_KernelWork", "src/lower/analysis/kernel_work.h")
      .def(py::init<>())
      .def_readwrite("blocks", &KernelWork::blocks)
      .def_readwrite("block_threads", &KernelWork::block_threads)
      .def_readwrite("operations", &KernelWork::operations)
      .def_readwrite("fragment_products", &KernelWork::fragment_products)
      .def_readwrite("buffer_bytes", &KernelWork::buffer_bytes)
      .def_readwrite("texture_bytes", &KernelWork::texture_bytes)
      .def_readwrite("shared_bytes", &KernelWork::shared_bytes)
      .def_readwrite("distinct_bytes", &KernelWork::distinct_bytes)
      .def_readwrite("turns", &KernelWork::turns)
      .def_readwrite("registers", &KernelWork::registers)
      .def_readwrite("block_shared_bytes", &KernelWork::block_shared_bytes);
  py::class_<PyCompiledSites>(m, "_CompiledSites").def(py::init<>());
  py::class_<PyGraphOptions>(m, "_GraphOptions")
      .def(py::init<std::string, graph::CostModel, std::vector<graph::GraphPassReport>, py::object,
                    std::vector<std::string>, std::optional<std::uint64_t>, double, bool,
                    std::optional<PyCompiledSites>>(),
           py::kw_only(), py::arg("storage"), py::arg("model"), py::arg("passes"), py::arg("costs"),
           py::arg("fixed"), py::arg("max_live_bytes"), py::arg("least_gain") = graph::kLeastGain,
           py::arg("may_fold"), py::arg("compiled"));
  graphs.def("compile", &compile).def("alternatives", [](const graph::Graph& g) {
    std::vector<std::vector<std::string>> names;
    for (const graph::Node& node : g.nodes) {
      auto& list = names.emplace_back();
      for (const graph::Alternative& each : node.alternatives) list.push_back(each.name);
    }
    return names;
  });
  compiled.def("summary", &summary_dict).def("scopes", &scopes_dict);
  m.def("choose_options", &choose_options);
}

}  // namespace texloom::python
