// Targets: what a program is compiled for, as a value. Compiling for a target needs no device.
//
// Presets of kinds and families of devices are in presets.h, the text form is in attributes.cc.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/layout/layout_fold.h"
#include "support/source_location.h"

namespace texloom::ir {

// The language that kernels are written in and the API that runs them. src/codegen/backend.h
// has a row for each.
enum class TargetKind : uint8_t { OpenCL, Metal, Llvm };
// The first word of a target's text: "opencl", "metal", "llvm".
std::string_view to_string(TargetKind kind);
// The name in messages: "OpenCL", "Metal", "LLVM".
std::string_view api_name(TargetKind kind);
// The kind of this name: "opencl".
std::optional<TargetKind> kind_named(std::string_view name);

// Schedules for a processor and for a GPU differ, whichever API runs the kernels: a processor has
// few threads, wide vectors and large caches. The threads of a block take turns on one thread of
// the machine, so that the private arrays of all of them are on the stack of that thread.
enum class DeviceClass : uint8_t { Cpu, Gpu };
// "cpu", "gpu"
std::string_view to_string(DeviceClass device_class);

// Slots that the arguments of a kernel take. The kernel's constants together take one slot of
// buffers.
struct ArgumentSlots {
  int64_t buffers = 0, textures = 0;

  bool operator==(const ArgumentSlots&) const = default;
};

// How much of each resource a kernel may use, a grid of blocks of threads. Processors have these
// limits, too: the arrays of a block are those of a function in native code.
struct KernelLimits {
  int64_t max_threads = 1024;             // of one block
  int64_t max_threads_z = 64;             // the threads of a block along threadIdx.z
  int64_t max_image_size = 8192;          // width and height, in texels
  int64_t local_memory_bytes = 32768;     // of a block: OpenCL's local memory, scope "shared"
  int64_t private_memory_bytes = 262144;  // of a thread: scope "local"
  int64_t max_image_reads = 128;          // read-only image arguments of a kernel
  int64_t max_image_writes = 8;           // write-only image arguments of a kernel
  int64_t max_parameter_bytes = 1024;     // all arguments of a kernel
  // Set only for devices that count slots, as Metal devices do. Kernels with more arguments need
  // Features::argument_buffers.
  std::optional<ArgumentSlots> slots;
  // Threads of a block that run in step, in the order of their numbers; 1 if it is not known.
  int64_t simd_width = 1;

  bool operator==(const KernelLimits&) const = default;
};

// How SIMD-groups multiply fragments of matrices (FragmentStep).
enum class MatrixUnit : uint8_t {
  None,       // not at all: steps become loops, and schedules by themselves choose others
  Loops,      // each thread by loops, which tests use where no device has a unit
  MmaSync,    // NVIDIA's mma.sync and ldmatrix, in PTX: from compute capability 8.0 on
  Simdgroup,  // Metal's simdgroup_matrix: GPUs of family Apple7 and later
};
// "none", "loops", "mma_sync", "simdgroup"
std::string_view to_string(MatrixUnit unit);

// Features of the device's language. A schedule that uses a missing feature is refused at its line.
struct Features {
  bool images = true;
  bool float64 = true;
  // Half arithmetic that rounds to nearest. Without it float16 is computed in float32.
  bool float16_arithmetic = false;
  // Kernels may take their buffers and textures in one buffer of addresses: Metal's argument
  // buffers of tier 2.
  bool argument_buffers = false;
  MatrixUnit matrix_unit = MatrixUnit::None;
  // A block can make what it wrote visible to the whole device, so that another block of the launch
  // may read it after both took tickets (LastBlock in ir/stmt.h).
  bool device_fence = false;

  bool operator==(const Features&) const = default;
};

// A version of the language of kernels, if a target names it: Metal's.
struct LanguageVersion {
  int major = 0, minor = 0;

