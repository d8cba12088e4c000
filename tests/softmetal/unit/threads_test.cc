// Tests threadgroups, simdgroups and the builtins of kernels.
#include <cmath>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

constexpr const char* kThreadsSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void positions(device float* out [[buffer(0)]], uint3 g [[thread_position_in_grid]],
                      uint3 n [[threads_per_grid]], uint3 l [[thread_position_in_threadgroup]],
                      uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]]) {
  uint at = (g.z * n.y + g.y) * n.x + g.x;
  out[at] = all(g == group * size + l) ? at + 1 : -1;
}
kernel void narrow(device float* out [[buffer(0)]], ushort2 g [[thread_position_in_grid]],
                   uint w [[threads_per_grid]], ushort i [[thread_index_in_threadgroup]]) {
  out[g.y * w + g.x] = i;
}
kernel void edge(device float* out [[buffer(0)]], uint g [[thread_position_in_grid]],
                 uint here [[threads_per_threadgroup]], uint all [[dispatch_threads_per_threadgroup]]) {
  out[g] = here * 100 + all;
}
kernel void reverse(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  threadgroup float shared[64];
  shared[i] = out[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[n - 1 - i];
}
kernel void scan(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                 threadgroup float* shared [[threadgroup(0)]], uint n [[threads_per_threadgroup]]) {
  shared[i] = out[i];
  for (uint step = 1; step < n; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float left = i >= step ? shared[i - step] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    shared[i] += left;
  }
  out[i] = shared[i];
}
kernel void counted(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_int count;
  if (i == 0) atomic_store_explicit(&count, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, int(i), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&count, memory_order_relaxed);
}
kernel void waits(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_int turn = 0;
  while (atomic_load_explicit(&turn, memory_order_relaxed) != int(i)) {}
  out[i] = i;
  atomic_store_explicit(&turn, int(i) + 1, memory_order_relaxed);
}
kernel void zeros(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  typedef float4 wide;
  threadgroup wide a[2] = {(wide)0.f};
  threadgroup half4 b = half4(0.0h);
  threadgroup uchar c[3] = {0, 0};
  out[i] = a[i].w + b[i] + c[i];
}
kernel void pointers(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  thread const device float* from[2];
  thread volatile threadgroup float* to;
  threadgroup float shared[2];
  for (uint k = 0; k < 2; ++k) from[k] = out + k;
  to = shared;
  to[i] = *from[1 - i];
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = shared[i];
}
kernel void lanes(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]],
                  uint width [[threads_per_simdgroup]], uint groups [[simdgroups_per_threadgroup]]) {
  out[i] = lane + group * width == i && groups == (64 + width - 1) / width;
}
#define SIMD_KERNEL(NAME, EXPRESSION)                                                          \
  kernel void NAME(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]], \
                   uint lane [[thread_index_in_simdgroup]],                                    \
                   uint width [[threads_per_simdgroup]]) {                                     \
    out[i] = EXPRESSION;                                                                       \
  }
