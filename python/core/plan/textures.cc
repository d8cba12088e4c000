// Plans texture memory.

#include <pybind11/stl.h>

#include <map>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"
#include "plan/textures/planner.h"
#include "plan/textures/views.h"

namespace texloom::python {
namespace {

using namespace plan;

TextureProblem problem_of(const py::dict& given) {
  TextureProblem problem;
  for (const py::handle row : given["items"]) {
    const auto item = py::reinterpret_borrow<py::dict>(row);
    TextureItem& result = problem.items.emplace_back();
    result.id = item["id"].cast<std::int64_t>();
    result.lifetime = {item["first"].cast<std::int64_t>(), item["last"].cast<std::int64_t>()};
    result.height = item["height"].cast<std::int64_t>();
    result.width = item["width"].cast<std::int64_t>();
    result.slices = item["slices"].cast<std::int64_t>();
    result.format = item["format"].cast<std::string>();
    result.exact = item["exact"].cast<bool>();
    result.exact_cost = item["exact_cost"].cast<std::optional<std::int64_t>>();
  }
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  problem.read_write = given["read_write_conflicts"].cast<Pairs>();
  for (const py::handle row : given["operators"]) {
    const auto op = py::reinterpret_borrow<py::dict>(row);
    using Numbers = std::vector<std::int64_t>;
    problem.operators.push_back(
        {op["inputs"].cast<Numbers>(), op["outputs"].cast<Numbers>(), op["after"].cast<Numbers>()});
  }
  problem.max_width = given["max_width"].cast<std::int64_t>();
  problem.max_height = given["max_height"].cast<std::int64_t>();
  return problem;
}

TextureMode mode_of(const std::string& name) {
  static const std::map<std::string, TextureMode> modes = {
      {"images", TextureMode::Images},
      {"one_per_tensor", TextureMode::OnePerTensor},
      {"grow", TextureMode::Grow}};
  const auto found = modes.find(name);
  if (found == modes.end()) throw py::value_error("there is no mode " + name);
  return found->second;
}

py::dict as_dict(const TextureResult& result) {
  py::list images;
  for (const TextureImage& image : result.plan.images) {
    images.append(py::dict(py::arg("width") = image.width, py::arg("height") = image.height,
                           py::arg("format") = image.format));
  }
  py::list placements;
  for (const TexturePlacement& place : result.plan.placements) {
    placements.append(py::dict(py::arg("id") = place.id, py::arg("image") = place.image,
                               py::arg("x") = place.x, py::arg("y") = place.y,
                               py::arg("fold") = place.fold, py::arg("width") = place.width,
                               py::arg("height") = place.height));
  }
  py::list bounds;
  for (const TextureBound& bound : result.bounds) {
    const bool is_live = bound.kind == TextureProof::Kind::Live;
    bounds.append(py::dict(py::arg("kind") = is_live ? "live" : "partition",
                           py::arg("format") = bound.format, py::arg("texels") = bound.texels,
                           py::arg("items") = bound.ids));
  }
  return py::dict(py::arg("images") = images, py::arg("placements") = placements,
                  py::arg("texels") = result.plan.texels(),
                  py::arg("lower_bound_texels") = result.lower_bound, py::arg("bounds") = bounds,
                  py::arg("lost_exact") = result.lost_exact, py::arg("order") = result.order,
                  py::arg("deterministic") = result.deterministic);
}

py::dict as_dict(const ViewResult& result) {
  py::list arenas;
  for (const std::int64_t bytes : result.arenas) arenas.append(py::dict(py::arg("bytes") = bytes));
  py::list placements;
  for (const ViewPlacement& place : result.placements) {
    placements.append(py::dict(py::arg("id") = place.id, py::arg("arena") = place.arena,
                               py::arg("offset") = place.offset,
                               py::arg("row_pitch") = place.row_pitch, py::arg("fold") = place.fold,
                               py::arg("width") = place.width, py::arg("height") = place.height));
  }
  py::list bounds;
  if (!result.placements.empty()) {
    const bool is_live = result.proof_kind == TextureProof::Kind::Live;
    bounds.append(py::dict(py::arg("kind") = is_live ? "live" : "partition",
                           py::arg("bytes") = result.lower_bound, py::arg("items") = result.proof));
  }
  return py::dict(py::arg("arenas") = arenas, py::arg("placements") = placements,
                  py::arg("bytes") = result.bytes(),
                  py::arg("lower_bound_bytes") = result.lower_bound, py::arg("bounds") = bounds,
                  py::arg("lost_exact") = result.lost_exact, py::arg("order") = result.order,
                  py::arg("deterministic") = result.deterministic);
}

// Calls a planner so that Ctrl-C ends it.
template <typename Planner>
py::dict run_planner(TextureOptions options, Planner planner) {
  bool interrupted = false;
  int calls = 0;
  options.canceled = [&] {
    if (++calls % 64 != 0 || interrupted) return interrupted;
    const py::gil_scoped_acquire lock;
    interrupted = PyErr_CheckSignals() != 0;
    return interrupted;
  };
  const auto result = [&] {
    const ReleasedLock released;
    return planner(options);
  }();
  if (interrupted) throw py::error_already_set();
  if (!result.ok()) throw py::value_error(in_lines(result.status()));
  return as_dict(*result);
}

py::dict plan_images(const py::dict& given, const std::string& mode, std::int64_t effort,
                     std::optional<double> time_limit, bool reorder) {
  const TextureProblem problem = problem_of(given);
  return run_planner(
      {mode_of(mode), effort, time_limit, {}, reorder},
      [&](const TextureOptions& options) { return plan_textures(problem, options); });
}

py::dict plan_over_buffers(const py::dict& given, std::int64_t effort,
                           std::optional<double> time_limit, bool reorder) {
  const TextureProblem problem = problem_of(given);
  const ViewRules rules{given["row_pitch_alignment"].cast<std::int64_t>(),
                        given["base_alignment"].cast<std::int64_t>(),
                        given["one_arena"].cast<bool>()};
  return run_planner(
      {TextureMode::Images, effort, time_limit, {}, reorder},
      [&](const TextureOptions& options) { return plan_views(problem, rules, options); });
}

}  // namespace

void bind_texture_plans(py::module_& m) {
  m.def("plan_textures", plan_images);
  m.def("plan_texture_views", plan_over_buffers);
  m.attr("DEFAULT_PLAN_EFFORT") = kDefaultEffort;
}

}  // namespace texloom::python
