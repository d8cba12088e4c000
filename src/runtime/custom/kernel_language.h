// Writes the bodies of source kernels (source_kernel.h) as kernels in each kernel language.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/custom/operator.h"
#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::runtime {

// A source kernel for tensors of known sizes.
struct KernelText {
  std::string_view name;  // of the kernel
  std::string_view body;
  std::span<const OperatorArgument> arguments;
  std::span<const TensorSpec> tensors;          // by argument
  std::span<const hal::ConstantParam> numbers;  // the attributes
  // Threads beyond these limits do nothing; with zeros, all threads run the body.
  std::array<std::int64_t, 3> limits = {};
};

// The parameters of the kernel: the arguments in order, each texture followed by the two constants
// of its origin ("x_tl_x", "x_tl_y"); then the attributes.
std::vector<hal::KernelParam> params_of(const KernelText& kernel);

// Returns the kernel in every language of the table (kernel_spellings.h) that has the kernel's
// types and the vector literals of its body. Fails with InvalidArgument if no language has one of
// the element types.
Result<std::vector<hal::KernelCode>> codes_of(const KernelText& kernel);

}  // namespace texloom::runtime
