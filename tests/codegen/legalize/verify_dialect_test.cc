// Tests each rule of a dialect with the smallest kernel that breaks it.
#include "codegen/legalize/verify_dialect.h"

#include <gtest/gtest.h>

#include "codegen/opencl/opencl_dialect.h"
#include "ir/verify/verify.h"
#include "support/check.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::Buffer;
using ir::Expr;
using ir::kBool;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

const Type kFloat16 = Type::f(16), kByte = Type::u(8), kChar = Type::i(8);

class VerifyDialect : public ::testing::Test {
 protected:
  // Returns the dialect rules that a kernel with this body breaks, each once, such as "widths
  // lanes". The test fails if the kernel breaks a rule that holds for all dialects (ir::Violation).
  static std::string broken(const Stmt& body, const Dialect& dialect = opencl_dialect({})) {
    const ir::Program program = legalized(body);
    for (const ir::Violation& v : ir::find_violations(program, {.check_accesses = false})) {
      ADD_FAILURE() << to_string(v.rule) << ": " << v.node << ": " << v.problem;
    }
    std::string rules;
    for (const DialectViolation& v : find_violations(program, dialect)) {
      const std::string rule(to_string(v.rule));
      if (rules.find(rule) == std::string::npos) rules += (rules.empty() ? "" : " ") + rule;
    }
    return rules;
  }

  static ir::Program legalized(const Stmt& body) {
    ir::Program program = TestKernel().program(body);
    program.stage = ir::ProgramStage::Legalized;
    return program;
  }

  static Expr chosen(const Expr& condition, const Expr& vector) {
    return make_select(condition, vector, make_const(0, vector->type));
  }

  const Expr zero_ = make_int(0);
  const Buffer x_ = global("x", kFloat32, 64), y_ = global("y", kFloat32, 64);
  const Buffer n_ = global("n", kInt32, 64), c_ = global("c", kChar, 64);
  const Buffer h_ = global("h", kFloat16, 64);
  const Expr four_ = vector_at(x_, zero_, 4), others_ = vector_at(x_, make_int(4), 4);
  const Dialect halves_ = opencl_dialect(half_target());
  const Dialect bools_{.name = "bools", .vector_conditions = VectorConditions::Bools};
  const Dialect none_{.name = "none", .vector_conditions = VectorConditions::None};
};

TEST_F(VerifyDialect, AcceptsWhatLegalizingMakes) {
  const Expr rounded = make_cast(kFloat32, make_cast(kFloat16, at(x_, 0)));
  const Stmt body = ir::make_seq({
      put_vector(y_, zero_, chosen(make_binary(BinaryOp::Lt, four_, others_), four_)),
      put(y_, zero_, lane(four_, 3)),
      put(h_, zero_, rounded),
      put(n_, zero_, floordiv(at(n_, 1), 3)),
  });
  EXPECT_EQ(broken(body), "");
}

TEST_F(VerifyDialect, Widths) {
  EXPECT_EQ(broken(put_vector(y_, zero_, vector_at(x_, zero_, 5))), "widths");
  const Stmt eight = put_vector(y_, zero_, vector_at(x_, zero_, 8));
  EXPECT_EQ(broken(eight), "");
  EXPECT_EQ(broken(eight, bools_), "widths");
}

TEST_F(VerifyDialect, Lanes) {
  EXPECT_EQ(broken(put(y_, zero_, make_lane(four_, at(n_, 0)))), "lanes");
  EXPECT_EQ(broken(put(y_, zero_, lane(four_, 4))), "lanes");
  EXPECT_EQ(broken(put(y_, zero_, lane(four_, -1))), "lanes");
}

TEST_F(VerifyDialect, Accesses) {
  EXPECT_EQ(broken(put_vector(y_, zero_, at(x_, ramp(zero_, 4, 2)))), "accesses");
  EXPECT_EQ(broken(put_vector(y_, zero_, at(x_, vector_at(n_, zero_, 4)))), "accesses");
  EXPECT_EQ(broken(make_store(y_, {ramp(zero_, 4, 2)}, four_)), "accesses");
  EXPECT_EQ(broken(put_vector(n_, zero_, ramp(zero_, 4))), "accesses");
}

TEST_F(VerifyDialect, Types) {
  const Buffer b = global("b", Type{ir::TypeCode::BFloat, 16, 1}, 4);
  EXPECT_EQ(broken(put(b, zero_, at(b, 1))), "types memory");
  const Expr half = make_cast(kFloat16, at(x_, 0));
  EXPECT_EQ(broken(put(y_, zero_,
                       lane(make_cast(kFloat32.with_lanes(2), ir::make_pack({half, half})), 0))),
            "types");
  EXPECT_EQ(broken(put(y_, zero_, make_cast(kFloat32, half + half)), halves_), "");
  EXPECT_EQ(broken(put(y_, zero_, make_cast(kFloat32, half + half))), "types");
  EXPECT_EQ(broken(put(y_, zero_, make_cast(kFloat32, make_cast(kFloat16, at(n_, 0))))), "types");
  EXPECT_EQ(broken(put(y_, zero_, make_select(make_cast(kBool, at(n_, 0)), at(x_, 0), at(x_, 1)))),
            "types");
  // bfloat16 occurs only in memory and in roundings.
  const Expr bfloat = make_cast(b->type, at(x_, 0));
  EXPECT_EQ(broken(put(y_, zero_, make_cast(kFloat32, bfloat))), "");
  EXPECT_EQ(broken(put(y_, zero_, make_cast(kFloat32, bfloat + bfloat))), "types");
  EXPECT_EQ(broken(put(b, zero_, at(x_, 0))), "");
  EXPECT_EQ(broken(put(b, zero_, at(b, 1))), "types memory");
  const Buffer d = global("d", Type::f(64), 4);
  EXPECT_EQ(broken(put(d, zero_, at(d, 1))), "");
  EXPECT_EQ(broken(put(d, zero_, at(d, 1)), bools_), "types");
}

