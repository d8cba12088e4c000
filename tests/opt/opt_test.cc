#include "apps/texloom-opt/opt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <sstream>

#include "apps/command_line/command_line.h"
#include "apps/texloom-opt/passes.h"

namespace texloom::opt {
namespace {

using namespace command_line;

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Result {
  int code = 0;
  std::string out, err;
};

Result opt(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int code = run(arguments, in, out, err);
  return {code, out.str(), err.str()};
}

const char* const kLoops = R"(program main stage=loops
  param A: global float32[8]
  param B: global float32[8]
  nest B {
    thread<blockIdx.x> i < 2 {
      vectorized v < 4 {
        B[i * 4 + v] = A[i * 4 + v] + 1.0
      }
    }
  }
)";
const char* const kTe = R"(program main stage=te target="opencl -device=mali"
  param A
  param B

placeholder A: float32[8]

compute B(i < 8): float32 = A[i] + 1.0
  output
  split i factor=4 -> i.outer, v
  bind i.outer blockIdx.x
  vectorize v
)";
const char* const kFlattened = R"(program main stage=flattened
  param A: global float32[8]
  param B: global float32[8]
  nest B {
    thread<blockIdx.x> i < 2 {
      B[ramp(i * 4, 1, 4)] = A[ramp(i * 4, 1, 4)] + x4(1.0)
    }
  }
)";
const char* const kKernels = R"(program main stage=kernels
  param A: global float32[8]
  param B: global float32[8]
  launch main_kernel0(A, B) grid=(2, 1, 1) block=(1, 1, 1)

kernel main_kernel0 grid=(2, 1, 1) block=(1, 1, 1)
  param A: read global float32[8]
  param B: write global float32[8]
  axis blockIdx.x = blockIdx.x < 2
  B[ramp(blockIdx.x * 4, 1, 4)] = A[ramp(blockIdx.x * 4, 1, 4)] + x4(1.0)
)";

TEST(Opt, PrintsWhatItReads) {
  for (const char* text : {kTe, kLoops, kFlattened, kKernels}) {
    const Result r = opt({"-"}, text);
    EXPECT_EQ(r.code, kOk);
    EXPECT_EQ(r.out, text);
    EXPECT_EQ(r.err, "");
  }
}

TEST(Opt, ReadsAFile) {
  const std::string path = testing::TempDir() + "texloom_opt.tl";
  std::ofstream(path) << "// a comment\n" << kLoops;
  EXPECT_EQ(opt({path}).out, kLoops);
  EXPECT_EQ(opt({path, "--locations"}).out.substr(0, 26), "program main stage=loops\n ");
  EXPECT_THAT(opt({path, "--locations"}).out, HasSubstr("nest B @\"" + path + "\":5 {\n"));
}

TEST(Opt, RunsPassesInOrder) {
  const Result r = opt(
      {"-", "--pass=vectorize_loops,flatten_storage", "--pass=simplify_program", "--verify-each"},
      kLoops);
  EXPECT_EQ(r.code, kOk) << r.err;
  EXPECT_EQ(r.out, kFlattened);
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(opt({"-", "--pass=split_kernels"}, kFlattened).out, kKernels);
  EXPECT_THAT(opt({"-", "--pass=legalize"}, kKernels).out,
              StartsWith("program main stage=legalized\n"));
}

// A schedule with its arguments runs from the first pass to the last.
TEST(Opt, RunsPassesOverSchedules) {
  const Result checked =
      opt({"-", "--pass=prepare_schedule,check_schedule", "--print-after=all"}, kTe);
  EXPECT_EQ(checked.out, kTe);
  EXPECT_THAT(checked.err,
              StartsWith(std::string("// after prepare_schedule.check_scalars\n") + kTe +
                         "// after prepare_schedule.check_outputs_at_root\n" + kTe));
  EXPECT_THAT(checked.err, EndsWith(std::string("// after check_schedule\n") + kTe));
  const std::string to_loops = "--pass=prepare_schedule,check_schedule,build_loops";
  const Result kernels =
      opt({"-", to_loops, "--pass=vectorize_loops,unroll_loops,flatten_storage,simplify_program",
           "--pass=split_kernels", "--verify-each"},
          kTe);
  EXPECT_EQ(kernels.code, kOk) << kernels.err;
  EXPECT_EQ(kernels.out, kKernels);
}

// The target is the program's unless the command line names another.
TEST(Opt, TargetsOfSchedules) {
  EXPECT_THAT(opt({"-", "--target=opencl"}, kTe).out, HasSubstr("stage=te target=\"opencl\"\n"));
}

