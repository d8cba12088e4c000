#include "runtime/plan/workspace_check.h"

#include <algorithm>
#include <string>
#include <vector>

namespace texloom::runtime {
namespace {

using hal::Offset2D;

bool lies_within(const TensorStorage& tensor, const Placement& place, const TensorStorage& object) {
  if (tensor.index() != object.index() || are_counters(tensor) != are_counters(object))
    return false;
  const auto* texture = std::get_if<TextureStorage>(&tensor);
  if (texture == nullptr)
    return place.origin == Offset2D{} &&
           hal::range_fits(place.offset, std::get<BufferStorage>(tensor).bytes,
                           std::get<BufferStorage>(object).bytes);
  const auto& image = std::get<TextureStorage>(object);
  return place.offset == 0 && texture->format == image.format &&
         hal::region_fits(place.origin, texture->extent, image.extent) &&
         (!texture->exact_extent || texture->extent == image.extent);
}

// Walks the steps in order, each loop's body once, because a body frees its allocations.
class Checker {
 public:
  explicit Checker(const LaunchPlan& plan) : plan_(plan), workspace_(*plan.workspace) {}

  Status check(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* allocate = std::get_if<AllocateStep>(&step)) {
        TL_RETURN_IF_ERROR(check(*allocate));
      } else if (const auto* free = std::get_if<FreeStep>(&step)) {
        std::erase(live_, free->temporary);
      } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        TL_RETURN_IF_ERROR(check(*launch));
      } else if (const auto* call = std::get_if<CallStep>(&step)) {
        TL_RETURN_IF_ERROR(check(*call));
      } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_RETURN_IF_ERROR(check(loop->body));
      }
    }
    return {};
  }

 private:
  Status check(const AllocateStep& step) {
    const TensorSpec& tensor = plan_.temporaries[step.temporary];
    const Placement& place = workspace_.places[step.temporary];
    if (place.object >= workspace_.objects.size() ||
        !lies_within(tensor.storage, place, workspace_.objects[place.object]))
      return invalid_argument(
          "temporary \"{}\" does not fit object {}; the workspace has {} objects", tensor.name,
          place.object, workspace_.objects.size());
    for (const std::uint32_t other : live_) {
      if (are_counters(tensor.storage) && are_counters(plan_.temporaries[other].storage)) continue;
      if (places_meet(tensor.storage, place, plan_.temporaries[other].storage,
                      workspace_.places[other]))
        return invalid_argument("temporaries \"{}\" and \"{}\" are live together and overlap",
                                plan_.temporaries[other].name, tensor.name);
    }
    live_.push_back(step.temporary);
    return {};
  }

  Status check(const LaunchStep& launch) const {
    const hal::EntryPoint& entry = plan_.kernels[launch.kernel].entry;
    std::vector<std::uint32_t> read, written;  // objects that are textures
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      const auto* texture = std::get_if<hal::TextureParam>(&entry.params[i]);
      const auto* ref = std::get_if<TensorRef>(&launch.operands[i]);
      if (texture == nullptr || ref == nullptr || ref->kind != TensorRef::Kind::Temporary) continue;
      const Placement& place = workspace_.places[ref->index];
      (texture->access == hal::Access::Read ? read : written).push_back(place.object);
      if (texture->origin == hal::TextureOrigin::Zero && place.origin != Offset2D{})
        return invalid_argument("kernel \"{}\" takes \"{}\" at origin (0, 0), but it is at {}",
                                entry.name, plan_.temporaries[ref->index].name,
                                hal::to_string(place.origin));
    }
    return check_apart(fmt::format("kernel \"{}\"", entry.name), read, written);
  }

  Status check(const CallStep& step) const {
    const OperatorCall& call = plan_.calls[step.call];
    std::vector<std::uint32_t> read, written;  // objects that are textures
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      const TensorRef ref = step.tensors[i];
      if (ref.kind != TensorRef::Kind::Temporary ||
          !std::holds_alternative<TextureStorage>(plan_.temporaries[ref.index].storage))
        continue;
      const std::uint32_t object = workspace_.places[ref.index].object;
      (hal::writes(call.accesses[i]) ? written : read).push_back(object);
    }
    return check_apart(fmt::format("operator \"{}\"", call.op), read, written);
  }

  static Status check_apart(const std::string& what, const std::vector<std::uint32_t>& read,
                            const std::vector<std::uint32_t>& written) {
    for (const std::uint32_t object : read) {
      if (std::find(written.begin(), written.end(), object) != written.end())
        return invalid_argument("{} both reads and writes texture object {}", what, object);
    }
    return {};
  }

  const LaunchPlan& plan_;
  const WorkspacePlan& workspace_;
  std::vector<std::uint32_t> live_;
};

}  // namespace

Status check_workspace(const LaunchPlan& plan) {
  if (!plan.symbols.empty())
    return invalid_argument("the plan has a workspace, but its sizes depend on the call");
  if (plan.workspace->places.size() != plan.temporaries.size())
    return invalid_argument("the workspace has places for {} temporaries, but there are {}",
                            plan.workspace->places.size(), plan.temporaries.size());
  for (const PartOfTemporary& part : plan.parts) {
    if (plan.workspace->places[part.temporary] ==
        place_in(plan.workspace->places[part.whole], part))
      continue;
    return invalid_argument("part \"{}\" is not at its place in \"{}\"",
                            plan.temporaries[part.temporary].name,
                            plan.temporaries[part.whole].name);
  }
  return Checker(plan).check(plan.steps);
}

}  // namespace texloom::runtime
