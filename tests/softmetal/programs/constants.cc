#include "tests/softmetal/programs/constants.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tests/softmetal/programs/npy.h"

namespace softmetal {
namespace {

// Returns the dtype of a scalar type's name; vectors and the program's types have none.
std::optional<Dtype> dtype_of_type(const std::string& type) {
  static constexpr std::pair<const char*, Dtype> kTypes[] = {
      {"bool", Dtype::Bool},       {"char", Dtype::Int8},       {"int8_t", Dtype::Int8},
      {"uchar", Dtype::UInt8},     {"uint8_t", Dtype::UInt8},   {"short", Dtype::Int16},
      {"int16_t", Dtype::Int16},   {"ushort", Dtype::UInt16},   {"uint16_t", Dtype::UInt16},
      {"int", Dtype::Int32},       {"int32_t", Dtype::Int32},   {"uint", Dtype::UInt32},
      {"uint32_t", Dtype::UInt32}, {"long", Dtype::Int64},      {"int64_t", Dtype::Int64},
      {"ulong", Dtype::UInt64},    {"uint64_t", Dtype::UInt64}, {"half", Dtype::Float16},
      {"float", Dtype::Float32}};
  for (const auto& [name, dtype] : kTypes) {
    if (type == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace

bool check_constants(const Library& library, const std::map<int, std::string>& values,
                     std::string& problem) {
  const std::vector<FunctionConstant>& constants = library.constants();
  for (const auto& [index, value] : values) {
    const std::string option = "--constant " + std::to_string(index);
    const auto constant = std::find_if(constants.begin(), constants.end(),
                                       [&](const FunctionConstant& c) { return c.index == index; });
    if (constant == constants.end()) {
      problem =
          option + ": the program has no [[function_constant(" + std::to_string(index) + ")]]";
      return false;
    }
    const std::optional<Dtype> dtype = dtype_of_type(constant->type);
    std::vector<uint8_t> bytes;
    if (dtype && !parse_numbers(value, *dtype, bytes, problem)) {
      problem = option + ": " + problem;
      return false;
    }
  }
  return true;
}

}  // namespace softmetal
