// An internal error leaves a file with which texloom-opt reproduces it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "apps/command_line/command_line.h"
#include "apps/texloom-opt/opt.h"
#include "compile/compile.h"
#include "ir/text/parse.h"
#include "ir/visit.h"
#include "lower/pipeline.h"
#include "lower/te_text.h"

namespace texloom::opt {
namespace {

using lower::Lowering;
using lower::Pass;
using testing::HasSubstr;

const char* const kSchedule = R"(program main stage=te target="opencl -device=mali"
  param A
  param B

placeholder A: float32[8]

compute B(i < 8): float32 = A[i] + 1.0
  output
  bind i threadIdx.x
)";

struct Dump {
  std::string message;               // of the error
  std::string path, text;            // of the file
  std::vector<std::string> options;  // that reproduce it
};

// The dump of the InternalError that `run` throws.
template <class F>
Dump dump_of(const F& run) {
  Dump dump;
  try {
    run();
  } catch (const InternalError& error) {
    dump.message = error.what();
  }
  const std::string before = "note: texloom-opt ", after = " reproduces it";
  const size_t begin = dump.message.find(before) + before.size();
  const size_t end = dump.message.rfind(after);
  if (end == std::string::npos) {
    ADD_FAILURE() << "no file: " << dump.message;
    return dump;
  }
  std::istringstream words(dump.message.substr(begin, end - begin));
  words >> dump.path;
  for (std::string word; words >> word;) {
    std::erase(word, '\'');
    dump.options.push_back(word);
  }
  std::ifstream file(dump.path);
  dump.text = {std::istreambuf_iterator<char>(file), {}};
  std::remove(dump.path.c_str());
  return dump;
}

// The file without its comments.
std::string program_in(const Dump& dump) {
  std::string text = dump.text;
  while (text.starts_with("//")) text.erase(0, text.find('\n') + 1);
  return text;
}
struct Outcome {
  int code = 0;
  std::string out, err;
};
Outcome again(const Dump& dump) {
  std::vector<std::string> arguments{"-"};
  arguments.insert(arguments.end(), dump.options.begin(), dump.options.end());
  std::istringstream in(dump.text);
  std::ostringstream out, err;
  const int code = run(arguments, in, out, err);
  return {code, out.str(), err.str()};
}

void run_passes(const std::vector<Pass>& passes, bool verify_each = true) {
  Lowering lowering = lower::parse_lowering(kSchedule, "s.tl");
  lowering.verify_each = verify_each;
  lower::run_passes(passes, lowering, [](const Pass&, const Lowering&) {});
}

std::vector<Pass> first_passes(size_t count) {
  return {lower::pipeline().begin(), lower::pipeline().begin() + static_cast<ptrdiff_t>(count)};
}

void fail_check(Lowering&) { TL_CHECK(false, "on purpose"); }
void fail_in_the_library(Lowering&) { std::ignore = std::vector<int>().at(1); }
// Uses an undefined variable.
void break_a_rule(Lowering& lowering) {
  lowering.program.body =
      make_store(lowering.program.params[0], {ir::make_var("stray")}, ir::make_float(0));
}

// The file contains the input of the pass: a schedule as earlier passes left it, or loops.
TEST(Dump, HoldsTheInputOfThePass) {
  const Dump te = dump_of([] {
    std::vector<Pass> passes = first_passes(1);
    passes.push_back({"broken", fail_check, ir::ProgramStage::Te, ir::ProgramStage::Te, ""});
    run_passes(passes);
  });
  EXPECT_THAT(te.message, HasSubstr("on purpose"));
  EXPECT_THAT(te.text, HasSubstr("// internal error: check failed: false: on purpose"));
  EXPECT_EQ(te.options, (std::vector<std::string>{"--pass=broken", "--verify-each"}));
  EXPECT_EQ(to_string(lower::parse_lowering(te.text, "t.tl")),
            to_string(lower::parse_lowering(kSchedule, "s.tl")));

  const Dump loops = dump_of([] {
    std::vector<Pass> passes = first_passes(3);
    passes.push_back(
        {"broken", fail_in_the_library, ir::ProgramStage::Loops, ir::ProgramStage::Loops, ""});
    run_passes(passes);
  });
  EXPECT_EQ(ir::to_string(ir::parse_program(loops.text, "t.tl"), {.locations = true}),
            program_in(loops));
  EXPECT_THAT(program_in(loops), HasSubstr(" @\"s.tl\":7"));
}

// The verifier finds a fault in the result of a pass at once, or at the end of all passes.
TEST(Dump, OfWhatTheVerifierFinds) {
  std::vector<Pass> passes = first_passes(3);
  passes.push_back({"broken", break_a_rule, ir::ProgramStage::Loops, ir::ProgramStage::Loops, ""});
  const Dump at_once = dump_of([&] { run_passes(passes); });
  EXPECT_THAT(program_in(at_once), testing::StartsWith("program main stage=loops\n"));
  EXPECT_EQ(at_once.options[0], "--pass=broken");
  const Dump at_the_end = dump_of([&] { run_passes(passes, false); });
  EXPECT_THAT(program_in(at_the_end), testing::StartsWith("program main stage=te "));
  EXPECT_EQ(at_the_end.options[0], "--pass=prepare_schedule,check_schedule,build_loops,broken");
}

// Without the passes before it, build_loops fails if an argument is missing.
TEST(Dump, ShowsTheFailureAgain) {
  const Dump dump = dump_of([] {
    Lowering lowering = lower::parse_lowering(kSchedule, "s.tl");
    lowering.arguments.erase(lowering.arguments.begin());
    lower::run_passes(lower::pipeline().subspan(2, 1), lowering,
                      [](const Pass&, const Lowering&) {});
  });
  EXPECT_THAT(dump.message, HasSubstr("A has no buffer"));
  const Outcome outcome = again(dump);
  EXPECT_EQ(outcome.code, command_line::kBug);
  EXPECT_THAT(outcome.err, HasSubstr("A has no buffer"));
}

// Code generation leaves a file too, here for a program that lowering does not make.
TEST(Dump, OfCodeGeneration) {
  const char* const text = "program p stage=legalized\n";
  const Dump dump = dump_of([&] { compile::generate(ir::parse_program(text, "p.tl"), {}); });
  EXPECT_EQ(program_in(dump), text);
  EXPECT_EQ(dump.options,
            (std::vector<std::string>{"--pass=legalize", "--verify-each", "--target=opencl"}));
}

}  // namespace
}  // namespace texloom::opt
