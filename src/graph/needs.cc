#include "graph/needs.h"

#include <algorithm>
#include <variant>

#include "ir/visit.h"

namespace texloom::graph {
namespace {

std::uint64_t local_bytes(const ir::Kernel& kernel) {
  std::uint64_t bytes = 0;
  ir::walk(kernel.body, [&](const ir::Allocate& n) {
    if (n.buffer->memory == ir::MemoryScope::Shared)
      bytes += static_cast<std::uint64_t>(n.buffer->layout.col_count() * n.buffer->type.bytes());
  });
  return bytes;
}

void add(const runtime::TensorStorage& storage, runtime::VariantNeeds& needs) {
  if (const auto* texture = std::get_if<runtime::TextureStorage>(&storage)) {
    needs.images = true;
    needs.max_image_width = std::max(needs.max_image_width, texture->extent.width);
    needs.max_image_height = std::max(needs.max_image_height, texture->extent.height);
  } else {
    needs.buffer_bytes = std::max(needs.buffer_bytes, runtime::bytes_of(storage));
  }
}

}  // namespace

runtime::VariantNeeds needs_of(const runtime::LaunchPlan& plan, const CallSites& sites) {
  runtime::VariantNeeds needs;
  for (const auto& [signature, site] : sites.all()) {
    const compile::Requirements& own = site->module.requirements;
    needs.images |= own.images;
    needs.float64 |= own.float64;
    needs.float16_arithmetic |= own.float16_arithmetic;
    for (const ir::Kernel& kernel : site->module.program.kernels)
      needs.local_bytes = std::max(needs.local_bytes, local_bytes(kernel));
  }
  for (const runtime::KernelSpec& kernel : plan.kernels) {
    std::uint32_t threads = 1;
    for (const std::uint32_t extent : kernel.entry.workgroup_size) threads *= extent;
    needs.max_work_group_size = std::max(needs.max_work_group_size, threads);
  }
  for (const auto* tensors : {&plan.arguments, &plan.constants}) {
    for (const runtime::TensorSpec& tensor : *tensors) add(tensor.storage, needs);
  }
  if (plan.workspace) {
    for (const runtime::TensorStorage& object : plan.workspace->objects) add(object, needs);
  } else {
    for (const runtime::TensorSpec& tensor : plan.temporaries) add(tensor.storage, needs);
  }
  return needs;
}

}  // namespace texloom::graph
