// Kernels as functions of the program, and models of their effects on memory.
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
  std::vector<Place> places = {};  // buffers and textures in order of the parameters
  std::vector<Constant> constants = {};
};

struct Kernel {
  EntryPoint entry = {};
  host::HostFunction function;
  bool (*model)(const Launch& launch);  // returns false if the kernel fails
};

// Returns all kernels; every call returns the same list.
const std::vector<Kernel>& kernels();

host::FunctionLibrary kernel_library();

// Whether a kernel accepts a binding, by the rules of CommandBuffer::dispatch.
bool takes(const KernelParam& param, const Place& place, const DeviceLimits& limits);
bool has_aliases(const EntryPoint& entry, std::span<const Place> places);

// Return the memory parameters and the constant parameters.
std::vector<const KernelParam*> memory_params(const EntryPoint& entry);
std::vector<const ConstantParam*> constant_params(const EntryPoint& entry);

// Returns which part of its memory a kernel may access.
Touch touch_of(const KernelParam& param, const Bound& bound);

// Whether the place may contain the group counts of an indirect dispatch.
bool holds_groups(const Place& place);

}  // namespace texloom::hal::fuzz
