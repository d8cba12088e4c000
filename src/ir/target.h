// Targets: what a program is compiled for, as a value. Building for one needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout_fold.h"
#include "support/source_location.h"

namespace texloom::ir {

enum class TargetKind : uint8_t { OpenCL };

// How floating-point arithmetic may be changed.
struct MathMode {
  bool contract = true;  // a * b + c becomes fma(a, b, c), by lower/contract_fma alone
  bool operator==(const MathMode&) const = default;
};

struct Target {
  TargetKind kind = TargetKind::OpenCL;
  std::string device;                     // the preset: "", "adreno", "mali", ...
  int64_t max_threads = 1024;             // of one block
  int64_t max_threads_z = 64;             // of them along threadIdx.z
  int64_t max_image_size = 8192;          // width and height, in texels
  int64_t local_memory_bytes = 32768;     // of one block: OpenCL's local memory, scope "shared"
  int64_t private_memory_bytes = 262144;  // of one thread: scope "local"
  int64_t max_image_reads = 128;          // read-only image arguments of a kernel
  int64_t max_image_writes = 8;           // write-only ones
  int64_t max_parameter_bytes = 1024;     // all arguments of a kernel
  // Features. What a target lacks is refused where the user asks for it.
  bool images = true;
  bool float64 = true;
  // Half arithmetic that rounds to nearest: without it float16 is computed in float32.
  bool float16_arithmetic = false;
  // The threads of a block take turns on one thread of the machine, as on processors: all their
  // private arrays lie on its stack.
  bool block_stack = true;
  // A barrier may stand under a condition that all threads of the block agree on. PoCL 3.1 then
  // computes wrong values, hangs or crashes.
  bool conditional_barriers = false;
  MathMode math;
  // Kernels test their indices and report bad ones (lower/check_accesses.h).
  bool checked = false;

  bool operator==(const Target&) const = default;

  ImageLimits image_limits() const { return {max_image_size, max_image_size}; }
};

// "opencl -device=adreno -texture_spatial_limit=16384 -max_num_threads=512 -contract=0".
// Attributes override those of the preset. Fails with UnknownTarget. Of a device that is there:
// package/device_target.h.
Target parse_target(std::string_view text, const SourceLocation& where);
// Parses back to the same target.
std::string to_string(const Target& target);
// What holds of processors and of no other device; of what may be either, as of processors.
void set_processor(Target& target, bool is_processor);
// What the string may turn on and off, with the names there: "images", true.
std::vector<std::pair<std::string_view, bool>> flag_attributes(const Target& target);
// The numbers that the string may set, with their names in it: "max_num_threads", 1024.
std::vector<std::pair<std::string_view, int64_t>> numeric_attributes(const Target& target);
// The strings without attributes that parse_target knows: for help texts.
std::vector<std::string> target_presets();

}  // namespace texloom::ir
