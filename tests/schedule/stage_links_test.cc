// Tests finding each stage's readers and attached stages.
#include "schedule/stage_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StageLinks, InTopologicalOrder) {
  const ir::Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C"),
                   d = plus_one(b, "D");
  Te te{{c, d}};
  te.s.compute_at(te.id(b), te.id(c), te.axis(c, 0), line(1));
  const StageLinks links = links_of(te.s);
  EXPECT_THAT(links.readers_of(te.id(a)), ElementsAre(te.id(b)));
  EXPECT_THAT(links.readers_of(te.id(b)), ElementsAre(te.id(c), te.id(d)));
  EXPECT_THAT(links.readers_of(te.id(d)), IsEmpty());
  EXPECT_THAT(links.attached_to(te.id(c)), ElementsAre(te.id(b)));
  EXPECT_THAT(links.attached_to(te.id(d)), IsEmpty());
}

}  // namespace
}  // namespace texloom::schedule
