// Tests the list of passes and how it runs.
#include "lower/pipeline.h"

#include <gtest/gtest.h>

#include <set>

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
    for (const Pass& step : pass.steps) {
      EXPECT_EQ(step.in, stage) << step.name;
      stage = step.out;
    }
    stage = pass.out;
  }
  EXPECT_EQ(stage, ProgramStage::Kernels);
}

// A row of the pipeline has a function or a group of steps; the name of each step starts with the
// group's name.
TEST_F(Pipeline, RowsAreNamed) {
  std::set<std::string_view> names;
  for (const Pass& pass : pipeline()) {
    EXPECT_EQ(pass.name.find('.'), std::string_view::npos) << pass.name;
    EXPECT_EQ(pass.run == nullptr, !pass.steps.empty()) << pass.name;
    for (const Pass& step : pass.steps) {
      EXPECT_TRUE(step.name.starts_with(std::string(pass.name) + ".")) << step.name;
      EXPECT_NE(step.run, nullptr) << step.name;
    }
  }
  for (const Pass* row : rows_of(pipeline())) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_FALSE(row->summary.empty()) << row->name;
    EXPECT_EQ(find_pass(pipeline(), row->name), row);
  }
  EXPECT_EQ(find_pass(pipeline(), "no_such_pass"), nullptr);
}

TEST_F(Pipeline, RunsAllPassesInOrder) {
  std::string seen, of_split_kernels;
  const Lowering result =
      lower(lowering_of(te, {a, b}), [&](const Pass& pass, const Lowering& lowering) {
        EXPECT_EQ(lowering.program.stage, pass.out);
        const std::string line = std::string(pass.name) + "\n";
        if (line.find('.') == std::string::npos) seen += line;
        if (line.starts_with("split_kernels")) of_split_kernels += line;
      });
  EXPECT_EQ(
      seen,
      "prepare_schedule\ncheck_schedule\nbuild_loops\npipeline_loops\nvectorize_loops\n"
      "inject_virtual_threads\nunroll_loops\ncheck_accesses\nflatten_storage\n"
      "simplify_program\ncheck_fragments\nsplit_kernels\ninsert_barriers\ndrop_border_guards\n"
      "partition_loops\njoin_guards\nhoist_divisions\nshare_texels\ncontract_fma\n");
  EXPECT_EQ(of_split_kernels,
            "split_kernels.bind_parallel_loops\nsplit_kernels.reuse_shared_memory\n"
            "split_kernels.launch_nests\nsplit_kernels.free_temporaries\nsplit_kernels\n");
  EXPECT_EQ(result.program.stage, ProgramStage::Kernels);
  EXPECT_EQ(result.program.kernels.size(), 1U);
}

// A group's time is the sum of its steps' times, and the group's row precedes its steps' rows.
TEST_F(Pipeline, TimesRows) {
  Lowering lowering = lowering_of(te, {a, b});
  std::vector<PassTime> times;
  run_passes(pipeline(), lowering, [](const Pass&, const Lowering&) {}, &times);
  const std::vector<const Pass*> rows = rows_of(pipeline());
  ASSERT_EQ(times.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(times[i].pass, rows[i]);
    auto took = times[i].took;
    for (size_t step = 1; step <= rows[i]->steps.size(); ++step) took -= times[i + step].took;
    if (rows[i]->run == nullptr) {
      EXPECT_NEAR(took.count(), 0, 1e-6) << rows[i]->name;
    }
  }
}

TEST_F(Pipeline, LowersOnlySchedules) {
  Lowering lowering = lower(lowering_of(te, {a, b}));
  EXPECT_EQ(lowering.program.name, "main");
  EXPECT_THROW(lower(std::move(lowering)), InternalError);
}

// Errors name the pass that reports them.
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
            "found while lowering 'main', in pass split_kernels.launch_nests\n");
}

// The passes lower a program with a texture cache, a tile in shared memory and registers.
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
