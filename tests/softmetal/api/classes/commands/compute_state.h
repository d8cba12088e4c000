// What a compute encoder has set, and what dispatches make of it: those of encoders, and those of
// indirect commands. For Objective-C++ sources alone.
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
  MTLSize grid, threads;  // the latter of a threadgroup
  bool is_in_threads = false;
  bool is_empty() const { return grid.width == 0 || grid.height == 0 || grid.depth == 0; }
};

// Why threadgroups of a pipeline, which may be null, cannot have so many threads and so much
// memory, or nothing.
std::string problem_of(const PipelineState* pipeline, MTLSize threads,
                       const std::map<int, size_t>& threadgroup_sizes);
// Completes a dispatch that has its arguments. Returns why it cannot run, or nothing. A dispatch of
// no threadgroups needs no arguments.
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

  // Everything that is bound, and what is reached through it.
  std::shared_ptr<softmetal::Dispatched> dispatched() const;
  // What indirect commands get of it: what is resident, and the buffers if they inherit them.
  std::shared_ptr<softmetal::Dispatched> inherited(bool has_buffers) const;
  // Indirect commands leave the pipeline and the arguments undefined. What is resident remains.
  void forget_arguments();

 private:
  void bind_buffers(softmetal::Dispatched& dispatched) const;
  void add_residents(softmetal::Dispatched& dispatched) const;
};
