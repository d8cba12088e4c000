// A program parsed from its text lowers like the program itself.
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "tests/ir/text/round_trip.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::ProgramStage;
using ir::Tensor;

// After each pass, the program parses back from its text, and the remaining passes give the same
// result for the original and the parsed program.
void round_trips(const Lowering& lowering) {
  std::vector<const Pass*> functions;  // one for each state
  std::vector<Lowering> states;
  const Lowering last = lower(lowering, [&](const Pass& pass, const Lowering& state) {
    if (pass.run == nullptr || state.program.stage == ProgramStage::Te) return;
    functions.push_back(&pass);
    states.push_back(state);
  });
  const std::string final_text = to_string(last.program);
  for (size_t i = 0; i < states.size(); ++i) {
    SCOPED_TRACE(functions[i]->name);
    for (const bool locations : {false, true}) {
      ir::expect_round_trip(states[i].program, {.locations = locations});
    }
    Lowering parsed = states[i];
    parsed.program = ir::parse_program(to_string(states[i].program), "p.tl");
    for (size_t rest = i + 1; rest < functions.size(); ++rest) run_pass(*functions[rest], parsed);
    EXPECT_EQ(to_string(parsed.program), final_text);
  }
}

// The program has a texture cache, lanes, threads and an unrolled loop.
TEST(TextForm, OfATextureCache) {
  const Tensor a = placeholder("A", {8, 16}), b = plus_one(a, "B");
  Te te({b});
  const Tensor texture = te.cache_read(a, "texture", {b});
  te.bind(texture, te.axis(texture, 0), "blockIdx.x");
  const auto [outer, inner] = te.split(b, te.axis(b, 1), 4);
  te.bind(b, te.axis(b, 0), "blockIdx.x");
  te.bind(b, outer, "threadIdx.x");
  te.vectorize(b, inner);
  round_trips(lowering_of(te, {a, b}));
}

TEST(TextForm, OfANameThatIsNone) {
  const Tensor a = placeholder("the input", {8}), b = plus_one(a, "");
  Te te({b});
  te.bind(b, te.axis(b, 0), "threadIdx.x");
  round_trips(lowering_of(te, {a, b}));
}

}  // namespace
}  // namespace texloom::lower
