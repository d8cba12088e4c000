#include "ir/verify/verify_stages.h"

#include <gtest/gtest.h>

#include <map>

namespace texloom::ir {
namespace {

constexpr CodeKind kPlaces[] = {CodeKind::Loops, CodeKind::Flattened, CodeKind::Plan,
                                CodeKind::Kernel, CodeKind::Legalized};

// A letter for each of kPlaces that allows the kind, in their order: l, f, p, k, g.
template <class Kind>
std::string places(Kind kind) {
  std::string text;
  for (size_t i = 0; i < 5; ++i) text += allows(kPlaces[i], kind) ? "lfpkg"[i] : '-';
  return text;
}

TEST(VerifyStages, TheTable) {
  const std::map<std::string, std::string> expected = {
      {"IntImm", "lfpkg"},      {"FloatImm", "lf-kg"},     {"Var", "lfpkg"},
      {"Binary", "lfpkg"},      {"Not", "lf-kg"},          {"Select", "lf-kg"},
      {"Cast", "lf-kg"},        {"Call", "lf-kg"},         {"Fma", "lf-kg"},
      {"Ramp", "lf-kg"},        {"Broadcast", "lf-kg"},    {"Lane", "lf-kg"},
      {"Pack", "lf-kg"},        {"TensorRead", "-----"},   {"Reduce", "-----"},
      {"Tuple", "-----"},       {"Load", "lf-kg"},         {"TextureLoad", "-f-kg"},
      {"Store", "lf-kg"},       {"TextureStore", "-f-kg"}, {"For", "lfpkg"},
      {"If", "lf-kg"},          {"Seq", "lfpkg"},          {"Nest", "lf---"},
      {"Let", "lf-kg"},         {"Allocate", "lfpkg"},     {"Free", "--p--"},
      {"Barrier", "lf-kg"},     {"Launch", "--p--"},       {"Pipelined", "l----"},
      {"While", "lf-kg"},       {"ForeignCall", "lf-kg"},  {"Pointer", "lf-kg"},
      {"Evaluate", "lf-kg"},    {"Shuffle", "----g"},      {"Prefetch", "lf-kg"},
      {"LastBlock", "lf-kg"},   {"FragmentStep", "lf-kg"}, {"AsyncCopies", "lf-kg"},
      {"AwaitCopies", "lf-kg"},
  };
  size_t rows = 0;
#define TL_ROW(Name, Kind)                                    \
  EXPECT_EQ(expected.at(#Name), places(Kind::Name)) << #Name; \
  EXPECT_EQ(name_of(Kind::Name), #Name);                      \
  ++rows;
#define TL_EXPR(Name, summary) TL_ROW(Name, ExprKind)
#define TL_STMT(Name, summary) TL_ROW(Name, StmtKind)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
#undef TL_ROW
  EXPECT_EQ(rows, expected.size());
}

TEST(VerifyStages, Loops) {
  EXPECT_EQ(places(LoopKind::Serial), "lfpkg");
  EXPECT_EQ(places(LoopKind::Unrolled), "lf-kg");
  EXPECT_EQ(places(LoopKind::Vectorized), "lf---");
  EXPECT_EQ(places(LoopKind::Thread), "lf---");
}

TEST(VerifyStages, Names) {
  EXPECT_EQ(to_string(CodeKind::Loops), "stage loops");
  EXPECT_EQ(to_string(CodeKind::Flattened), "stage flattened");
  EXPECT_EQ(to_string(CodeKind::Plan), "a launch plan");
  EXPECT_EQ(to_string(CodeKind::Kernel), "stage kernels");
  EXPECT_EQ(to_string(CodeKind::Legalized), "stage legalized");
}

}  // namespace
}  // namespace texloom::ir
