// The kernels of random command buffers, for the device and for the model on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/hal/executable.h"

namespace texloom::hal::metal {

// Each kernel touches 8 words of each argument.
inline constexpr std::uint64_t kWords = 8;
inline constexpr std::uint64_t kBytes = kWords * sizeof(std::uint32_t);
using Values = std::array<std::uint32_t, kWords>;

// A kernel's parameters in order, and its effect on the host.
struct RandomKernel {
  struct Argument {
    bool is_texture;
    Access access;
  };
  std::string name;
  std::vector<Argument> arguments;
  std::vector<ElementType> constants;
  std::uint32_t threads;                                        // of a threadgroup
  std::function<void(std::span<Values>, std::uint32_t k)> run;  // k is the sum of the constants
};

const std::vector<RandomKernel>& random_kernels();
inline constexpr std::size_t kPlain = 5;  // the kernel without an argument buffer

// The sources of the kernels with an argument buffer, and of the kernel without one.
extern const char* const kByAddress;
extern const char* const kBySlot;

EntryPoint entry_of(const RandomKernel& kernel);

}  // namespace texloom::hal::metal
