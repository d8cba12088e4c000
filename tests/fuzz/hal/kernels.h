// Kernels as functions of the program, and what each of them should do to memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/drivers/host/host_functions.h"
#include "runtime/hal/executable.h"
#include "tests/fuzz/hal/model.h"

namespace texloom::hal::fuzz {

struct Launch {
  std::array<std::uint32_t, 3> groups = {};
  std::vector<Place> places = {};  // the buffers and textures among the parameters
  std::vector<Constant> constants = {};
};

struct Kernel {
  EntryPoint entry = {};
  host::HostFunction function;
  bool (*model)(const Launch& launch);  // false where the kernel fails
};

// All of them; the same at each call.
const std::vector<Kernel>& kernels();

host::FunctionLibrary kernel_library();

// Whether a kernel takes what is bound: the rules of CommandBuffer::dispatch.
bool takes(const KernelParam& param, const Place& place, const DeviceLimits& limits);
bool has_aliases(const EntryPoint& entry, std::span<const Place> places);

// The parameters that take memory, and those that take constants.
std::vector<const KernelParam*> memory_params(const EntryPoint& entry);
std::vector<const ConstantParam*> constant_params(const EntryPoint& entry);

// What of its memory a kernel may touch.
Touch touch_of(const KernelParam& param, const Bound& bound);

// Whether the numbers of groups of an indirect dispatch may be there.
bool holds_groups(const Place& place);

}  // namespace texloom::hal::fuzz