TEST(Opt, PrintsAfterPasses) {
  const std::string passes = "--pass=split_kernels,drop_border_guards";
  const auto after = [](const std::string& pass) { return "// after " + pass + "\n" + kKernels; };
  EXPECT_EQ(opt({"-", passes, "--print-after=all"}, kFlattened).err,
            "// after split_kernels.bind_parallel_loops\n" + std::string(kFlattened) +
                "// after split_kernels.reuse_shared_memory\n" + kFlattened +
                after("split_kernels.launch_nests") + after("split_kernels.free_temporaries") +
                after("drop_border_guards"));
  EXPECT_EQ(opt({"-", passes, "--print-after=split_kernels"}, kFlattened).err,
            after("split_kernels"));
  EXPECT_EQ(opt({"-", passes, "--print-after=split_kernels.free_temporaries"}, kFlattened).err,
            after("split_kernels.free_temporaries"));
  EXPECT_EQ(opt({"-", passes, "--print-after=contract_fma"}, kFlattened).err, "");
}

TEST(Opt, EmitsOpenCL) {
  const Result r = opt({"-", "--pass=legalize", "--emit=opencl"}, kKernels);
  EXPECT_EQ(r.code, kOk) << r.err;
  EXPECT_THAT(r.out, HasSubstr("void main_kernel0("));
  EXPECT_THAT(r.out, testing::Not(HasSubstr("program main")));
  const Result early = opt({"-", "--emit=opencl"}, kKernels);
  EXPECT_EQ(early.code, kWrongInput);
  EXPECT_EQ(early.err,
            "texloom-opt: --emit=opencl takes stage legalized, the program is at kernels; "
            "--pass=legalize leads there\n");
  // Runs all passes from a schedule to OpenCL C.
  const Result whole = opt({"-", "--pass=lower,legalize", "--emit=opencl"}, kTe);
  EXPECT_EQ(whole.code, kOk) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("void main_kernel0("));
  EXPECT_THAT(opt({"-", "--emit=opencl"}, kTe).err, HasSubstr("--pass=lower,legalize leads there"));
  EXPECT_THAT(opt({"-", "--emit=opencl"}, kLoops).err, HasSubstr("--list-passes shows the way"));
}

TEST(Opt, TimesPasses) {
  const Result r = opt({"-", "--pass=split_kernels", "--time-passes"}, kFlattened);
  EXPECT_EQ(r.out, kKernels);
  EXPECT_THAT(r.err, testing::MatchesRegex(" +ms  pass\n +[0-9.]+  split_kernels\n"
                                           " +[0-9.]+  split_kernels.bind_parallel_loops\n"
                                           " +[0-9.]+  split_kernels.reuse_shared_memory\n"
                                           " +[0-9.]+  split_kernels.launch_nests\n"
                                           " +[0-9.]+  split_kernels.free_temporaries\n"
                                           " +[0-9.]+  total\n"));
}

TEST(Opt, ListsPasses) {
  const Result r = opt({"--list-passes"});
  EXPECT_EQ(r.code, kOk);
  const auto row = [](const std::string& name, const std::string& in, const std::string& out) {
    return fmt::format("{:<43}{:<11}-> {:<11}", name, in, out);
  };
  EXPECT_THAT(r.out, StartsWith(row("remove_dead_nodes", "graph", "graph") + "remove"));
  EXPECT_THAT(r.out, HasSubstr("\n" + row("prepare_schedule", "te", "te") + "apply"));
  EXPECT_THAT(r.out, HasSubstr("\n" + row("  prepare_schedule.inline_stages", "te", "te")));
  EXPECT_THAT(r.out, HasSubstr("\n" + row("split_kernels", "flattened", "kernels")));
  EXPECT_THAT(r.out, HasSubstr("\n" + row("legalize", "kernels", "legalized")));
  EXPECT_THAT(r.out, HasSubstr("\n" + row("  legalize.align_accesses", "legalized", "legalized")));
  EXPECT_THAT(opt({"--help"}).out, StartsWith("usage: texloom-opt FILE [OPTION]...\n"));
}