TEST_F(VerifyDialect, Memory) {
  EXPECT_EQ(broken(put(c_, zero_, at(n_, 0))), "memory");
  EXPECT_EQ(broken(put(n_, zero_, make_load_as(kInt32, c_, {zero_}))), "memory");
  const Buffer array = local("a", kFloat16, 4);
  EXPECT_EQ(broken(make_allocate(array, put(array, zero_, at(x_, 0)))), "memory");
  const Buffer flags = global("f", kBool, 4);
  EXPECT_EQ(broken(put(flags, zero_, at(flags, 1))), "memory");
  EXPECT_EQ(broken(put(flags, zero_, make_load_as(kByte, flags, {make_int(1)}))), "");
}

TEST_F(VerifyDialect, Texels) {
  const Buffer t = texture("t", kChar, 4, 4), u = texture("u", kChar, 4, 4);
  EXPECT_EQ(broken(make_texture_store(u, zero_, zero_, texel(t, zero_, zero_))), "texels");
  const Expr wide = make_texture_load_as(kInt32.with_lanes(4), t, zero_, zero_);
  EXPECT_EQ(broken(make_texture_store(u, zero_, zero_, wide)), "");
}

TEST_F(VerifyDialect, Promotions) {
  EXPECT_EQ(broken(put(c_, zero_, at(c_, 0) + at(c_, 1))), "promotions");
  EXPECT_EQ(broken(put(c_, zero_, min(at(c_, 0), at(c_, 1)))), "");
  EXPECT_EQ(broken(put_vector(c_, zero_, vector_at(c_, zero_, 4) + vector_at(c_, zero_, 4))), "");
  const Expr less = make_binary(BinaryOp::Lt, at(c_, 0), at(c_, 1));
  EXPECT_EQ(broken(put(c_, zero_, make_select(less, at(c_, 2), at(c_, 3)))), "promotions");
  const Expr both = make_binary(BinaryOp::BitXor, less, make_not(less));
  EXPECT_EQ(broken(put(n_, zero_, make_cast(kInt32, both))), "promotions");
}

TEST_F(VerifyDialect, Divisions) {
  const Buffer u = global("u", Type::u(32), 4);
  EXPECT_EQ(broken(put(u, zero_, floordiv(at(u, 0), at(u, 1)))), "divisions");
  EXPECT_EQ(broken(put(y_, zero_, floormod(at(x_, 0), at(x_, 1)))), "divisions");
  EXPECT_EQ(
      broken(put_vector(c_, zero_, floordiv(vector_at(c_, zero_, 4), vector_at(c_, zero_, 4)))),
      "divisions");
}

// Conditions are as wide as the values that they select.
TEST_F(VerifyDialect, Conditions) {
  const Expr less = make_binary(BinaryOp::Lt, four_, others_);
  const auto choose = [&](const Expr& condition) {
    return put_vector(y_, zero_, chosen(condition, four_));
  };
  EXPECT_EQ(broken(choose(make_not(make_binary(BinaryOp::And, less, make_not(less))))), "");
  EXPECT_EQ(broken(choose(ir::make_broadcast(make_binary(BinaryOp::Lt, at(x_, 0), at(x_, 1)), 4))),
            "conditions");
  const Expr narrow = make_binary(BinaryOp::Lt, vector_at(c_, zero_, 4), vector_at(c_, zero_, 4));
  EXPECT_EQ(broken(choose(narrow)), "conditions");
  const Expr named = ir::make_var("v", kBool.with_lanes(4));
  EXPECT_EQ(broken(make_let(named, less, choose(named))), "conditions");
  EXPECT_EQ(broken(put_vector(y_, zero_, make_cast(four_->type, less))), "conditions");
}

// Vectors of bools are valid in a dialect that has them as values, and invalid in any other.
TEST_F(VerifyDialect, ConditionsOfOtherLanguages) {
  const Expr narrow = make_binary(BinaryOp::Lt, vector_at(c_, zero_, 4), vector_at(c_, zero_, 4));
  const Expr named = ir::make_var("v", kBool.with_lanes(4));
  const Stmt body = make_let(named, narrow, put_vector(y_, zero_, chosen(named, four_)));
  EXPECT_EQ(broken(body, bools_), "");
  EXPECT_EQ(broken(body, none_), "conditions");
  EXPECT_EQ(broken(put_vector(y_, zero_, chosen(narrow, four_)), none_), "conditions");
}

TEST_F(VerifyDialect, NamesTheRuleAndTheNode) {
  const ir::Program program = legalized(put(y_, zero_, make_lane(four_, at(n_, 0))));
  try {
    verify_dialect(program, opencl_dialect({}));
    FAIL() << "nothing was refused";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("breaks the rules of OpenCL C"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("\n  [lanes] x[ramp(0, 1, 4)].lane[n[0]]: "),
              std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(verify_dialect(legalized(put(y_, zero_, at(x_, 0))), opencl_dialect({})));
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
