// The list of passes and how it is run.
#include "lower/pipeline.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::ProgramStage;
using ir::Tensor;

class Pipeline : public ::testing::Test {
 protected:
  Pipeline() { te.bind(b, te.axis(b, 0), "threadIdx.x"); }

  Tensor a = placeholder("A", {8, 16}), b = plus_one(a, "B");
  Te te{{b}};
};

TEST_F(Pipeline, StagesFollowOneAnother) {
  ProgramStage stage = ProgramStage::Te;
  for (const Pass& pass : pipeline()) {
    EXPECT_EQ(pass.in, stage) << pass.name;
    EXPECT_FALSE(pass.summary.empty());
    stage = pass.out;
  }
  EXPECT_EQ(stage, ProgramStage::Kernels);
}

TEST_F(Pipeline, RunsAllPassesInOrder) {
  std::string seen;
  const Lowering result =
      lower(lowering_of(te, {a, b}), [&](const Pass& pass, const Lowering& lowering) {
        EXPECT_EQ(lowering.program.stage, pass.out);
        seen += std::string(pass.name) + "\n";
      });
  EXPECT_EQ(seen,
            "prepare_schedule\ncheck_schedule\nbuild_loops\npipeline_loops\nvectorize_loops\n"
            "inject_virtual_threads\nunroll_loops\ncheck_accesses\nflatten_storage\nsimplify_"
            "program\nsplit_"
            "kernels\ninsert_barriers\ndrop_border_guards\n"
            "partition_loops\nhoist_divisions\nshare_texels\n"
            "contract_fma\n");
  EXPECT_EQ(result.program.stage, ProgramStage::Kernels);
  EXPECT_EQ(result.program.kernels.size(), 1U);
}

TEST_F(Pipeline, StartsAtTheBeginning) {
  Lowering lowering = lowering_of(te, {a, b});
  lowering.program.stage = ProgramStage::Flattened;
  EXPECT_EQ(lower(std::move(lowering)).program.name, "main");
}

// Errors say where they were found.
TEST_F(Pipeline, NotesThePass) {
  const auto note = [](Lowering lowering) {
    std::string text;
    try {
      lower(std::move(lowering));
    } catch (const UserError& error) {
      for (const Diagnostic& d : error.diagnostics()) {
        for (const std::string& n : d.notes) text += n + "\n";
      }
    }
    return text;
  };
  EXPECT_EQ(note(lowering_of(te, {b})), "found while lowering 'main', in pass check_schedule\n");
  EXPECT_EQ(note(lowering_of(Te({b}), {a, b})),
            "found while lowering 'main', in pass split_kernels\n");
}

// A whole program: a texture cache of the input, a tile in shared memory, registers.
TEST_F(Pipeline, TextureCache) {
  Te own({b});
  const Tensor texture = own.cache_read(a, "texture", {b});
  own.bind(texture, own.axis(texture, 0), "blockIdx.x");
  const auto [outer, inner] = own.split(b, own.axis(b, 1), 4);
  own.bind(b, own.axis(b, 0), "blockIdx.x");
  own.bind(b, outer, "threadIdx.x");
  own.vectorize(b, inner);
  const ir::Program program = lower(lowering_of(own, {a, b})).program;
  EXPECT_EQ(to_string(program), R"(program main stage=kernels
  param A: global float32[8, 16]
  param B: global float32[8, 16]
  texture2d.alloca A.texture: texture2d<float32>[8, 16] 4 x 8 texels, )"
                                R"(texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  launch main_kernel0(A, A.texture) grid=(8, 1, 1) block=(1, 1, 1)
  launch main_kernel1(A.texture, B) grid=(8, 1, 1) block=(4, 1, 1)
  texture2d.free A.texture

kernel main_kernel0 grid=(8, 1, 1) block=(1, 1, 1)
  param A: read global float32[8, 16]
  param A.texture: write texture2d<float32>[8, 16] 4 x 8 texels, )"
                                R"(texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  axis blockIdx.x = blockIdx.x < 8
  for ax1.outer < 4 {
    texture2d.store(A.texture, x=ax1.outer, y=blockIdx.x, )"
                                R"(A[ramp(blockIdx.x * 16 + ax1.outer * 4, 1, 4)]: float32x4)
  }

kernel main_kernel1 grid=(8, 1, 1) block=(4, 1, 1)
  param A.texture: read texture2d<float32>[8, 16] 4 x 8 texels, )"
                                R"(texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  param B: write global float32[8, 16]
  axis blockIdx.x.1 = blockIdx.x < 8
  axis threadIdx.x = threadIdx.x < 4
  B[ramp(blockIdx.x.1 * 16 + threadIdx.x * 4, 1, 4)] = )"
                                R"(texture2d.load(A.texture, x=threadIdx.x, y=blockIdx.x.1: )"
                                R"(float32x4) + x4(1.0)
)");
}

}  // namespace
}  // namespace texloom::lower
