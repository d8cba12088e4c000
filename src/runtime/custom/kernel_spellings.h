// The table of kernel languages for the bodies of source kernels (kernel_language.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hal/executable.h"

namespace texloom::runtime {

// How a language spells a kernel. In the formats, {0} is the name of the argument. Constants are
// the origins of textures ("x_tl_x", "x_tl_y") and the attributes.
struct KernelSpelling {
  KernelFormat format;
  std::vector<std::string> build_options;
  std::string_view prelude;  // ids, samplers
  bool has_float64 = false;
  bool has_vector_literals = false;  // whether (float4)(a, b, c, d) makes a vector
  std::string_view double_prelude;   // precedes the kernel if a tensor is float64
  std::string_view kernel;           // {0}: the kernel's name, {1}: its parameters
  // A parameter for a buffer: {1} is the type, {2} the number of buffers before it.
  std::string_view read_buffer, write_buffer;
  // A parameter for a texture: {1} is the type of its values, {2} the number of textures before it.
  std::string_view read_texture, write_texture;
  // A parameter, or a member of a structure: {1} is the type.
  std::string_view constant;
  // The structure with all constants, if they are not parameters: {0} are its members.
  // `constants_parameter` is the parameter for this structure: {0} is the number of buffers before
  // it. `bound_constant` is a line at the beginning of the kernel for each constant.
  std::string_view constants, constants_parameter, bound_constant;
  std::string_view last_parameters;  // the thread ids, in languages that pass them as parameters
  std::string_view load, store;      // macros for textures; {1}: suffix of the type
  std::string_view four;             // a macro for every argument; {1}: the type of a value
  std::string_view get, put;         // macros for buffers; {1}: the stored type
  std::string_view get_half, put_half;
};

// One row per language, in the order in which drivers are offered them.
std::span<const KernelSpelling> kernel_spellings();

}  // namespace texloom::runtime
