// Copies of computations: replacements with rows in front.
#include "schedule/operation/replace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/program.h"
#include "schedule/operation/scan_operation.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::Tensor;
using ::testing::HasSubstr;

Replacements rows_of(const Tensor& from, const Tensor& to, std::int64_t offset) {
  Replacements replacements;
  replacements.rows = ir::make_int(5);
  replacements.add(from, to);
  replacements.row_offsets[{from->producer.get(), from->output}] = offset;
  return replacements;
}

// Row r of what depends on the tensor reads row r + offset of it, and row r of computed tensors.
TEST(Replacements, GiveRowsToWhatDependsOnThem) {
  const Tensor x = placeholder("X", {4}), rows = placeholder("R", {5, 4});
  const Tensor y = compute("Y", {4}, [&](const Exprs& i) { return at(x, {i[0]}); });
  const Tensor z =
      compute("Z", {4}, [&](const Exprs& i) { return at(y, {i[0]}) + ir::make_float(1); });
  const Tensor made = with_replacements({z}, rows_of(x, rows, -1)).front();
  ASSERT_EQ(made->shape.size(), 2);
  EXPECT_TRUE(is_int(made->shape[0], 5));
  EXPECT_THAT(ir::to_string(operation_of(made)->body), HasSubstr("Y[row, "));
  const Op before = operation_of(operation_of(made)->inputs.front());
  EXPECT_THAT(ir::to_string(before->body), HasSubstr("R[row + -1, "));
}

TEST(Replacements, GiveNoRowsToWhatIsEqualInAllRows) {
  const Tensor x = placeholder("X", {4}), rows = placeholder("R", {5, 4});
  const Tensor w = placeholder("W", {4});
  const Tensor y = compute("Y", {4}, [&](const Exprs& i) { return at(w, {i[0]}); });
  EXPECT_EQ(with_replacements({y}, rows_of(x, rows, 0)).front()->shape.size(), 1);
}

TEST(Replacements, RefuseScansOfRows) {
  const Tensor x = placeholder("X", {4}), rows = placeholder("R", {5, 4});
  const Tensor state = placeholder("S", {6, 4});
  const Tensor first = compute("I", {1, 4}, [&](const Exprs& i) { return at(x, {i[1]}); });
  const Tensor next =
      compute("U", {6, 4}, [&](const Exprs& i) { return at(state, {i[0] - 1, i[1]}); });
  const Op scan = make_scan("scan", "scan.idx", "", {{first, next, state}}, line(6));
  EXPECT_THAT(faults([&] { with_replacements({output_of(scan, 0)}, rows_of(x, rows, 0)); }),
              HasSubstr("TL1024 te.py:6: 'scan' is computed in each step"));
}

}  // namespace
}  // namespace texloom::schedule
