#include "tests/softmetal/compile/metallib.h"

#include <vector>

#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/fields.h"

namespace softmetal {
namespace {

constexpr std::string_view kKind = "softmetal library 2";
constexpr std::string_view kOfApple = "MTLB";

enum Field {
  Toolchain,
  System,
  Version,
  Mode,
  File,
  Source,
  Preprocessed,
  Key,
  Bitcode,
  FieldCount
};

}  // namespace

std::string write_metallib(const CompiledLibrary& library) {
  std::vector<std::string> fields(FieldCount);
  fields[Toolchain] = toolchain_key();
  fields[System] = std::to_string(library.needed_system);
  fields[Version] = std::to_string(library.options.version);
  fields[Mode] = std::to_string(static_cast<int>(library.options.math_mode));
  fields[File] = library.options.file;
  fields[Source] = library.source;
  fields[Preprocessed] = library.compilation.preprocessed;
  fields[Key] = library.compilation.code.key;
  fields[Bitcode] = library.compilation.code.bitcode;
  return write_fields(kKind, fields);
}

std::optional<CompiledLibrary> read_metallib(std::string_view bytes, std::string& problem) {
  if (bytes.starts_with(kOfApple)) {
    problem =
        "the library is one of Apple's, which the software Metal cannot read: "
        "softmetal-compile -o makes one of its own";
    return std::nullopt;
  }
  std::vector<std::string> fields;
  if (!read_fields(kKind, bytes, fields) || fields.size() != FieldCount) {
    problem = "the data is not a compiled library, or it is damaged";
    return std::nullopt;
  }
  if (fields[Toolchain] != toolchain_key()) {
    problem = "the library is of another compiler";
    return std::nullopt;
  }
  CompiledLibrary library;
  library.needed_system = std::stoi(fields[System]);
  library.source = fields[Source];
  library.options.file = fields[File];
  library.options.version = std::stoi(fields[Version]);
  library.options.math_mode = static_cast<MathMode>(std::stoi(fields[Mode]));
  library.compilation = restore(fields[Preprocessed], library.options,
                                {std::move(fields[Key]), std::move(fields[Bitcode])});
  return library;
}

}  // namespace softmetal
