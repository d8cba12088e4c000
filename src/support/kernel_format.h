// The formats of compiled kernels: backends emit them, packages store them, drivers prepare them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace texloom {

enum class KernelFormat : std::uint8_t {
  OpenClC,
  OpenClBinary,   // for one device and one version of its driver
  Msl,            // Metal's language
  HostFunctions,  // functions of the process: the name of a library (drivers/host/host_functions.h)
  Ir,             // the compiler's text form
  Metallib,       // MSL, compiled to a library for one version of the system and all later ones
  Spirv,          // a module of SPIR-V, in words of the machine's byte order
  NativeObject,   // an object file or a shared library for the machine's processor
};

// The properties in which formats differ. A new format is a new row in kernel_format.cc.
struct KernelFormatTraits {
  KernelFormat format;
  std::string_view name;         // in messages: "OpenCL C", "a metallib"
  bool is_text;                  // source, which a compiler has to translate
  bool is_native;                // machine code that runs in the process, with all of its rights
  bool is_code;                  // false: the bytes have no code, but may name functions
  std::string_view prefix = {};  // the bytes that every code of the format begins with
};

// The traits of all formats, in the order of KernelFormat.
std::span<const KernelFormatTraits> kernel_formats();
const KernelFormatTraits& traits_of(KernelFormat format);

}  // namespace texloom
