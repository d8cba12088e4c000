// Kernels that are functions of the program itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/host/kernel_loader.h"
#include "runtime/drivers/host/linked_kernels.h"
#include "support/status.h"

namespace texloom::hal::host {

// The argument of a host function, which is called once for each work group. Arguments are numbered
// like the parameters of the entry point and match their kinds.
struct WorkGroup {
  std::span<const Argument> arguments;
  std::array<std::uint32_t, 3> id = {};
  std::array<std::uint32_t, 3> groups = {};  // of the dispatch
  std::array<std::uint32_t, 3> size = {};    // in work items, as the entry point says
  // Private to this group; initially undefined. Contains the entry point's local memory.
  std::span<std::byte> scratch = {};

  // All whole elements from the bound offset on, at least min_bytes.
  template <typename T>
  std::span<T> buffer(std::size_t number) const {
    const auto& argument = std::get<BufferArgument>(arguments[number]);
    return {reinterpret_cast<T*>(argument.data), argument.bytes / sizeof(T)};
  }
  const TextureArgument& texture(std::size_t number) const {
    return std::get<TextureArgument>(arguments[number]);
  }
  // All whole elements that fit.
  template <typename T>
  std::span<T> local(std::size_t number) const {
    const auto& argument = std::get<LocalArgument>(arguments[number]);
    return {reinterpret_cast<T*>(scratch.data() + argument.offset), argument.bytes / sizeof(T)};
  }
  // T is the C++ type for the parameter's element type.
  template <typename T>
  T constant(std::size_t number) const {
    T value;
    std::memcpy(&value, std::get<Constant>(arguments[number]).data(), sizeof value);
    return value;
  }
};

// Several threads run the groups of a dispatch, in no particular order. An error ends the
// submission. Must not throw.
using HostFunction = Status (*)(const WorkGroup& group);

// A named set of functions. The code of an executable of format HostFunctions is the name of a
// library, and its entry points are functions of that library.
struct FunctionLibrary {
  std::string name;
  std::map<std::string, HostFunction, std::less<>> functions;
};

// Makes a loader for KernelFormat::HostFunctions. `linked` are further libraries, whose functions
// are native code; none may be null, and they live as long as the loader and its kernels.
std::shared_ptr<const KernelLoader> make_function_loader(
    std::vector<FunctionLibrary> libraries, std::vector<const texloom_linked_kernels*> linked = {});

}  // namespace texloom::hal::host
