#include "core/graph/sizes.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/handles.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

using Op = runtime::Size::Op;

constexpr std::array kOps = {
    std::pair{Op::Constant, std::string_view("constant")},
    std::pair{Op::Symbol, std::string_view("symbol")},
    std::pair{Op::Add, std::string_view("add")},
    std::pair{Op::Sub, std::string_view("sub")},
    std::pair{Op::Mul, std::string_view("mul")},
    std::pair{Op::FloorDiv, std::string_view("floordiv")},
    std::pair{Op::FloorMod, std::string_view("floormod")},
    std::pair{Op::Min, std::string_view("min")},
    std::pair{Op::Max, std::string_view("max")},
};

// The help for shapes that complete_shapes() refuses: those that only break a condition of the plan
// need other sizes.
std::string help_for(const runtime::LaunchPlan& plan,
                     std::span<const std::optional<runtime::Shape>> shapes) {
  runtime::LaunchPlan unconditional;
  unconditional.symbols = plan.symbols;
  unconditional.arguments = plan.arguments;
  if (runtime::complete_shapes(unconditional, shapes, {}).ok())
    return "pass arrays whose sizes meet this";
  return "pass arrays whose shapes agree with one another";
}

}  // namespace

runtime::Size size_of(const py::handle& extent) {
  if (py::isinstance<py::int_>(extent)) return extent.cast<std::int64_t>();
  std::vector<runtime::Size::Step> steps;
  for (const auto& [word, value] :
       extent.cast<std::vector<std::pair<std::string, std::int64_t>>>()) {
    const auto* op = std::find_if(kOps.begin(), kOps.end(),
                                  [&name = word](const auto& row) { return row.second == name; });
    TL_CHECK(op != kOps.end(), word);
    steps.push_back({op->first, value});
  }
  auto size = runtime::Size::from_steps(std::move(steps));
  TL_CHECK(size.ok(), size.status().message());
  return *std::move(size);
}

graph::Shape shape_of(const py::sequence& extents) {
  graph::Shape shape;
  for (const py::handle& extent : extents) shape.push_back(size_of(extent));
  return shape;
}

py::object extent_of(const runtime::Size& size) {
  if (const auto number = size.constant()) return py::int_(*number);
  py::list steps;
  for (const runtime::Size::Step& step : size.steps()) {
    const auto* op = std::find_if(kOps.begin(), kOps.end(),
                                  [&](const auto& row) { return row.first == step.op; });
    TL_CHECK(op != kOps.end(), "a shape has no loop variables");
    steps.append(py::make_tuple(std::string(op->second), step.value));
  }
  return steps;
}

py::tuple extents_of(const std::vector<runtime::Size>& shape) {
  py::list extents;
  for (const runtime::Size& extent : shape) extents.append(extent_of(extent));
  return extents;
}

std::vector<runtime::Shape> output_shapes(const runtime::Package& package, std::size_t number,
                                          const std::vector<runtime::Shape>& inputs) {
  const runtime::PackageVariant& variant = package.variants[number];
  const auto argument_of = [&](std::uint32_t tensor) -> std::optional<std::uint32_t> {
    const auto& ref = variant.stores[tensor].tensor;
    return ref ? std::optional(ref->index) : std::nullopt;
  };
  std::vector<std::optional<runtime::Shape>> known(variant.plan.arguments.size());
  for (std::size_t i = 0; i < package.inputs.size(); ++i) {
    if (const auto argument = argument_of(package.inputs[i])) known[*argument] = inputs.at(i);
  }
  const auto shapes = runtime::complete_shapes(variant.plan, known, {});
  if (!shapes.ok())
    fail(user_location(), Code::WrongShape, help_for(variant.plan, known), "{}",
         shapes.status().message());
  std::vector<runtime::Shape> results;
  for (const std::uint32_t output : package.outputs)
    results.push_back((*shapes)[*argument_of(output)]);
  return results;
}

}  // namespace texloom::python