// Passes over graphs and over programs each take only their own stage.
TEST(Opt, PassesOfAnotherStage) {
  const std::string graph =
      "program net stage=graph target=\"opencl\"\n  input x: float32[8]\n  edge y: float32[8]\n"
      "  outputs (y)\n  operator y op=\"Neg\" pattern=elementwise (x) -> (y)\n";
  EXPECT_EQ(opt({"-", "--pass=fuse"}, graph).out, graph);
  const Result lowered = opt({"-", "--pass=lower"}, graph);
  EXPECT_EQ(lowered.code, kWrongInput);
  EXPECT_THAT(lowered.err, StartsWith("texloom-opt: a graph takes only passes over graphs; "));
  const Result fused = opt({"-", "--pass=fuse"}, kLoops);
  EXPECT_EQ(fused.code, kWrongInput);
  EXPECT_EQ(fused.err, "texloom-opt: pass fuse needs a graph, but the program is at stage loops\n");
  EXPECT_THAT(opt({"-", "--pass=fuse"}, "no program").err, HasSubstr("error[TL6001]"));
}

TEST(Opt, WrongInput) {
  const Result syntax = opt({"-"}, "program p stage=loops\nfor i {\n");
  EXPECT_EQ(syntax.code, kWrongInput);
  EXPECT_EQ(syntax.out, "");
  EXPECT_EQ(syntax.err,
            "error[TL6001]: expected '<', found '{'\n"
            "  --> <stdin>:2:7\n"
            "   |  for i {\n"
            "   |        ^\n"
            "  help: docs/text_form.md has the grammar\n");
  const Result stage = opt({"-", "--pass=split_kernels"}, kKernels);
  EXPECT_EQ(stage.code, kWrongInput);
  EXPECT_EQ(stage.err,
            "texloom-opt: pass split_kernels needs stage flattened, but the program is at stage "
            "kernels\n");
  const Result target = opt({"-", "--target=foo"}, kKernels);
  EXPECT_EQ(target.code, kWrongInput);
  EXPECT_THAT(target.err, StartsWith("error[TL4003]: "));
}

// An error names the pass that reports it.
TEST(Opt, WrongForAPass) {
  const Result r = opt({"-", "--pass=split_kernels", "--target=opencl -max_num_threads=1"},
                       "program p stage=flattened param A: global float32[8]\n"
                       "nest A { thread<threadIdx.x> i < 2 { A[i] = 1.0 } }\n");
  EXPECT_EQ(r.code, kWrongInput);
  EXPECT_THAT(r.err, StartsWith("error[TL4001]: "));
  EXPECT_THAT(r.err,
              HasSubstr("note: found while lowering 'p', in pass split_kernels.launch_nests\n"));
}

// The steps of legalize obey the rules of their stages; together they give the result of legalize.
TEST(Opt, StepsOfLegalize) {
  std::string steps;
  const std::span<const lower::Pass> rows =
      passes_of({"legalize"}, ir::TargetKind::OpenCL).front().steps;
  for (const lower::Pass& step : rows) {
    steps += (steps.empty() ? "" : ",") + std::string(step.name);
  }
  const Result one_by_one = opt({"-", "--pass=" + steps, "--verify-each"}, kKernels);
  EXPECT_EQ(one_by_one.err, "");
  EXPECT_EQ(one_by_one.out, opt({"-", "--pass=legalize"}, kKernels).out);
}

// -- Several programs in one file.

const char* const kTwo = R"(program one stage=loops
  param A: global float32[8]
  A[0] = 0.0

// ----- the rest of the line is for readers
program two stage=loops
  param A: global float32[8]
  A[8] = 0.0
)";

TEST(Opt, SplitsItsInput) {
  const Result whole = opt({"-"}, kTwo);
  EXPECT_THAT(whole.err, HasSubstr("<stdin>:6:"));  // a second program is not a statement
  const Result r = opt({"-", "--split-input-file"}, kTwo);
  EXPECT_EQ(r.code, kWrongInput);
  EXPECT_EQ(r.out,
            "program one stage=loops\n  param A: global float32[8]\n  A[0] = 0.0\n// -----\n");
  // Errors have the line number in the whole file.
  EXPECT_THAT(r.err, HasSubstr("  --> <stdin>:8\n   |  A[8] = 0.0\n"));
  EXPECT_EQ(opt({"-", "--split-input-file"}, "").code, kWrongInput);  // one empty program
}

// -- Expectations.

TEST(Opt, VerifiesDiagnostics) {
  const std::vector<std::string> arguments = {"-", "--split-input-file", "--verify-diagnostics"};
  const Result nothing = opt(arguments, kTwo);
  EXPECT_EQ(nothing.code, kWrongInput);
  EXPECT_EQ(
      nothing.err,
      "<stdin>:8: unexpected error: TL6003: A[8] = 0.0: 8 is not proven to lie in 0..8 of A\n");
  std::string expected = kTwo;
  expected.insert(expected.size() - 1, " // expected-error {{TL6003}}");
  const Result all = opt(arguments, expected);
  EXPECT_EQ(all.code, kOk) << all.err;
}

