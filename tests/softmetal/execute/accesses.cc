// Accesses to memory and textures, and reports about them.
#include <algorithm>
#include <cstring>

#include "tests/softmetal/execute/execution.h"
#include "tests/softmetal/execute/signals.h"

namespace softmetal {
namespace {

// The search for races covers regions up to this size.
constexpr size_t kMarkedBytes = size_t{1} << 26;

const char* verb(Access access) {
  switch (access) {
    case Access::Read:
    case Access::AtomicLoad:
      return "reads";
    case Access::Write:
    case Access::AtomicStore:
      return "writes";
    case Access::AtomicUpdate:
      break;
  }
  return "updates";
}

}  // namespace

void Execution::set_up_memory() {
  const auto add = [&](void* begin, size_t size, RegionKind kind, bool writable,
                       std::string name) -> Region& {
    Region region;
    region.begin = static_cast<char*>(begin);
    region.size = size;
    region.kind = kind;
    region.writable = writable;
    region.name = std::move(name);
    const bool shared = kind == RegionKind::Buffer || kind == RegionKind::Resident;
    if (options_.find_races && size <= kMarkedBytes &&
        (shared || kind == RegionKind::Threadgroup)) {
      region.marks = std::make_unique<AccessMarks>(size);
    }
    return memory_.add(std::move(region));
  };
  const auto add_range = [&](const MemoryRange& range, RegionKind kind, const std::string& name) {
    // Bindings of one range share one region, so that races through two bindings are found.
    for (const auto& r : memory_.regions()) {
      if (r->begin == range.begin && r->size == range.size) return;
    }
    add(range.begin, range.size, kind, range.writable, range.name.empty() ? name : range.name);
  };
  for (const auto& [index, range] : arguments_.buffers) {
    add_range(range, RegionKind::Buffer, "buffer " + std::to_string(index));
  }
  for (const MemoryRange& range : arguments_.resident) {
    add_range(range, RegionKind::Resident, "a resident buffer");
  }
  for (const auto& [index, bytes] : arguments_.bytes) {
    add(const_cast<uint8_t*>(bytes.data()), bytes.size(), RegionKind::Runtime, false,
        "bytes " + std::to_string(index));
  }
  // The memory is aligned for every type.
  const auto begin = (reinterpret_cast<uintptr_t>(threadgroup_memory_.data()) + 63) / 64 * 64;
  threadgroup_region_ = &add(reinterpret_cast<void*>(begin), options_.threadgroup_memory_limit,
                             RegionKind::Threadgroup, true, "threadgroup memory");
  add(tables_.data(), tables_.size(), RegionKind::Runtime, false, "values of a simdgroup");
  add(const_cast<char*>(function_.module->begin()),
      function_.module->end() - function_.module->begin(), RegionKind::Program, false,
      "the program's constants");

  // Fills the table of the entry point's arguments.
  for (const ArgumentInfo& a : function_.arguments) {
    const Parameter& p = a.parameter;
    uint64_t value = 0;
    const auto copy = [&](const void* from, size_t size) {
      copies_.emplace_back(a.description.size);
      std::memcpy(copies_.back().data(), from, std::min(size, copies_.back().size()));
      value = reinterpret_cast<uint64_t>(copies_.back().data());
    };
    if (!a.present || !p.binding) {
      if (a.description.category == 1 || a.description.category == 2) copy(&value, 0);
    } else if (p.binding == BindingKind::Buffer) {
      const auto buffer = arguments_.buffers.find(p.index);
      const auto bytes = arguments_.bytes.find(p.index);
      if (buffer != arguments_.buffers.end())
        value = reinterpret_cast<uint64_t>(buffer->second.begin);
      if (bytes != arguments_.bytes.end()) value = reinterpret_cast<uint64_t>(bytes->second.data());
    } else if (p.binding == BindingKind::Texture) {
      const auto& textures = arguments_.textures.at(p.index);
      copy(textures.data(), textures.size() * sizeof(Texture*));
      textures_.insert(textures.begin(), textures.end());
    } else if (p.binding == BindingKind::Sampler) {
      const auto& samplers = arguments_.samplers.at(p.index);
      copy(samplers.data(), samplers.size() * sizeof(SamplerState));
    } else if (p.binding == BindingKind::Threadgroup) {
      value = begin + threadgroup_bound_;
      const auto size = arguments_.threadgroup_sizes.find(p.index);
      if (size != arguments_.threadgroup_sizes.end())
        threadgroup_bound_ += (size->second + 15) / 16 * 16;
    }
    values_.push_back(value);
  }
  for (auto& c : copies_) add(c.data(), c.size(), RegionKind::Runtime, false, "an argument");
  add(values_.data(), values_.size() * sizeof(uint64_t), RegionKind::Runtime, false,
      "the arguments");
  add(threads_.data(), threads_.size() * sizeof(Thread), RegionKind::Runtime, false,
      "the builtins");
  textures_.insert(arguments_.resident_textures.begin(), arguments_.resident_textures.end());
  memory_.sort();
}

Report Execution::report_here(ReportKind kind, std::string text) const {
  Report report{kind, true, std::move(text), {}, {}, 1, refused_};
  if (running_ != nullptr) {
    for (int a = 0; a < 3; ++a) {
      report.group[a] = running_->builtins[SM_THREADGROUP_POSITION_IN_GRID][a];
      report.thread[a] = running_->builtins[SM_THREAD_POSITION_IN_THREADGROUP][a];
    }
  }
  return report;
}

void Execution::fail(ReportKind kind, std::string text) {
  reports_.push_back(report_here(kind, std::move(text)));
  failed_ = true;
  throw Abandoned{};
}

void Execution::leave() {
  running_->context.switch_to(main_);
  __builtin_unreachable();
}

void Execution::note(ReportKind kind, std::string text) {
  for (Report& r : reports_) {
    if (r.kind == kind && r.text == text) {
      ++r.count;
      return;
    }
  }
  reports_.push_back(report_here(kind, std::move(text)));
  reports_.back().is_error = false;
}

Accessor Execution::accessor(const Region& region) const {
  Accessor by;
  by.thread = (group_ - 1) * static_cast<uint32_t>(threads_.size()) + running_->index + 1;
  // Each threadgroup has its own threadgroup memory, so a new threadgroup starts a new epoch.
  const bool own = region.kind == RegionKind::Threadgroup;
  by.group = own ? 1 : group_;
  by.simdgroup = running_->simdgroup;
  by.epoch = own ? epoch_ : device_epoch_;
  by.simd_epoch = simd_epochs_[running_->simdgroup];
  return by;
}

void Execution::access(const void* address, size_t size, Access access, bool whole, bool aligned) {
  const char* at = static_cast<const char*>(address);
  const Stack& stack = running_->stack;
  if (at >= stack.begin && at < stack.begin + stack.size) return;
  if (aligned && reinterpret_cast<uintptr_t>(at) % size != 0) {
    fail(ReportKind::Misaligned, std::string(verb(access)) + " " + std::to_string(size) +
                                     " bytes at an address that is no multiple of " +
                                     std::to_string(size) + ": " + memory_.describe(address));
  }
  Region* region = memory_.find(address, size);
  if (region == nullptr) {
    const std::string what =
        stacks_.contains(address) ? "memory of another thread" : memory_.describe(address);
    refused_ = address;
    fail(ReportKind::OutOfBounds,
         std::string(verb(access)) + " " + std::to_string(size) + " bytes at " + what);
  }
  if (!is_read(access) && !region->writable) {
    fail(ReportKind::ReadOnly,
         std::string(verb(access)) + " " + region->name + ", which is only read");
  }
  const size_t offset = at - region->begin;
  if (!region->written.empty()) {
    if (offset + size > threadgroup_used_) {
      fail(ReportKind::OutOfBounds, std::string(verb(access)) + " " + std::to_string(size) +
                                        " bytes at byte " + std::to_string(offset) +
                                        " of threadgroup memory, of which " +
                                        std::to_string(threadgroup_used_) + " bytes are in use");
    }
    size_t fresh = 0;
    for (size_t i = offset; i < offset + size; ++i) fresh += 1 - region->written[i];
    // Copies of structs also read padding, which is never written.
    if (access != Access::Write && access != Access::AtomicStore && fresh != 0 &&
        (whole || fresh == size)) {
      note(ReportKind::Uninitialized,
           std::string(verb(access)) + " " + std::to_string(size) +
               " bytes of threadgroup memory that no thread has written, at byte " +
               std::to_string(offset));
    }
    if (!is_read(access) && fresh != 0) {
      std::fill(region->written.begin() + offset, region->written.begin() + offset + size,
                uint8_t{1});
    }
  }
  if (region->marks == nullptr) return;
  const std::optional<RaceFound> race =
      region->marks->record(offset, size, access, accessor(*region));
  if (!race) return;
  const std::string text = std::string("two threads ") +
                           (race->with_write ? "write" : "read and write") + " " + region->name +
                           " without a barrier between";
  // Two threads may write equal values, but a read during another thread's write is
  // nondeterministic.
  if (!race->with_write && region->kind == RegionKind::Threadgroup) {
    fail(ReportKind::Race, text + ", at byte " + std::to_string(offset));
  }
  note(ReportKind::Race, text);
}

void* Execution::threadgroup_variable(uint32_t id, uint64_t size, uint64_t alignment) {
  char* begin = threadgroup_region_->begin;
  for (const Variable& v : variables_) {
    if (v.id == id) return begin + v.offset;
  }
  const size_t offset = (threadgroup_used_ + alignment - 1) / alignment * alignment;
  if (offset + size > threadgroup_region_->size) {
    fail(ReportKind::Limit, "the kernel needs " + std::to_string(offset + size) +
                                " bytes of threadgroup memory; the limit is " +
                                std::to_string(threadgroup_region_->size));
  }
  if (id >> 31 != 0) {
    std::memset(begin + offset, 0, size);
    std::fill(threadgroup_region_->written.begin() + static_cast<ptrdiff_t>(offset),
              threadgroup_region_->written.begin() + static_cast<ptrdiff_t>(offset + size),
              uint8_t{1});
  }
  variables_.push_back({id, offset});
  threadgroup_used_ = offset + size;
  return begin + offset;
}

const Texture& Execution::texture(uint64_t handle, uint32_t type, bool reads, bool writes) {
  const auto* texture = reinterpret_cast<const Texture*>(handle);
  if (handle == 0) fail(ReportKind::Texture, "uses a texture that is not bound");
  if (textures_.count(texture) == 0)
    fail(ReportKind::Texture, "uses a texture that is not resident");
  const auto kind = static_cast<TextureKind>(type & 255);
  if (texture->kind != kind) {
    fail(ReportKind::Texture, std::string("uses a ") + texture_kind_name(texture->kind) + " as a " +
                                  texture_kind_name(kind));
  }
  const FormatInfo& format = *format_info(texture->format);
  static constexpr const char* kKinds[] = {"float", "int", "uint"};
  if (static_cast<uint32_t>(format.kind) != (type >> 8 & 255)) {
    fail(ReportKind::Texture, std::string("uses a texture of format ") + format.name +
                                  " as a texture of " + kKinds[type >> 8 & 255]);
  }
  if (reads && !texture->readable)
    fail(ReportKind::Texture, "reads a texture that was not made to be read");
  if (writes && !texture->writable)
    fail(ReportKind::Texture, "writes a texture that was not made to be written");
  return *texture;
}

void Execution::report_time_limit() {
  reports_.push_back(
      report_here(ReportKind::Fault, "the kernel did not end within the time limit"));
  failed_ = true;
}

void Execution::fault(int signal, const void* code, const void* address) {
  // A jump to an address without code faults at the address.
  const bool jumped = (signal == SIGSEGV || signal == SIGBUS) && code == address;
  const bool inside = code >= function_.module->begin() && code < function_.module->end();
  if (running_ == nullptr || (!inside && !jumped)) {
    if (signal == kTimeLimitSignal) time_is_over_ = 1;
    return;
  }
  if (signal == kTimeLimitSignal) {
    report_time_limit();
    leave();
  }
  ReportKind kind = ReportKind::Fault;
  std::string text;
  if (jumped) {
    text = "calls or returns to an address that is not in the program's code";
  } else if (signal == kDivisionSignal) {
    text = "divides an integer by zero, or the least integer by -1";
  } else if (is_below(running_->stack, address)) {
    text = "uses more memory of its own than a thread has: recursion, or large arrays";
  } else if (is_above(running_->stack, address)) {
    text = "accesses what is beyond its own memory: an index that is not in an array";
  } else {
    kind = ReportKind::OutOfBounds;
    refused_ = address;
    text = "accesses " + memory_.describe(address);
  }
  reports_.push_back(report_here(kind, std::move(text)));
  failed_ = true;
  leave();
}

}  // namespace softmetal
