// Targets: what a program is compiled for, as a value. Compiling for one needs no device.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout/layout_fold.h"
#include "support/source_location.h"

namespace texloom::ir {

// The language that kernels are written in and the API that runs them. src/codegen/backend.h
// has a row for each.
enum class TargetKind : uint8_t { OpenCL, Metal };
// The first word of a target's text: "opencl", "metal".
std::string_view to_string(TargetKind kind);

// How much of each resource a kernel may use.
struct GpuLimits {
  int64_t max_threads = 1024;             // of one block
  int64_t max_threads_z = 64;             // of them along threadIdx.z
  int64_t max_image_size = 8192;          // width and height, in texels
  int64_t local_memory_bytes = 32768;     // of one block: OpenCL's local memory, scope "shared"
  int64_t private_memory_bytes = 262144;  // of one thread: scope "local"
  int64_t max_image_reads = 128;          // read-only image arguments of a kernel
  int64_t max_image_writes = 8;           // write-only ones
  int64_t max_parameter_bytes = 1024;     // all arguments of a kernel
  // Slots for the arguments of a kernel, where they are counted; 0 elsewhere. Constants together
  // take one slot of buffers. Kernels with more arguments need Features::argument_buffers.
  int64_t max_buffers = 0;
  int64_t max_textures = 0;
  // Threads of a block that run in step, in the order of their numbers; 1 if it is not known.
  int64_t simd_width = 1;

  bool operator==(const GpuLimits&) const = default;

  ImageLimits images() const { return {max_image_size, max_image_size}; }
};

// Features of the device's language. A schedule that uses a missing feature is refused at its line.
struct Features {
  bool images = true;
  bool float64 = true;
  // Half arithmetic that rounds to nearest. Without it float16 is computed in float32.
  bool float16_arithmetic = false;
  // Kernels may take their buffers and textures in one buffer of addresses: Metal's argument
  // buffers of tier 2.
  bool argument_buffers = false;

  bool operator==(const Features&) const = default;
};

// A version of the language of kernels, if a target names it: Metal's.
struct LanguageVersion {
  int major = 0, minor = 0;

  auto operator<=>(const LanguageVersion&) const = default;
};
// "2.3"
std::string to_string(LanguageVersion version);

// Where implementations fall short of what their language promises. Kernels avoid these cases.
struct Quirks {
  // The threads of a block take turns on one thread of the machine, as on processors, so that all
  // their private arrays are on its stack.
  bool block_stack = true;
  // Whether a barrier may be under a condition on which all threads of the block agree. PoCL 3.1
  // then computes wrong values, hangs or crashes. In a kernel with barriers, it adds barriers to
  // loops that all threads run alike, so such a loop is no better there. It also copies what
  // follows the condition, which takes it minutes after ten such conditions.
  bool conditional_barriers = false;
  // Whether sin, cos and tan of a vector are as exact as those of its lanes. PoCL 3.1 reduces all
  // lanes as the largest one needs, so one that is huge makes small ones wrong.
  bool vector_trigonometry = false;

  bool operator==(const Quirks&) const = default;
};
// The quirks of processors, or of devices that are not processors.
Quirks quirks_of(bool is_processor);

// How floating-point arithmetic may be changed.
struct MathMode {
  bool contract = true;  // a * b + c becomes fma(a, b, c), by lower/kernels/contract_fma.h alone
  bool operator==(const MathMode&) const = default;
};

struct Target {
  TargetKind kind = TargetKind::OpenCL;
  std::string device;        // the preset: "", "adreno", "mali", ...
  LanguageVersion language;  // {} for OpenCL, whose kernels are in OpenCL C 1.2
  GpuLimits limits;
  Features features;
  Quirks quirks;
  MathMode math;
  // Kernels test their indices and report bad ones (lower/loops/check_accesses.h).
  bool checked = false;

  bool operator==(const Target&) const = default;
};

// Parses "opencl -device=adreno -texture_spatial_limit=16384 -max_num_threads=512 -contract=0".
// Attributes override those of the preset; some belong to one kind. Fails with UnknownTarget.
// compile/device_target.h makes the target of a device at hand.
Target parse_target(std::string_view text, const SourceLocation& where);
// Parses back to the same target.
std::string to_string(const Target& target);
// The attributes of its kind that the text turns on and off, by their names there: "images", true.
std::vector<std::pair<std::string_view, bool>> flag_attributes(const Target& target);
// The attributes of its kind that the text sets to numbers, by their names there:
// "max_num_threads", 1024.
std::vector<std::pair<std::string_view, int64_t>> numeric_attributes(const Target& target);
// The texts without attributes that parse_target knows, for help lines.
std::vector<std::string> target_presets();

}  // namespace texloom::ir
