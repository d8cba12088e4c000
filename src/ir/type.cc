#include "ir/type.h"

#include <fmt/format.h>

#include <array>

namespace texloom::ir {
namespace {

struct NamedType {
  std::string_view name;
  Type type;
};

constexpr std::array kNames = {
    NamedType{"bool", Type::boolean()},
    NamedType{"int8", Type::i(8)},
    NamedType{"int16", Type::i(16)},
    NamedType{"int32", Type::i(32)},
    NamedType{"int64", Type::i(64)},
    NamedType{"uint8", Type::u(8)},
    NamedType{"uint16", Type::u(16)},
    NamedType{"uint32", Type::u(32)},
    NamedType{"uint64", Type::u(64)},
    NamedType{"float16", Type::f(16)},
    NamedType{"float32", Type::f(32)},
    NamedType{"float64", Type::f(64)},
    NamedType{"bfloat16", Type{TypeCode::BFloat, 16, 1}},
};

}  // namespace

std::string to_string(Type type) {
  for (const NamedType& row : kNames) {
    if (row.type == type.element()) {
      return type.is_scalar() ? std::string(row.name) : fmt::format("{}x{}", row.name, type.lanes);
    }
  }
  return "unknown";
}

std::optional<Type> parse_type(std::string_view text) {
  for (const NamedType& row : kNames) {
    if (!text.starts_with(row.name)) continue;
    std::string_view rest = text.substr(row.name.size());
    if (rest.empty()) return row.type;
    if (rest.front() != 'x') continue;
    rest.remove_prefix(1);
    int lanes = 0;
    for (const char c : rest) {
      if (c < '0' || c > '9' || lanes > kMaxLanes) return std::nullopt;
      lanes = lanes * 10 + (c - '0');
    }
    if (lanes < 2 || lanes > kMaxLanes) return std::nullopt;
    return row.type.with_lanes(lanes);
  }
  return std::nullopt;
}

}  // namespace texloom::ir
