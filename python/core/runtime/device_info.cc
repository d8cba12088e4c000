#include "core/runtime/device_info.h"

#include <pybind11/stl.h>

#include <string>

namespace texloom::python {

namespace {

py::dict count_dict(const hal::MemoryCount& count) {
  py::dict d;
  d["bytes"] = count.bytes;
  d["objects"] = count.objects;
  d["peak_bytes"] = count.peak_bytes;
  d["peak_objects"] = count.peak_objects;
  return d;
}

py::dict workspace_dict(const hal::WorkspaceStatistics& pool) {
  py::dict d;
  d["requests"] = pool.requests;
  d["exact_hits"] = pool.exact_hits;
  d["reuses"] = pool.reuses;
  d["growths"] = pool.growths;
  d["waits"] = pool.waits;
  d["driver_allocations"] = pool.driver_allocations;
  d["bytes_held"] = pool.bytes_held;
  d["bytes_in_use"] = pool.bytes_in_use;
  d["max_bytes_held"] = pool.max_bytes_held;
  d["wasted_texels"] = pool.wasted_texels;
  return d;
}

}  // namespace

py::dict info_dict(const hal::DeviceInfo& info) {
  py::dict quirks;
  for (const hal::Quirk& quirk : info.quirks) quirks[py::str(quirk.name)] = quirk.reason;
  py::dict d;
  d["id"] = info.id;
  d["name"] = info.name;
  d["platform"] = info.platform;
  d["vendor"] = info.vendor;
  d["driver_version"] = info.driver_version;
  d["language_version"] = info.language_version;
  d["type"] = std::string(hal::to_string(info.type));
  d["images"] = info.features.images;
  d["float64"] = info.features.float64;
  d["float16_arithmetic"] = info.features.float16_arithmetic;
  d["max_image_width"] = info.limits.max_image_width;
  d["max_image_height"] = info.limits.max_image_height;
  d["max_threads_per_block"] = info.limits.max_workgroup_size;
  d["max_thread_dimensions"] = py::list(py::cast(info.limits.max_workitem_sizes));
  d["max_shared_memory_per_block"] = info.limits.local_memory_bytes;
  d["compute_units"] = info.limits.compute_units;
  d["quirks"] = quirks;
  return d;
}

py::dict memory_dict(hal::Device& device) {
  const hal::MemoryStatistics memory = device.allocator()->statistics();
  py::dict d;
  for (const hal::MemoryKind kind : hal::kAllMemoryKinds)
    d[py::str(std::string(hal::to_string(kind)))] = count_dict(memory.of(kind));
  d["imported"] = count_dict(memory.imported);
  d["workspace"] = workspace_dict(device.workspace_pool().statistics());
  return d;
}

}  // namespace texloom::python
