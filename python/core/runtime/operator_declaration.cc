#include "core/runtime/operator_declaration.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostic.h"

namespace texloom::python {
namespace {

using runtime::AttributeType;
using runtime::OperatorInfo;

template <class Enum>
struct Word {
  const char* word;
  Enum value;
};
constexpr Word<hal::Access> kAccesses[] = {{"read", hal::Access::Read},
                                           {"write", hal::Access::Write},
                                           {"read_write", hal::Access::ReadWrite}};
constexpr Word<runtime::ArgumentStorage> kStorages[] = {
    {"any", runtime::ArgumentStorage::Any},
    {"buffer", runtime::ArgumentStorage::Buffer},
    {"texture", runtime::ArgumentStorage::Texture}};
constexpr Word<AttributeType> kTypes[] = {{"integer", AttributeType::Integer},
                                          {"float", AttributeType::Float},
                                          {"text", AttributeType::Text}};

template <class Enum>
py::tuple words_of(std::span<const Word<Enum>> table) {
  py::list words;
  for (const Word<Enum>& each : table) words.append(each.word);
  return py::tuple(words);
}

template <class Enum>
Enum one_of(const py::handle& word, std::span<const Word<Enum>> table) {
  const auto given = word.cast<std::string>();
  for (const Word<Enum>& each : table) {
    if (given == each.word) return each.value;
  }
  throw py::value_error(given);
}

hal::ElementType element_of(const std::string& name) {
  const auto element = hal::element_type_from_name(name);
  if (element) return *element;
  fail(user_location(), Code::UnknownType, "use 'float32', 'uint8' or 'bool'",
       "'{}' is not a dtype", name);
}

runtime::OperatorArgument argument_of(const py::dict& row) {
  runtime::OperatorArgument argument{
      .name = row["name"].cast<std::string>(),
      .access = one_of<hal::Access>(row["access"], kAccesses),
      .storage = one_of<runtime::ArgumentStorage>(row["storage"], kStorages)};
  if (!row["layout"].is_none()) {
    const auto axes = row["layout"].cast<std::map<std::string, std::vector<std::uint32_t>>>();
    argument.layout = {.rows = axes.at("rows"), .cols = axes.at("cols"), .lanes = axes.at("lanes")};
  }
  return argument;
}

runtime::AttributeSpec attribute_of(const py::dict& row) {
  runtime::AttributeSpec spec{.name = row["name"].cast<std::string>(),
                              .type = one_of<AttributeType>(row["type"], kTypes)};
  const py::object value = row["default"];
  if (value.is_none()) return spec;
  if (spec.type == AttributeType::Integer) {
    spec.default_value = value.cast<std::int64_t>();
  } else if (spec.type == AttributeType::Float) {
    spec.default_value = value.cast<double>();
  } else {
    spec.default_value = value.cast<std::string>();
  }
  return spec;
}

}  // namespace

OperatorInfo info_of(const py::dict& declaration) {
  OperatorInfo info{.name = declaration["name"].cast<std::string>(),
                    .version = declaration["version"].cast<std::uint32_t>()};
  for (const py::handle row : declaration["arguments"])
    info.arguments.push_back(argument_of(row.cast<py::dict>()));
  for (const py::handle row : declaration["attributes"])
    info.attributes.push_back(attribute_of(row.cast<py::dict>()));
  for (const auto& names : declaration["dtypes"].cast<std::vector<std::vector<std::string>>>()) {
    std::vector<hal::ElementType>& variant = info.variants.emplace_back();
    for (const std::string& name : names) variant.push_back(element_of(name));
  }
  return info;
}

py::dict operator_words() {
  py::dict words;
  words["access"] = words_of<hal::Access>(kAccesses);
  words["storage"] = words_of<runtime::ArgumentStorage>(kStorages);
  words["type"] = words_of<AttributeType>(kTypes);
  return words;
}

}  // namespace texloom::python
