// The state that a compute encoder has set, and its use by dispatches of encoders and of indirect
// commands. For Objective-C++ sources only.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/programs/programs.h"
#include "tests/softmetal/api/classes/resources/resources.h"

namespace softmetal {

// `grid` is in threads if `is_in_threads`, else in threadgroups.
struct DispatchSize {
  MTLSize grid, threads;  // `threads` per threadgroup
  bool is_in_threads = false;
  bool is_empty() const { return grid.width == 0 || grid.height == 0 || grid.depth == 0; }
};

// Returns why threadgroups of a pipeline cannot have these numbers of threads and bytes of memory,
// or an empty string. The pipeline may be null.
std::string problem_of(const PipelineState* pipeline, MTLSize threads,
                       const std::map<int, size_t>& threadgroup_sizes);
// Completes a dispatch whose arguments are set. Returns why it cannot run, or an empty string. A
// dispatch of no threadgroups needs no arguments.
std::string complete(Dispatched& dispatched, const std::shared_ptr<const PipelineState>& pipeline,
                     const DispatchSize& size);

}  // namespace softmetal

struct SMComputeState {
  struct Bound {
    SMBuffer* buffer;
    NSUInteger offset;
  };
  std::shared_ptr<const softmetal::PipelineState> pipeline;
  std::map<int, Bound> buffers;
  std::map<int, SMTexture*> textures;
  std::map<int, std::vector<uint8_t>> bytes;
  std::map<int, softmetal::SamplerState> samplers;
  std::map<int, size_t> threadgroup_sizes;
  std::map<SMResource*, MTLResourceUsage> used;  // through argument buffers
  std::set<SMHeap*> used_heaps;
  std::set<std::shared_ptr<const softmetal::PipelineState>> dispatched_pipelines;
  bool has_executed = false;  // indirect commands

  // Returns a dispatch with all bound arguments and the resources that they refer to.
  std::shared_ptr<softmetal::Dispatched> dispatched() const;
  // Returns the state that indirect commands get: resident resources, and buffers if inherited.
  std::shared_ptr<softmetal::Dispatched> inherited(bool has_buffers) const;
  // Executing indirect commands leaves pipeline and arguments undefined, but resources resident.
  void forget_arguments();

 private:
  void bind_buffers(softmetal::Dispatched& dispatched) const;
  void add_residents(softmetal::Dispatched& dispatched) const;
};
