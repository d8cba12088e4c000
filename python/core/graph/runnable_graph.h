// Graphs that Python runs: compiled graphs, and graphs loaded from files.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/graph/graph_run.h"
#include "graph/compile_graph.h"
#include "runtime/custom/operator_registry.h"
#include "runtime/package/package_file.h"

namespace texloom::python {

// A graph with a GraphRun for each device, made at the graph's first run on the device.
struct PyRunnableGraph {
  virtual ~PyRunnableGraph() = default;
  virtual Result<std::unique_ptr<GraphRun>> load(const std::shared_ptr<hal::Device>& device,
                                                 const BuildCheck& goes_on) const = 0;
  virtual const runtime::Package& package() const = 0;

  runtime::OperatorRegistry operators;
  std::mutex mutex;
  std::map<const hal::Device*, std::unique_ptr<GraphRun>> runs;
};

struct PyCompiledGraph final : PyRunnableGraph {
  Result<std::unique_ptr<GraphRun>> load(const std::shared_ptr<hal::Device>& device,
                                         const BuildCheck& goes_on) const override {
    return GraphRun::create(device, compiled, operators, goes_on);
  }
  const runtime::Package& package() const override { return compiled.package; }

  graph::CompiledGraph compiled;
};

struct PyStoredGraph final : PyRunnableGraph {
  Result<std::unique_ptr<GraphRun>> load(const std::shared_ptr<hal::Device>& device,
                                         const BuildCheck& goes_on) const override {
    return GraphRun::create(device, file, package().name, operators, waits_around_calls, goes_on);
  }
  const runtime::Package& package() const override { return file->packages()[number]; }

  std::shared_ptr<const runtime::PackageFile> file;
  std::size_t number = 0;
  bool waits_around_calls = false;
};

// NumPy arrays as inputs of a graph, in row-major order. Arrays in another order are copied.
struct GraphArrays {
  explicit GraphArrays(const std::vector<pybind11::array>& given);

  std::vector<pybind11::array> arrays;
  std::vector<GraphInput> inputs;
};

}  // namespace texloom::python
