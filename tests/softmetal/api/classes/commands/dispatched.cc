#include "tests/softmetal/api/classes/commands/dispatched.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/softmetal/api/classes/checks/validation.h"
#include "tests/softmetal/api/classes/models.h"

namespace softmetal {

void check_use(const Pass& pass, const std::string& what, const Part& part, Use use) {
  const std::string hazard = part.storage->uses().add(pass, what, std::move(use));
  if (!hazard.empty()) report_misuse("hazard: " + hazard);
}

void Dispatched::bind(int index, const Part& part, size_t offset, const UsedObject& object,
                      bool is_writable) {
  uint8_t* const begin = part.device() + offset;
  arguments.buffers[index] = {begin, part.size - offset, is_writable};
  places_[begin] = {part, object, nullptr};
}

void Dispatched::bind(int index, const std::shared_ptr<Texture>& texture, const Part& part,
                      const UsedObject& object) {
  arguments.textures[index] = {texture.get()};
  places_[texture.get()] = {part, object, texture};
}

void Dispatched::make_resident(const Resident& resident, bool is_writable) {
  const Place place{resident.part, resident.object, resident.texture};
  if (resident.texture != nullptr) {
    arguments.resident_textures.push_back(resident.texture.get());
    places_.emplace(resident.texture.get(), place);
  } else {
    uint8_t* const begin = resident.part.device();
    arguments.resident.push_back({begin, resident.part.size, is_writable, resident.object.name});
    places_.emplace(begin, place);
  }
}

std::optional<bool> Dispatched::residency_of(const Part& buffer,
                                             const std::vector<Resident>& of_sets) const {
  if (std::any_of(of_sets.begin(), of_sets.end(), [&](const Resident& each) {
        return each.part.device() == buffer.device() && each.part.size == buffer.size;
      }))
    return true;
  std::optional<bool> is_writable;
  for (const MemoryRange& range : arguments.resident) {
    if (range.begin == buffer.device() && range.size == buffer.size)
      is_writable = is_writable.value_or(false) || range.writable;
  }
  return is_writable;
}

RunOptions Dispatched::options() const {
  RunOptions options;
  options.simd_width = simd_width;
  options.threadgroup_memory_limit = kThreadgroupMemory;
  options.max_threads = kMaxThreads;
  return options;
}

std::string Dispatched::problem() const {
  const std::vector<Report> reports = check_arguments(*function, arguments, grid, options());
  return reports.empty() ? "" : reports.front().text;
}

void Dispatched::add_use(const Pass& pass, const Touched& touched) {
  const auto found = places_.find(
      touched.texture != nullptr ? static_cast<const void*>(touched.texture) : touched.begin);
  if (found == places_.end() || (touched.read.empty() && touched.written.empty())) return;
  const Place& place = found->second;
  const size_t offset = static_cast<const uint8_t*>(touched.begin) - place.part.storage->device();
  Use use{place.object.object,     place.object.name, touched.texture != nullptr,
          place.object.is_tracked, touched.read,      touched.written};
  for (ByteRanges* ranges : {&use.read, &use.written}) {
    for (auto& [begin, end] : *ranges) begin += offset, end += offset;
  }
  check_use(pass, "kernel \"" + function->name + "\"", place.part, std::move(use));
}

bool Dispatched::has_argument_buffers() const {
  return std::any_of(function->arguments.begin(), function->arguments.end(),
                     [](const ArgumentInfo& each) { return !each.members.empty(); });
}

std::string Dispatched::run(Pass& pass, const std::vector<Resident>& residents) {
  if (indirect) {
    const size_t begin = indirect->part.offset + indirect->offset;
    check_use(pass, "an indirect dispatch", indirect->part,
              {indirect->object.object,
               indirect->object.name,
               false,
               indirect->object.is_tracked,
               {{begin, begin + 12}},
               {}});
    std::memcpy(grid.threadgroups.data(), indirect->part.device() + indirect->offset, 12);
    if (std::count(grid.threadgroups.begin(), grid.threadgroups.end(), 0U) != 0) {
      ++pass.command;
      return {};
    }
  }
  if (has_argument_buffers()) {
    for (const Resident& each : residents) make_resident(each, true);
  }
  RunOptions run = options();
  run.on_touched = [&](const Touched& touched) { add_use(pass, touched); };
  const std::vector<Report> reports = dispatch(*function, arguments, grid, run);
  ++pass.command;
  if (!has_errors(reports)) return {};
  if (is_of_a_resource(reports.back().address)) {
    report_misuse("kernel \"" + function->name +
                  "\" uses a resource that is not resident, or beyond its end: what argument "
                  "buffers refer to must be named by useResource or useHeap, or be in a "
                  "residency set");
  }
  return print_reports(reports);
}

}  // namespace softmetal
