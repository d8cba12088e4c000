// Errors that need the whole schedule, except those about reads (check_reads_test.cc).
#include "lower/schedule/check_schedule.h"

#include <gtest/gtest.h>

#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::IterVar;
using ir::make_int;
using ir::Tensor;
using ir::Type;
using schedule::make_compute;
using schedule::output_of;

std::string checked(Lowering lowering) {
  return faults([&] { check_schedule(lowering); });
}
std::string checked(const Te& te, const std::vector<Tensor>& arguments) {
  return checked(lowering_of(te, arguments));
}

// A -> B -> C over 8 x 16.
class CheckSchedule : public ::testing::Test {
 protected:
  std::string all() const { return checked(te, {a, c}); }

  Tensor a = placeholder("A", {8, 16}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te{{c}};
  IterVar ci = te.axis(c, 0), cj = te.axis(c, 1), bi = te.axis(b, 0), bj = te.axis(b, 1);
};

TEST_F(CheckSchedule, Nothing) {
  EXPECT_EQ(all(), "");
  EXPECT_EQ(checked(te, {c, b, a}), "");
  EXPECT_EQ(checked(te, {a}), "");
}

// -- Arguments.

TEST_F(CheckSchedule, InputsAreArguments) {
  EXPECT_EQ(checked(te, {c}), "TL3010 te.py:90: the input 'A' is not among the arguments");
}

// An output that is not an argument is a temporary; an argument that the schedule does not use is
// never written.
TEST_F(CheckSchedule, ArgumentsNeedNotBeWritten) {
  Lowering lowering = lowering_of(te, {a, c});
  lowering.arguments.pop_back();
  EXPECT_EQ(checked(lowering), "");
  EXPECT_EQ(checked(te, {a, plus_one(a, "X"), c}), "");
  EXPECT_EQ(checked(te, {a, placeholder("X", {4}), c}), "");
}

TEST_F(CheckSchedule, ArgumentsAreNamedOnce) {
  EXPECT_EQ(checked(te, {a, c, a}), "TL3010 te.py:90: the argument 'A' is named twice");
}

TEST_F(CheckSchedule, ArgumentsMayBeInlinedOrAttached) {
  te.compute_inline(b);
  EXPECT_EQ(checked(te, {a, b, c}), "");
  te.compute_at(b, c, ci);
  te.set_scope(b, "local");
  EXPECT_EQ(checked(te, {a, b, c}), "");
  te.s.double_buffer(te.id(b), line(44));
  EXPECT_EQ(checked(te, {a, b, c}),
            "TL3010 te.py:44: cannot apply double_buffer to the argument 'B': it would be computed "
            "ahead of its readers, and results computed ahead are not copied to the caller");
}

// All errors are reported at once.
TEST_F(CheckSchedule, Several) {
  te.set_scope(b, "shared");
  EXPECT_EQ(checked(te, {c, c}),
            "TL3010 te.py:90: the argument 'C' is named twice\n"
            "TL3010 te.py:90: the input 'A' is not among the arguments\n"
            "TL3009 te.py:21: 'B' is in shared memory but is computed at the root, in a kernel "
            "without its "
            "readers");
}

TEST_F(CheckSchedule, Declarations) {
  const auto declared = [&](const BufferDeclaration& d) {
    Lowering lowering = lowering_of(te, {a, c});
    lowering.arguments[0].declaration = d;
    return checked(lowering);
  };
  const std::string but =
      "TL3011 te.py:80: the tensor 'A' is float32[8, 16], but its buffer is "
      "declared as ";
  EXPECT_EQ(declared(declaration("global", {8, 16})), "");
  EXPECT_EQ(declared(declaration("texture", {8, 16})), "");
  EXPECT_EQ(declared(declaration("global", {8, 17})), but + "float32[8, 17] in global");
  EXPECT_EQ(declared(declaration("global", {8, 16}, Type::f(16))),
            but + "float16[8, 16] in global");
  EXPECT_EQ(declared(declaration("local", {8, 16})), but + "float32[8, 16] in local");
}

TEST_F(CheckSchedule, DeclarationsOfSymbolicShapes) {
  const Tensor n = output_of(
      schedule::make_placeholder("N", ir::kFloat32, {make_int(3), ir::make_var("n")}, line(1)));
  const Tensor d = compute("D", {4}, [&](const Exprs& i) { return at(n, {make_int(0), i[0]}); });
  Lowering lowering = lowering_of(Te({d}), {n, d});
  lowering.arguments[0].declaration = declaration("global", {3, 5});
  EXPECT_EQ(checked(lowering),
            "TL3011 te.py:80: the tensor 'N' is float32[3, n], but its buffer is declared as "
            "float32[3, 5] in global");
  lowering.arguments[0].declaration->shape = n->shape;
  EXPECT_EQ(checked(lowering), "");
  EXPECT_EQ(checked(Te({d}), {n, d}), "");
}

// -- Textures.

TEST_F(CheckSchedule, ElementsOfTextures) {
  const auto of_type = [](Type type) {
    const Tensor x = placeholder("X", {8, 4}, type), y = plus_one(x, "Y");
    Te own({y});
    own.set_scope(x, "texture");
    return checked(own, {x, y});
  };
  for (const Type type : {Type::f(16), Type::f(32), Type::i(8), Type::u(16), Type::i(32)}) {
    EXPECT_EQ(of_type(type), "");
  }
  for (const Type type :
       {Type::f(64), Type::i(64), Type::u(64), Type{ir::TypeCode::BFloat, 16, 1}}) {
    EXPECT_EQ(of_type(type), fmt::format("TL3006 te.py:21: 'X' has elements of type {}, which no "
                                         "texture can hold",
                                         to_string(type)));
  }
  const Tensor x = placeholder("X", {8}, ir::kBool);
  Te own({compute("Y", {8}, [&](const Exprs& i) { return at(x, i); })});
  own.set_scope(x, "texture");
  EXPECT_EQ(checked(own, {x}).substr(0, 16), "TL3006 te.py:21:");
}

TEST_F(CheckSchedule, AxesOfTextures) {
  const auto of_rank = [](size_t rank) {
    const Tensor x = placeholder("X", std::vector<int64_t>(rank, 2)), y = plus_one(x, "Y");
    Te own({y});
    own.set_scope(y, "texture");
    return checked(own, {x, y});
  };
  EXPECT_EQ(of_rank(0), "TL1001 te.py:21: 'Y' has 0 axes; a texture holds tensors of 1 to 6");
  EXPECT_EQ(of_rank(1), "");
  EXPECT_EQ(of_rank(6), "");
  EXPECT_EQ(of_rank(7), "TL1001 te.py:21: 'Y' has 7 axes; a texture holds tensors of 1 to 6");
}

TEST_F(CheckSchedule, ReductionsInTextures) {
  const IterVar k = reduce_axis("k", 16);
  const Tensor d =
      compute("D", {8, 4}, [&](const Exprs& i) { return sum(at(a, {i[0], k->var}), {k}); });
  Te own({d});
  EXPECT_EQ(checked(own, {a, d}), "");
  own.set_scope(d, "texture");
  EXPECT_EQ(checked(own, {a, d}),
            "TL3008 te.py:21: the reduction 'D' would read and write its texture in each step");
}

// -- Scopes.

TEST_F(CheckSchedule, RootStagesLieInGlobalMemory) {
  te.set_scope(b, "local");
  EXPECT_EQ(all(),
            "TL3009 te.py:21: 'B' is in local memory but is computed at the root, in a kernel "
            "without its readers");
  te.set_scope(b, "global");
  EXPECT_EQ(all(), "");
}

// Inlined stages are not checked, whatever their directives.
TEST_F(CheckSchedule, InlinedStages) {
  te.set_scope(b, "shared");
  te.bind(b, bi, "threadIdx.x");
  te.bind(b, bj, "threadIdx.x");
  te.compute_inline(b);
  EXPECT_EQ(all(), "");
}

// -- Threads.

TEST_F(CheckSchedule, EachTagOnce) {
  te.bind(c, ci, "threadIdx.x", 31);
  te.bind(c, cj, "threadIdx.x", 32);
  EXPECT_EQ(all(), "TL3015 te.py:32: two axes of 'C' are bound to threadIdx.x: 'j' is the second");
  te.bind(c, cj, "threadIdx.y");
  EXPECT_EQ(all(), "");
}

// If each thread of the loop has its own buffer, the loop runs serially, which is valid.
TEST_F(CheckSchedule, BuffersThatEachThreadHas) {
  for (const std::string_view scope : {"shared", "local"}) {
    for (const std::string_view tag : {"threadIdx.x", "blockIdx.y"}) {
      Te copy = te;
      copy.bind(c, ci, "blockIdx.x");
      copy.compute_at(b, c, ci);
      copy.set_scope(b, scope);
      copy.bind(b, bj, tag, 33);
      EXPECT_EQ(checked(copy, {a, c}), "");
    }
  }
}

// At the root the stage is refused only for its scope.
TEST_F(CheckSchedule, RootStagesMayBeBound) {
  te.set_scope(b, "shared");
  te.bind(b, bi, "blockIdx.x");
  EXPECT_EQ(all().substr(0, 16), "TL3009 te.py:21:");
  EXPECT_EQ(all().find('\n'), std::string::npos);
}

// -- Vectorized axes with symbolic extents.

class CheckVectorized : public ::testing::Test {
 protected:
  std::string with(const IterVar& axis) {
    te.vectorize(b, axis);
    return checked(te, {});
  }

