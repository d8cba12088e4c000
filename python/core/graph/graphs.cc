// Binds graphs of operators: python/texloom/graph builds them.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compile/native/static_kernels.h"
#include "core/compile/packages.h"
#include "core/graph/builder.h"
#include "core/graph/computation.h"
#include "core/graph/graph_compilation.h"
#include "core/graph/passes.h"
#include "core/graph/runnable_graph.h"
#include "core/graph/sizes.h"
#include "core/graph/tasks.h"
#include "core/handles.h"
#include "core/runtime/build_wait.h"
#include "core/runtime/custom.h"
#include "core/runtime/default_device.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"
#include "graph/compile_graph.h"
#include "graph/text/text.h"
#include "runtime/executor/load_graph.h"
#include "runtime/executor/package_binaries.h"
#include "runtime/package/add_variants.h"
#include "runtime/package/package_file.h"
#include "runtime/package/package_writer.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

// Reports the kernel that is compiled.
runtime::BuildProgress progress_of(BuildWait& building) {
  return [&building](const runtime::KernelProgress& at, const runtime::LaunchPlan& plan) {
    const runtime::KernelSpec& kernel = plan.kernels[at.current];
    return building.goes_on(at, kernel.entry.name,
                            plan.modules[kernel.module].codes.front().code.size());
  };
}

// Calls `use` with the graph's run on the device, by one thread at a time. The GIL is released
// before the lock is taken, because the thread that holds the lock may need the GIL.
template <typename Use>
void with_run(PyRunnableGraph& graph, const PyDevice& device, const Use& use) {
  const std::shared_ptr<hal::Device>& opened = open_device(device);
  BuildWait building;
  const BuildCheck goes_on = progress_of(building);
  const Status status = [&]() -> Status {
    const ReleasedLock released;
    // A host function that ran the graph to which it belongs would wait for itself.
    TL_RETURN_IF_ERROR(GraphRun::check_may_run());
    const std::lock_guard lock(graph.mutex);
    std::unique_ptr<GraphRun>& run = graph.runs[opened.get()];
    if (!run) {
      TL_ASSIGN_OR_RETURN(run, graph.load(opened, goes_on));
    }
    return use(*run);
  }();
  building.throw_if_interrupted();
  throw_if_error(status);
  warn_of_unusable_cache();
}

// Waits for the device that runs the program; Ctrl-C ends the wait. Called without the GIL.
void wait_for_run(const std::shared_ptr<runtime::DeviceProgram>& program) {
  const py::gil_scoped_acquire lock;
  explain_waits_for(program);
  wait_for(*program->device());
}

// Arrays that a device may use after a run that an exception ended. They are released with the GIL.
struct LentArrays {
  GraphArrays inputs;
  std::vector<py::array> outputs;
};

std::shared_ptr<const LentArrays> lend(GraphArrays inputs, const std::vector<py::array>& outputs) {
  return {new LentArrays{std::move(inputs), outputs}, [](const LentArrays* arrays) {
            const py::gil_scoped_acquire lock;
            delete arrays;
          }};
}

std::vector<py::array> run(PyRunnableGraph& graph, const PyDevice& device,
                           const std::vector<py::array>& inputs, std::vector<py::array> outputs) {
  const std::shared_ptr<const LentArrays> lent = lend(GraphArrays(inputs), outputs);
  std::vector<std::span<std::byte>> results;
  for (py::array& array : outputs)
    results.emplace_back(static_cast<std::byte*>(array.mutable_data()),
                         static_cast<std::size_t>(array.nbytes()));
  with_run(graph, device, [&](GraphRun& own) {
    return own.run(lent->inputs.inputs, results, lent,
                   [](const auto& program) { wait_for_run(program); });
  });
  return outputs;
}

double time(PyRunnableGraph& graph, const PyDevice& device, int times) {
  double seconds = 0;
  with_run(graph, device, [&](GraphRun& own) -> Status {
    TL_ASSIGN_OR_RETURN(seconds, own.time(times));
    return {};
  });
  return seconds;
}

// Loads the package `name` of the file, or the first package if the name is empty.
std::shared_ptr<PyStoredGraph> load(const py::bytes& path, const std::string& name,
                                    const py::list& operators, bool waits_around_calls,
                                    bool native) {
  auto graph = std::make_shared<PyStoredGraph>();
  graph->waits_around_calls = waits_around_calls;
  graph->file = open_package(path, native ? NativeKernels::Take : NativeKernels::Refuse);
  const auto packages = graph->file->packages();
  while (!name.empty() && graph->number < packages.size() && packages[graph->number].name != name)
    ++graph->number;
  if (graph->number == packages.size()) {
    std::vector<std::string> names;
    for (const runtime::Package& each : packages) names.push_back(each.name);
    fail(user_location(), Code::UnknownName,
         fmt::format("name one of its graphs: {}", fmt::join(names, ", ")),
         "the file has no graph '{}'", name);
  }
  for (const py::handle& op : operators) throw_if_error(graph->operators.add(operator_of(op)));
  return graph;
}

