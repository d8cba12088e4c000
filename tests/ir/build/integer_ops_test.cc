// Compares integer operations on known values with their definitions in 128 bits.
#include "ir/build/integer_ops.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/ir/build/exact_integers.h"

namespace texloom::ir {
namespace {

// A value of the type as the number that it stands for: uint64 is given as its bits.
Wide number(Type type, int64_t value) {
  return type.is_int() ? Wide{value} : Wide{static_cast<uint64_t>(value)};
}

void expect_results(Type type, BinaryOp op, int64_t a, int64_t b) {
  const std::string what = to_string(type) + " " + std::to_string(a) + " " +
                           std::string(spelling(op)) + " " + std::to_string(b);
  const auto result = [&](Overflow overflow) { return integer_result(op, type, a, b, overflow); };
  const std::optional<Wide> value = exact(op, number(type, a), number(type, b), type.bits);
  ASSERT_EQ(result(Overflow::Wrap).has_value(), value.has_value()) << what;
  if (!value) {
    ASSERT_FALSE(result(Overflow::Refuse)) << what;
    return;
  }
  const int64_t held = is_comparison(op) ? static_cast<int64_t>(*value) : wrapped(*value, type);
  ASSERT_EQ(result(Overflow::Wrap), held) << what;
  const bool fits = is_comparison(op) || number(type, held) == *value;
  ASSERT_EQ(result(Overflow::Refuse), fits ? std::optional(held) : std::nullopt) << what;
}

// The values include the least number, divided by -1, and uint64 numbers from 2^63.
TEST(IntegerOps, WrapOrRefuseWhatTheTypeCannotHold) {
  for (const Type type : {Type::i(8), Type::i(16), kInt32, kInt64, Type::u(8), Type::u(16),
                          Type::u(32), Type::u(64), kBool}) {
    for (const BinaryOp op : kAllOps) {
      if (is_logical(op)) continue;
      for (const int64_t a : edges(type)) {
        for (const int64_t b : edges(type)) {
          ASSERT_NO_FATAL_FAILURE(expect_results(type, op, a, b));
        }
      }
    }
  }
}

}  // namespace
}  // namespace texloom::ir
