#include "support/kernel_format.h"

#include <array>
#include <cstddef>

namespace texloom {
namespace {

using enum KernelFormat;

constexpr bool kIsText = true, kIsNative = true, kIsCode = true;

constexpr std::array kRows = {
    KernelFormatTraits{OpenClC, "OpenCL C", kIsText, !kIsNative, kIsCode},
    KernelFormatTraits{OpenClBinary, "an OpenCL binary", !kIsText, !kIsNative, kIsCode},
    KernelFormatTraits{Msl, "MSL", kIsText, !kIsNative, kIsCode},
    KernelFormatTraits{HostFunctions, "host functions", !kIsText, !kIsNative, !kIsCode},
    KernelFormatTraits{Ir, "IR", kIsText, !kIsNative, kIsCode},
    KernelFormatTraits{Metallib, "a metallib", !kIsText, !kIsNative, kIsCode},
    // The magic number in little-endian order.
    KernelFormatTraits{Spirv, "SPIR-V", !kIsText, !kIsNative, kIsCode, "\x03\x02\x23\x07"},
    KernelFormatTraits{NativeObject, "native code", !kIsText, kIsNative, kIsCode},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].format) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "give each format a row, in the order of the enumerators");

}  // namespace

std::span<const KernelFormatTraits> kernel_formats() { return kRows; }

const KernelFormatTraits& traits_of(KernelFormat format) {
  return kRows[static_cast<std::size_t>(format)];
}

}  // namespace texloom