SIMD_KERNEL(sum, simd_sum(i))
SIMD_KERNEL(largest, simd_max(float(i)))
SIMD_KERNEL(smallest, simd_min(int2(i, -int(i))).y)
SIMD_KERNEL(product, simd_product(lane == 3 ? 5.0f : 1.0f))
SIMD_KERNEL(disjunction, simd_or(1u << lane) == (width == 32 ? 0xffffffffu : (1u << width) - 1))
SIMD_KERNEL(inclusive, simd_prefix_inclusive_sum(1.0f) == lane + 1)
SIMD_KERNEL(exclusive, simd_prefix_exclusive_sum(lane) == lane * (lane - 1) / 2)
SIMD_KERNEL(shuffled, simd_shuffle(i, ushort(width - 1 - lane)))
SIMD_KERNEL(broadcast, simd_broadcast(i, ushort(2)) - i + lane)
SIMD_KERNEL(first, simd_broadcast_first(i) + lane == i)
SIMD_KERNEL(exchanged, simd_shuffle_xor(i, ushort(1)))
SIMD_KERNEL(down, simd_shuffle_down(i, ushort(1)) - i)
SIMD_KERNEL(up, i - simd_shuffle_up(i, ushort(1)))
SIMD_KERNEL(rotated, simd_shuffle_rotate_down(lane, ushort(1)) == (lane + 1) % width)
SIMD_KERNEL(filled, simd_shuffle_and_fill_up(lane, 100 + lane, ushort(1)))
SIMD_KERNEL(ballot, popcount(uint(ulong(simd_ballot(lane < 3)))))
SIMD_KERNEL(votes, simd_any(lane == 1) && !simd_all(lane == 1))
SIMD_KERNEL(quads, quad_sum(lane % 4) + quad_broadcast(lane % 4, ushort(3)))
SIMD_KERNEL(elected, simd_is_first() == (lane == 0))
kernel void aligned(device float4* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float odd[1];
  threadgroup alignas(16) float a[8];
  alignas(16) threadgroup float b[8];
  alignas(16) float c[4] = {1, 2, 3, 4};
  odd[0] = 1;
  *(threadgroup float4*)(a + 4) = *(thread float4*)c;
  *(threadgroup float4*)b = *(threadgroup float4*)(a + 4) * odd[0];
  out[i] = *(threadgroup float4*)b;
}
kernel void tiles(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float a[64], b[64];
  a[i] = i % 9 == 0 ? 2 : 0;
  b[i] = i;
  a[i + 32] = (i + 32) % 9 == 0 ? 2 : 0;
  b[i + 32] = i + 32;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 x, y, z(1);
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_multiply_accumulate(z, x, y, z);
  simdgroup_store(z, out);
}
)";

const Library& threads_library() {
  static const std::shared_ptr<Library> kLibrary = compile_or_fail(kThreadsSource);
  return *kLibrary;
}

std::vector<float> run(const std::string& kernel, std::vector<float> values, const Grid& grid,
                       RunOptions options = {}, size_t threadgroup_bytes = 0) {
  std::string problem;
  const auto function = threads_library().function(kernel, problem);
  EXPECT_NE(function, nullptr) << problem;
  Arguments arguments;
  arguments.buffers[0] = {values.data(), values.size() * sizeof(float)};
  if (threadgroup_bytes != 0) arguments.threadgroup_sizes[0] = threadgroup_bytes;
  const auto reports = dispatch(*function, arguments, grid, options);
  EXPECT_TRUE(reports.empty()) << print_reports(reports);
  return values;
}

std::vector<float> counting(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST(Threads, HavePositionsInThreeDimensions) {
  const auto out = run("positions", std::vector<float>(4 * 6 * 8), {{2, 3, 4}, {2, 2, 2}});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], static_cast<float>(i + 1));
}
TEST(Threads, HavePositionsOf16BitsAndOfFewerDimensions) {
  const auto out = run("narrow", std::vector<float>(12), {{2, 1, 1}, {2, 3, 1}});
  EXPECT_EQ(out, (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5}));
}
TEST(Threads, AreFewerInTheLastGroupOfAGridThatIsNoMultiple) {
  Grid grid{{2, 1, 1}, {4, 1, 1}, std::array<uint32_t, 3>{6, 1, 1}};
  EXPECT_EQ(run("edge", std::vector<float>(6), grid),
            (std::vector<float>{404, 404, 404, 404, 204, 204}));
}
TEST(Threads, ShareMemoryThatIsZeroAtFirstIfTheProgramSaysSo) {
  EXPECT_EQ(run("zeros", {7, 7}, {{1, 1, 1}, {2, 1, 1}}), (std::vector<float>{0, 0}));
}
TEST(Threads, HavePointersOfTheirOwnToOtherMemory) {
  EXPECT_EQ(run("pointers", {3, 4}, {{1, 1, 1}, {2, 1, 1}}), (std::vector<float>{4, 3}));
}
// With barriers, the result is the same for every order of threads.
TEST(Threads, ShareMemoryAcrossBarriersInEveryOrder) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    RunOptions options;
    options.seed = seed;
    const auto out = run("reverse", counting(64), {{1, 1, 1}, {64, 1, 1}}, options);
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], static_cast<float>(63 - i));
  }
}
TEST(Threads, ScanThroughMemoryOfAnArgument) {
  const auto out = run("scan", std::vector<float>(32, 1), {{1, 1, 1}, {32, 1, 1}}, {}, 128);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], static_cast<float>(i + 1));
}
TEST(Threads, CountByAtomicsOfThreadgroupMemory) {
  EXPECT_EQ(run("counted", std::vector<float>(8), {{1, 1, 1}, {8, 1, 1}}),
            std::vector<float>(8, 28));
}
// Without alignas(16), accesses to four floats would be reported as misaligned.
TEST(Threads, HaveArraysThatAreAlignedAsTheySay) {
  EXPECT_EQ(run("aligned", std::vector<float>(4), {}), (std::vector<float>{1, 2, 3, 4}));
}
// A thread that spins on an atomic lets the others continue.
TEST(Threads, WaitForAtomicsOfOthers) {
  for (uint64_t seed : {0, 1, 2}) {
    RunOptions options;
    options.seed = seed;
    EXPECT_EQ(run("waits", std::vector<float>(8), {{1, 1, 1}, {8, 1, 1}}, options), counting(8));
  }
}