  auto operator<=>(const LanguageVersion&) const = default;
};
// "2.3"
std::string to_string(LanguageVersion version);

// Properties that a kernel language promises but that some implementations lack. Kernels do not
// rely on a missing property.
struct Quirks {
  // Whether a barrier may be under a condition on which all threads of the block agree. If not,
  // PoCL 3.1 computes wrong values, hangs or crashes. In a kernel with barriers, PoCL adds barriers
  // to loops whose iterations are the same for all threads, so a loop in place of the condition
  // does not help. PoCL also copies the code after each such condition: after ten of them,
  // compiling takes minutes.
  bool conditional_barriers = false;
  // Whether sin, cos and tan are as exact for a vector as for scalars. PoCL 3.1 reduces the
  // arguments of all lanes as the largest argument requires, so a huge lane makes the results of
  // small lanes wrong.
  bool vector_trigonometry = false;

  bool operator==(const Quirks&) const = default;
};
// The quirks that are assumed of a device of the class.
Quirks quirks_of(DeviceClass device_class);

// The vector registers of a processor; those of native code are what its Machine has. Both are 0 if
// they are not known.
struct VectorRegisters {
  int64_t count = 0, bytes = 0;  // bytes of a register

  bool operator==(const VectorRegisters&) const = default;
};
// "32x64": 32 registers of 64 bytes; "unknown".
std::string to_string(const VectorRegisters& registers);
// The kinds of registers that schedules are made for.
inline constexpr std::array kVectorRegisters = {
    VectorRegisters{},       VectorRegisters{16, 16},  // SSE
    VectorRegisters{16, 32},                           // AVX
    VectorRegisters{32, 16},                           // Arm's NEON
    VectorRegisters{32, 32},                           // AVX-512 for vectors of 256 bits
    VectorRegisters{32, 64},                           // AVX-512
};

// A processor, in LLVM's words. Each may be empty.
struct Machine {
  std::string triple;    // "aarch64-linux-gnu"; "" for this machine's
  std::string cpu;       // "haswell", "native"; "" for what every such processor has
  std::string features;  // "+avx2,-fma": changes of what the processor has

  bool operator==(const Machine&) const = default;
};

// How floating-point arithmetic may be changed.
struct MathMode {
  bool contract = true;  // a * b + c becomes fma(a, b, c), by lower/kernels/contract_fma.h alone
  // The compiler of the device may transform formulas as ones of real numbers. Then nothing is said
  // of bits, and the error bounds of functions do not hold.
  bool fast = false;
  bool operator==(const MathMode&) const = default;
};

struct Target {
  TargetKind kind = TargetKind::OpenCL;
  std::string device;  // the preset: "", "adreno", "mali", ...
  DeviceClass device_class = DeviceClass::Cpu;
  LanguageVersion language;  // {} for OpenCL, whose kernels are in OpenCL C 1.2
  Machine machine;           // of kind Llvm
  VectorRegisters vectors;   // of kind OpenCL
  KernelLimits limits;
  Features features;
  Quirks quirks;
  MathMode math;
  // Kernels test their indices and report bad ones (lower/loops/check_accesses.h).
  bool checked = false;
  // The rates by which schedules estimate times: the name of a profile, or the path of its file; ""
  // for those of the device's family. Only the Python front reads them.
  std::string profile;

  bool operator==(const Target&) const = default;

  ImageLimits images() const { return {limits.max_image_size, limits.max_image_size}; }
  // Whether legalized kernels run all threads of a block in one thread, as native code does: the
  // arrays of a block are those of a function then, and have no limits.
  bool runs_blocks_in_one_thread() const { return kind == TargetKind::Llvm; }
  // Whether schedules know the vector registers, and fit loops over vectors to them.
  bool has_known_vectors() const {
    return kind == TargetKind::Llvm || (device_class == DeviceClass::Cpu && vectors.count > 0);
  }
};

// Parses "opencl -device=adreno -texture_spatial_limit=16384 -max_num_threads=512 -contract=0".
// Attributes override those of the preset; each kind of target has its own attributes. Fails with
// UnknownTarget. compile/device_target.h makes the target of a device at hand.
Target parse_target(std::string_view text, const SourceLocation& where);
// The text of a target, which parse_target() turns back into the same target.
std::string to_string(const Target& target);

using AttributeValue = std::variant<bool, int64_t, std::string>;
// The attributes that a text of its kind may set, by their names there: "max_num_threads", 1024.
std::vector<std::pair<std::string_view, AttributeValue>> attributes(const Target& target);

}  // namespace texloom::ir