  IterVar i =
      make_iter_var(ir::make_var("i"), make_int(0), ir::make_var("n"), ir::IterKind::Data, line(2));
  IterVar j = data_axis("j", 8);
  Tensor b = output_of(make_compute("B", "", {i, j}, make_int(0), line(4)));
  Te te{{b}};
  static std::string refused(std::string_view axis) {
    return fmt::format("TL3002 te.py:16: cannot vectorize '{}' of 'B': its extent is not constant",
                       axis);
  }
};

TEST_F(CheckVectorized, Whole) {
  EXPECT_EQ(with(j), "");
  EXPECT_EQ(with(i), refused("i"));
}

TEST_F(CheckVectorized, OtherAnnotationsAreNotVectorized) {
  te.unroll(b, i);
  EXPECT_EQ(checked(te, {}), "");
}

TEST_F(CheckVectorized, Parts) {
  const auto parts = te.split(b, i, 4);
  EXPECT_EQ(with(parts.inner), "");
  EXPECT_EQ(with(parts.outer), refused("i.outer"));
}

TEST_F(CheckVectorized, PartsByNumber) {
  const auto parts = te.split_nparts(b, i, 4);
  EXPECT_EQ(with(parts.outer), "");
  EXPECT_EQ(with(parts.inner), refused("i.inner"));
}

TEST_F(CheckVectorized, PartsOfOne) { EXPECT_EQ(with(te.split(b, i, 1).inner), ""); }

TEST_F(CheckVectorized, OnePart) { EXPECT_EQ(with(te.split_nparts(b, i, 1).outer), ""); }

TEST_F(CheckVectorized, PartsOfConstantAxes) {
  const auto parts = te.split(b, j, 4);
  EXPECT_EQ(with(parts.outer), "");
}

TEST_F(CheckVectorized, InnerPartsOfConstantAxes) {
  const auto parts = te.split_nparts(b, j, 4);
  EXPECT_EQ(with(parts.inner), "");
}

TEST_F(CheckVectorized, Fused) {
  const auto [outer, inner] = te.split(b, i, 4);
  const auto [first, second] = te.split(b, j, 2);
  EXPECT_EQ(with(te.fuse(b, {inner, first})), "");
}

TEST_F(CheckVectorized, FusedWithASymbolicAxis) {
  EXPECT_EQ(with(te.fuse(b, {i, j})), refused("i.j.fused"));
}

TEST_F(CheckVectorized, FusedWithASymbolicInnerAxis) {
  te.reorder(b, {j, i});
  EXPECT_EQ(with(te.fuse(b, {j, i})), refused("j.i.fused"));
}

}  // namespace
}  // namespace texloom::lower
