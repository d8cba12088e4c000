// Tests which concatenations stay operators where images have channels last.
#include "graph/passes/join_in_place.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "graph/text/text.h"
#include "graph/verify/verify.h"

namespace texloom::graph {
namespace {

const KernelLibrary kChannelsLast = {.has_channels_last = true};

// Joins an image with one that is upsampled, so that an element depends on two of the source.
// `reader`: an operator that reads the upsampled image as well.
Graph upsampled(const std::string& reader = "") {
  return parse_graph(fmt::format(R"(program upsampled stage=graph target="opencl"
  input x: float32[1, 64, 4]
  input s: float32[1, 64, 8]
  edge a: float32[1, 64, 4]
  edge b: float32[1, 64, 8]
  edge u: float32[1, 64, 8]
  edge c: float32[1, 128, 8]
  edge y: float32[1, 128, 8]
{0}  outputs (y{1})
  operator a op="Exp" pattern=elementwise (x) -> (a)
  operator b op="Exp" pattern=elementwise (s) -> (b)
  operator u op="Resize" pattern=reduction computation=0 (a) -> (u)
  operator c op="Concat" pattern=injective computation=1 joins=1 (u, b) -> (c)
  operator y op="Exp" pattern=elementwise (c) -> (y)
{2}
computation 0 (in0) -> (weighted)
placeholder in0: float32[1, 64, 4]
compute weighted(n < 1, c < 64, i < 8): float32 = in0[0, c, floordiv(i, 2)] * 0.75 + in0[0, c, floordiv(i + 1, 3)] * 0.25

computation 1 (in0, in1) -> (joined)
placeholder in0: float32[1, 64, 8]
placeholder in1: float32[1, 64, 8]
compute joined(n < 1, c < 128, i < 8): float32 = select(c < 64, in0[n, c, i], in1[n, c - 64, i])
  tag joined
)",
                                 reader.empty() ? "" : "  edge z: float32[1, 64, 8]\n",
                                 reader.empty() ? "" : ", z", reader),
                     "upsampled");
}

bool stays_operator(Graph graph, const KernelLibrary& kernels) {
  join_in_place(graph, graph.target, kernels);
  verify(graph);
  return !graph.nodes[3].concat_axis;
}

TEST(JoinInPlace, AnUpsampledPartIsComputedByTheKernelThatCopies) {
  EXPECT_TRUE(stays_operator(upsampled(), kChannelsLast));
}

TEST(JoinInPlace, PartsOfRowMajorImagesAreInPlace) {
  EXPECT_FALSE(stays_operator(upsampled(), {}));
}

TEST(JoinInPlace, APartThatIsReadElsewhereHasAKernelOfItsOwn) {
  const auto reader = "  operator z op=\"Exp\" pattern=elementwise (u) -> (z)\n";
  EXPECT_FALSE(stays_operator(upsampled(reader), kChannelsLast));
}

}  // namespace
}  // namespace texloom::graph