// The graph's package with further metadata.
runtime::Package described(const PyCompiledGraph& graph,
                           const std::map<std::string, std::string>& metadata) {
  runtime::Package package = graph.compiled.package;
  for (const auto& [name, text] : metadata) {
    if (std::ranges::find(package.metadata, name, &runtime::Attribute::name) ==
        package.metadata.end())
      package.metadata.push_back({name, text});
  }
  return package;
}

// Compiles the package's kernels on the device, and puts the binaries into the package.
void add_binaries(runtime::Package& package, const PyDevice& device) {
  const std::shared_ptr<hal::Device>& opened = open_device(device);
  BuildWait building;
  const auto goes_on = progress_of(building);
  const Status status = [&] {
    const ReleasedLock released;
    return runtime::add_binaries(std::span(&package, 1), opened, goes_on).status();
  }();
  building.throw_if_interrupted();
  throw_if_error(status);
}

void save(const PyCompiledGraph& graph, const py::bytes& path,
          const std::map<std::string, std::string>& metadata,
          const std::vector<std::shared_ptr<PyCompiledGraph>>& others,
          const std::vector<PyDevice>& binaries) {
  runtime::Package package = described(graph, metadata);
  for (const auto& other : others) {
    const Status added = runtime::add_variants(package, other->compiled.package);
    if (!added.ok())
      fail(user_location(), Code::BadGraph,
           "compile all variants from one model with the same options", "{}", added.message());
  }
  for (const std::string& problem : runtime::shadowed_variants(package)) {
    warn({Severity::Warning,
          Code::BadOption,
          user_location(),
          problem,
          "give the targets that need most first, or leave one of the two out",
          {}});
  }
  for (const PyDevice& device : binaries) add_binaries(package, device);
  throw_if_not_written(runtime::write_package(package, std::string(path)));
}

// (name, dtype, shape) of each input or output.
py::list tensors(const PyStoredGraph& graph, const std::vector<std::uint32_t>& numbers) {
  py::list list;
  for (const std::uint32_t number : numbers) {
    const runtime::PackageTensor& tensor = graph.package().tensors[number];
    list.append(py::make_tuple(tensor.name, std::string(hal::to_string(tensor.element)),
                               extents_of(tensor.shape)));
  }
  return list;
}

}  // namespace

void bind_graphs(py::module_& m) {
  py::class_<graph::Graph> graphs(m, "_Graph");
  bind_computations(m);
  bind_tasks(m, graphs);
  bind_builder(graphs);
  bind_graph_passes(m, graphs);
  graphs.def("__str__", [](const graph::Graph& g) { return graph::to_string(g); });
  py::class_<PyRunnableGraph, std::shared_ptr<PyRunnableGraph>>(m, "_RunnableGraph")
      .def("run", &run)
      .def("output_shapes",
           [](const PyRunnableGraph& g, const PyDevice& device,
              const std::vector<runtime::Shape>& inputs) {
             const auto variant = runtime::choose_variant(g.package(), open_device(device)->info());
             throw_if_error(variant.status());
             return output_shapes(g.package(), *variant, inputs);
           })
      .def("symbols", [](const PyRunnableGraph& g) { return g.package().symbols; })
      .def("default_device",
           [](const PyRunnableGraph& g) { return default_device_of(g.package()).name; })
      .def("time", &time);
  py::class_<PyStoredGraph, PyRunnableGraph, std::shared_ptr<PyStoredGraph>>(m, "_StoredGraph")
      .def("inputs", [](const PyStoredGraph& g) { return tensors(g, g.package().inputs); })
      .def("outputs", [](const PyStoredGraph& g) { return tensors(g, g.package().outputs); });
  m.def("load_graph", load);
  py::class_<PyCompiledGraph, PyRunnableGraph, std::shared_ptr<PyCompiledGraph>> compiled(
      m, "_CompiledGraph");
  bind_compilation(m, graphs, compiled);
  compiled.def("save", &save)
      .def("save_object",
           [](const PyCompiledGraph& g, const std::string& name,
              const std::optional<py::bytes>& path,
              const std::map<std::string, std::string>& metadata) {
             return write_static(compile::static_kernels(described(g, metadata), g.compiled.objects,
                                                         name, user_location()),
                                 path);
           })
      .def("annotate",
           [](PyCompiledGraph& g, const py::dict& metadata) {
             g.compiled.package.metadata = attributes_of(metadata);
           })
      .def("__str__",
           [](const PyCompiledGraph& g) { return graph::to_string(g.compiled.summary); });
}

}  // namespace texloom::python