TEST(Opt, TellsWarnings) {
  const std::string text =
      "program p stage=loops param B: global float32[8]\n"
      "unrolled i < 5000 { B[0] = 1.0 }\n";
  const Result r = opt({"-", "--pass=unroll_loops"}, text);
  EXPECT_EQ(r.code, kOk);
  EXPECT_THAT(r.err, StartsWith("warning[TL3021]: the loop 'i' is not unrolled"));
  EXPECT_EQ(opt({"-", "--pass=unroll_loops", "--verify-diagnostics"}, text).code, kWrongInput);
}

// -- Interpretation.

TEST(Opt, Interprets) {
  const Result r = opt({"-", "--interpret"}, kLoops);
  EXPECT_EQ(r.code, kOk);
  EXPECT_EQ(r.err, "");
  EXPECT_THAT(r.out, testing::MatchesRegex("B: float32\\[8\\] =( -?[0-9.]+)+  hash [0-9a-f]+\n"));
  EXPECT_EQ(opt({"-", "--interpret=0"}, kLoops).out, r.out);
  EXPECT_NE(opt({"-", "--interpret=1"}, kLoops).out, r.out);
  // Lowering does not change the results.
  const Result lowered =
      opt({"-", "--pass=vectorize_loops,flatten_storage,split_kernels,legalize", "--interpret"},
          kLoops);
  EXPECT_EQ(lowered.out, r.out);
}

TEST(Opt, ReportsFaults) {
  const Result r = opt({"-", "--interpret"},
                       "program p stage=loops\nparam A: global float32[8]\n"
                       "for i < 9 {\n  A[i] = 1.0\n}\n");
  EXPECT_EQ(r.code, kWrongInput);
  EXPECT_EQ(r.err,
            "out of bounds: A[8] lies outside A of extent 8\n  --> <stdin>:4\n   |  A[i] = 1.0\n");
  EXPECT_THAT(r.out, StartsWith("A: float32[8] = 1 1 1 1 1 1 1 1  hash "));
}

// Interprets the computes without the schedule.
TEST(Opt, InterpretsSchedules) {
  const Result scheduled = opt({"-", "--interpret"}, kTe);
  EXPECT_EQ(scheduled.code, kOk);
  EXPECT_EQ(scheduled.err, "");
  EXPECT_FALSE(scheduled.out.empty());
}

TEST(Opt, GivesUp) {
  const Result r = opt({"-", "--interpret", "--max-steps=20"},
                       "program p stage=loops\nfor i < 30 {\n  barrier\n}\n");
  EXPECT_EQ(r.code, kWrongInput);
  EXPECT_THAT(r.err, StartsWith("error[TL6004]: the program takes more than 20 steps\n"));
  EXPECT_THAT(opt({"-", "--interpret", "--max-steps=10"}, kLoops).err,
              StartsWith("error[TL6004]: the parameters have more than 10 elements\n"));
}

TEST(Opt, WrongCommandLine) {
  for (const auto& [arguments, message] :
       {std::pair<std::vector<std::string>, std::string>{{},
                                                         "no file is given; - is standard input"},
        {{"-", "x.tl"}, "a second file is given: 'x.tl'"},
        {{"/no/such/file.tl"}, "cannot read '/no/such/file.tl'"},
        {{"/"}, "cannot read '/': it is a folder; name a file in it"},
        {{"-", "--interpret", "--symbols=n:3"},
         "the program has no symbol 'n', which --symbols sets; it has no symbols"},
        {{"-", "--foo"}, "there is no option '--foo'"},
        {{"-", "--pass"}, "there is no option '--pass'"},
        {{"-", "--verify-each=1"}, "there is no option '--verify-each=1'"},
        {{"-", "--interpret=x"}, "--interpret takes a number, not 'x'"},
        {{"-", "--max-steps=-1"}, "--max-steps takes a number, not '-1'"}}) {
    const Result r = opt(arguments, kLoops);
    EXPECT_EQ(r.code, kUsage);
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err, "texloom-opt: " + message + "\ntexloom-opt --help lists the options\n");
  }
  EXPECT_THAT(
      opt({"-", "--pass=foo"}, kLoops).err,
      StartsWith("texloom-opt: there is no pass 'foo'; the passes are lower, remove_dead_nodes, "));
  EXPECT_EQ(opt({"-", "--print-after=foo"}, kLoops).code, kUsage);
}

}  // namespace
}  // namespace texloom::opt