struct SimdCase {
  const char* kernel;
  // The value of thread i of 64, with simdgroups of w threads.
  float (*expected)(int i, int w);
};
class Simdgroups : public testing::TestWithParam<SimdCase> {};

TEST_P(Simdgroups, AgreeForBothWidths) {
  for (uint32_t width : {8U, 32U}) {
    RunOptions options;
    options.simd_width = width;
    const auto out =
        run(GetParam().kernel, std::vector<float>(64), {{1, 1, 1}, {64, 1, 1}}, options);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(out[static_cast<size_t>(i)], GetParam().expected(i, static_cast<int>(width)))
          << "thread " << i << " of width " << width;
    }
  }
}
const SimdCase kSimdCases[] = {
    {"lanes", [](int, int) { return 1.0F; }},
    {"sum", [](int i, int w) { return static_cast<float>(i / w * w * w + w * (w - 1) / 2); }},
    {"largest", [](int i, int w) { return static_cast<float>(i / w * w + w - 1); }},
    {"smallest", [](int i, int w) { return static_cast<float>(-(i / w * w + w - 1)); }},
    {"product", [](int, int) { return 5.0F; }},
    {"disjunction", [](int, int) { return 1.0F; }},
    {"inclusive", [](int, int) { return 1.0F; }},
    {"exclusive", [](int i, int w) { return i % w == 0 ? 1.0F : 1.0F; }},
    {"shuffled", [](int i, int w) { return static_cast<float>(i / w * w + w - 1 - i % w); }},
    {"broadcast", [](int, int) { return 2.0F; }},
    {"first", [](int, int) { return 1.0F; }},
    {"exchanged", [](int i, int) { return static_cast<float>(i ^ 1); }},
    {"down", [](int i, int w) { return i % w == w - 1 ? 0.0F : 1.0F; }},
    {"up", [](int i, int w) { return i % w == 0 ? 0.0F : 1.0F; }},
    {"rotated", [](int, int) { return 1.0F; }},
    {"filled",
     [](int i, int w) { return static_cast<float>(i % w == 0 ? 100 + w - 1 : i % w - 1); }},
    {"ballot", [](int, int) { return 3.0F; }},
    {"votes", [](int, int) { return 1.0F; }},
    {"quads", [](int, int) { return 9.0F; }},
    {"elected", [](int, int) { return 1.0F; }},
};
INSTANTIATE_TEST_SUITE_P(All, Simdgroups, testing::ValuesIn(kSimdCases),
                         [](const auto& test) { return std::string(test.param.kernel); });

// The result is (2 I) b + I.
TEST(SimdgroupMatrix, MultipliesAndAccumulates) {
  const auto out = run("tiles", std::vector<float>(64), {{1, 1, 1}, {32, 1, 1}});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 2.0F * static_cast<float>(i) + (i % 9 == 0 ? 1.0F : 0.0F));
}

}  // namespace
}  // namespace softmetal
