#include "tests/softmetal/api/classes/commands/compute_state.h"

#include "tests/softmetal/api/classes/models.h"

using softmetal::Dispatched;

namespace softmetal {
namespace {

Grid grid_of(const DispatchSize& size) {
  const auto in = [](MTLSize s) {
    return std::array{static_cast<uint32_t>(s.width), static_cast<uint32_t>(s.height),
                      static_cast<uint32_t>(s.depth)};
  };
  Grid grid{in(size.grid), in(size.threads)};
  if (!size.is_in_threads) return grid;
  grid.threads = grid.threadgroups;
  for (int a = 0; a < 3; ++a) {
    const uint32_t threads = grid.threads_per_threadgroup[a];
    grid.threadgroups[a] = (grid.threadgroups[a] + threads - 1) / threads;
  }
  return grid;
}

}  // namespace

std::string problem_of(const PipelineState* pipeline, MTLSize threads,
                       const std::map<int, size_t>& threadgroup_sizes) {
  if (pipeline == nullptr) return "no pipeline state is set";
  const NSUInteger count = threads.width * threads.height * threads.depth;
  if (count == 0 || count > pipeline->most_threads) {
    return "more threads per threadgroup than maxTotalThreadsPerThreadgroup of the pipeline, " +
           std::to_string(pipeline->most_threads) + ", or none";
  }
  if (pipeline->is_multiple && count % pipeline->simd_width != 0) {
    return "the threadgroup is no multiple of threadExecutionWidth, as the pipeline's descriptor "
           "says";
  }
  size_t bytes = pipeline->function->threadgroup_memory;
  for (const auto& [index, size] : threadgroup_sizes) bytes += size;
  if (bytes > kThreadgroupMemory) {
    return std::to_string(bytes) + " bytes of threadgroup memory are over the limit of " +
           std::to_string(kThreadgroupMemory);
  }
  return {};
}

std::string complete(Dispatched& dispatched, const std::shared_ptr<const PipelineState>& pipeline,
                     const DispatchSize& size) {
  std::string problem =
      problem_of(pipeline.get(), size.threads, dispatched.arguments.threadgroup_sizes);
  if (!problem.empty()) return problem;
  dispatched.function = pipeline->function;
  dispatched.simd_width = pipeline->simd_width;
  dispatched.grid = grid_of(size);
  return size.is_empty() ? std::string() : dispatched.problem();
}

}  // namespace softmetal

void SMComputeState::bind_buffers(Dispatched& dispatched) const {
  dispatched.arguments.bytes = bytes;
  for (const auto& [index, bound] : buffers) {
    dispatched.bind(index, *bound.buffer->part_, bound.offset,
                    softmetal::name_for_uses(bound.buffer));
  }
}

void SMComputeState::add_residents(Dispatched& dispatched) const {
  for (const auto& [resource, usage] : used) {
    dispatched.make_resident(softmetal::resident_of(resource),
                             (usage & MTLResourceUsageWrite) != 0);
  }
  for (SMHeap* const heap : used_heaps) {
    for (const softmetal::Resident& each : [heap residents]) dispatched.make_resident(each, false);
  }
}

std::shared_ptr<Dispatched> SMComputeState::dispatched() const {
  auto made = std::make_shared<Dispatched>();
  made->arguments.threadgroup_sizes = threadgroup_sizes;
  for (const auto& [index, sampler] : samplers) made->arguments.samplers[index] = {sampler};
  bind_buffers(*made);
  for (const auto& [index, texture] : textures)
    made->bind(index, *texture->texture_, *texture->part_, softmetal::name_for_uses(texture));
  add_residents(*made);
  return made;
}

std::shared_ptr<Dispatched> SMComputeState::inherited(bool has_buffers) const {
  auto made = std::make_shared<Dispatched>();
  if (has_buffers) bind_buffers(*made);
  add_residents(*made);
  return made;
}

void SMComputeState::forget_arguments() {
  pipeline.reset();
  buffers.clear();
  textures.clear();
  bytes.clear();
  samplers.clear();
  threadgroup_sizes.clear();
  has_executed = true;
}
