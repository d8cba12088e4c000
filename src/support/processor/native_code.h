// Reads objects of native code (ELF) without loading them: what they were compiled for, and whether
// they do nothing but define kernels. Nothing of an object is trusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/processor/native_abi.h"
#include "support/status.h"

namespace texloom {

inline constexpr std::string_view kNativeAbi = TEXLOOM_NATIVE_ABI;

// The note in which an object says what it was compiled for: a text "<interface> <feature>,…". Its
// section, the name of its owner, and its type.
inline constexpr std::string_view kNativeNoteSection = ".note.texloom";
inline constexpr std::string_view kNativeNoteOwner = "Texloom";
inline constexpr unsigned kNativeNoteType = 1;

struct NativeCode {
  bool is_relocatable = false;             // an object file for linking; otherwise a shared object
  std::string architecture = {};           // as LLVM names it: "x86_64", "aarch64"
  std::vector<std::string> features = {};  // that the processor must have, as LLVM names them
};

// InvalidArgument, saying what is wrong, for bytes that are no such object or are damaged, and for
// an object that Texloom did not make, or that has code of its own to run when it is loaded.
// Unimplemented for an object of another version of the interface.
Result<NativeCode> read_native_code(std::string_view bytes);

// What keeps this process from running the object's code, such as "the features avx512f, avx512bw";
// empty if nothing does.
std::string missing_for(const NativeCode& object);

}  // namespace texloom
