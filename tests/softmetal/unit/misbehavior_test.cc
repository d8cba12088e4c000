// Tests that errors of running kernels are reported.
#include <algorithm>
#include <set>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

struct Misbehavior {
  const char* what;
  const char* body;  // of a kernel with `device float* out` of 64 elements and thread index `i`
  ReportKind kind;
  const char* text;
  bool is_error = true;
};

const std::vector<Misbehavior> kMisbehaviors = {
    {"a write behind the end of a buffer", "out[i + 1] = 1;", ReportKind::OutOfBounds,
     "writes 4 bytes at byte 256 of buffer 0, which has 256 bytes"},
    {"a read in front of a buffer", "out[i] = out[int(i) - 1];", ReportKind::OutOfBounds,
     "reads 4 bytes at byte -4 of buffer 0"},
    {"a wide access over the end", "if (i == 0) *(device packed_float4*)(out + 62) = float4(1);",
     ReportKind::OutOfBounds, "buffer 0"},
    {"a null pointer", "device float* p = (device float*)ulong(out[i]); p[0] = 1;",
     ReportKind::OutOfBounds, "a null pointer"},
    {"a misaligned vector", "*(device float4*)(out + 1) = float4(1);", ReportKind::Misaligned,
     "multiple of 16"},
    {"threadgroup memory that nobody wrote", "threadgroup float s[64]; out[i] = s[i];",
     ReportKind::Uninitialized, "no thread has written", false},
    {"an index outside of threadgroup memory", "threadgroup float s[64]; s[i + 1] = 1;",
     ReportKind::OutOfBounds, "threadgroup memory, of which 256 bytes are in use"},
    {"too much threadgroup memory", "threadgroup float4 s[2049]; s[i] = 1; out[i] = s[i].x;",
     ReportKind::Limit, "32784 bytes of threadgroup memory; the limit is 32768"},
    {"a read without a barrier behind the write",
     "threadgroup float s[64]; if (i == 0) { for (int k = 0; k < 64; ++k) s[k] = 0; } "
     "threadgroup_barrier(mem_flags::mem_threadgroup); s[i] = i; out[i] = s[63 - i];",
     ReportKind::Race, "two threads read and write threadgroup memory"},
    {"a barrier that does not order threadgroup memory",
     "threadgroup float s[64]; s[i] = i; threadgroup_barrier(mem_flags::mem_device); out[i] = s[63 "
     "- i];",
     ReportKind::Race, "without a barrier between"},
    {"two threads that write one element of a buffer", "out[0] = i;", ReportKind::Race,
     "two threads write buffer 0", false},
    {"a thread that reads what another writes in device memory", "out[i] = out[63 - i];",
     ReportKind::Race, "read and write buffer 0", false},
    {"a barrier that some threads do not reach",
     "if (i < 4) return; threadgroup_barrier(mem_flags::mem_none); out[i] = 1;",
     ReportKind::Barrier,
     "60 of 64 threads wait at a threadgroup_barrier() that the other 4 do not reach: 4 have "
     "ended"},
    {"two barriers in two branches",
     "if (i < 4) threadgroup_barrier(mem_flags::mem_none); else "
     "threadgroup_barrier(mem_flags::mem_none); out[i] = 1;",
     ReportKind::Barrier, "different calls of threadgroup_barrier()"},
    {"a barrier in a loop of different lengths",
     "for (uint k = 0; k <= i; ++k) threadgroup_barrier(mem_flags::mem_none); out[i] = 1;",
     ReportKind::Barrier, "do not reach"},
    {"a sum of a part of the simdgroup", "if (i % 8 < 4) out[i] = simd_sum(1.0f);",
     ReportKind::Simdgroup, "waits at a function of its simdgroup, lane"},
    {"two sums in two branches",
     "float x; if (i % 8 < 4) x = simd_sum(1.0f); else x = simd_sum(2.0f); out[i] = x;",
     ReportKind::Simdgroup, "but at another call"},
    {"a sum and a barrier in two branches",
     "if (i % 8 < 4) out[i] = simd_sum(1.0f); else threadgroup_barrier(mem_flags::mem_none);",
     ReportKind::Simdgroup, "waits at a threadgroup_barrier()"},
    {"a simdgroup barrier that a lane does not reach",
     "if (i % 8 != 3) simdgroup_barrier(mem_flags::mem_threadgroup); out[i] = 1;",
     ReportKind::Simdgroup, "waits at a simdgroup_barrier(), lane 3 has ended"},
    {"a shuffle from a lane that is not there", "out[i] = simd_shuffle(float(i), ushort(40));",
     ReportKind::Lane, "shuffles from lane 40, but the simdgroup has 32 threads"},
    {"a function with a shuffle that is called from two places",
     "float x = 0; auto f = [](float v) { return simd_sum(v); }; if (i % 2 == 0) x = f(1); else x "
     "= f(2); out[i] = x;",
     ReportKind::Simdgroup, "but at another call"},
    {"an integer divided by zero", "out[i] = 5 / int(out[i]);", ReportKind::Fault,
     "divides an integer by zero"},
    {"a loop that does not end", "volatile device float* p = out; while (p[0] == 0) {}",
     ReportKind::Fault, "did not end within the time limit"},
    {"a loop without accesses that does not end",
     "uint x = i; while (x != 0x7fffffff) { x = x * 2 | 1; x &= 0xffff; } out[i] = x;",
     ReportKind::Fault, "did not end within the time limit"},
    {"a call at an address without a function",
     "typedef void (*F)(device float*); F f = (F)ulong(0x1234 + int(out[i])); f(out);",
     ReportKind::Fault, "an address that is not in the program's code"},
    {"an index behind the end of an array of the thread",
     "int a[4]; for (int k = 0; k < 2000 + int(out[i]); ++k) a[k] = 7; out[i] = a[0];",
     ReportKind::Fault, "beyond its own memory: an index that is not in an array"},
    {"an index far behind the end of an array of the thread",
     "int a[4]; a[200000 + int(out[i])] = 7; out[i] = a[int(out[i])];", ReportKind::Fault,
     "beyond its own memory"},
    {"an index in front of an array of the thread",
     "int a[4]; for (int k = 0; k < 200000 + int(out[i]); ++k) a[-k] = 7; out[i] = a[0];",
     ReportKind::Fault, "more memory of its own"},
    {"arrays that do not fit on a thread's stack",
     "float a[100000]; for (int k = 0; k < 100000; ++k) a[k] = out[k % 64]; for (int k = 1; k < "
     "100000; ++k) a[k] += a[k - 1] * a[(k * 7) % 1000]; out[i] = a[int(out[i]) + 99999];",
     ReportKind::Fault, "more memory of its own"},
};

const Library& library() {
  static const std::shared_ptr<Library> kLibrary = [] {
    std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
    for (size_t k = 0; k < kMisbehaviors.size(); ++k) {
      source += "kernel void case_" + std::to_string(k) +
                "(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) { " +
                kMisbehaviors[k].body + " }\n";
    }
    return compile_or_fail(source);
  }();
  return *kLibrary;
}

class Misbehaviors : public testing::TestWithParam<size_t> {};

TEST_P(Misbehaviors, AreReported) {
  const Misbehavior& m = kMisbehaviors[GetParam()];
  SCOPED_TRACE(m.what);
  std::string problem;
  const auto function = library().function("case_" + std::to_string(GetParam()), problem);
  ASSERT_NE(function, nullptr) << problem;
  RunOptions options;
  options.time_limit = 0.1;
  std::vector<float> values(64);
  const auto reports = run_over(*function, values, {{1, 1, 1}, {64, 1, 1}}, options);
  bool found = false;
  for (const Report& r : reports) {
    found |=
        r.kind == m.kind && r.is_error == m.is_error && r.text.find(m.text) != std::string::npos;
  }
  EXPECT_TRUE(found) << "\"" << m.text << "\" is not in:\n" << print_reports(reports);
}
INSTANTIATE_TEST_SUITE_P(All, Misbehaviors, testing::Range(size_t{0}, kMisbehaviors.size()));

// A failed execution does not affect the next one.
TEST(Misbehavior, DoesNotDisturbLaterDispatches) {
  std::string problem;
  const auto bad = library().function("case_0", problem);
  const auto good = function_or_fail(
      "kernel void k(device float* out, uint i [[thread_position_in_grid]]) { out[i] = i; }", "k");
  for (int round = 0; round < 3; ++round) {
    std::vector<float> values(64);
    EXPECT_TRUE(has_errors(run_over(*bad, values, {{1, 1, 1}, {64, 1, 1}})));
    EXPECT_TRUE(run_over(*good, values, {{1, 1, 1}, {64, 1, 1}}).empty());
    EXPECT_EQ(values[63], 63);
  }
}

// The time limit includes the overhead of threadgroups; a random order of threadgroups needs no
// memory.
TEST(Misbehavior, OfGridsThatAreTooLargeForTheTimeLimit) {
  const auto function = function_or_fail("kernel void k(device float* out) {}", "k");
  for (const uint64_t seed : {0, 1}) {
    RunOptions options;
    options.time_limit = 0.1;
    options.seed = seed;
    std::vector<float> values(1);
    const auto reports = run_over(*function, values, {{65535, 65535, 1}, {1, 1, 1}}, options);
    ASSERT_EQ(reports.size(), 1U) << print_reports(reports);
    EXPECT_NE(reports[0].text.find("time limit"), std::string::npos) << print_reports(reports);
  }
}

// Each seed gives a different order, in which every threadgroup runs once.
TEST(Dispatch, RunsEachThreadgroupOnce) {
  const auto function = function_or_fail(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device float* out, uint3 i [[threadgroup_position_in_grid]]) {\n"
      "  const uint n = i.x + 3 * i.y + 12 * i.z; out[60] += 1; out[n] += out[60]; }",
      "k");
  std::set<std::vector<float>> orders;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    RunOptions options;
    options.seed = seed;
    std::vector<float> values(61);
    run_over(*function, values, {{3, 4, 5}, {1, 1, 1}}, options);
    orders.insert(values);
    std::sort(values.begin(), values.end() - 1);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(values[i], i + 1);
  }
  EXPECT_EQ(orders.size(), 6U);
}

// Accesses of two threads to different halves of a word do not race.
TEST(Races, AreNotAmongNeighborsInAWord) {
  const auto function = function_or_fail(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup half a[16];\n  threadgroup uchar b[16];\n"
      "  a[i] = half(i); b[i] = uchar(i);\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  a[i] = a[i] + 1.0h; b[i] = b[i] + 1;\n"
      "  out[i] = float(a[i]) + float(b[i]); }",
      "f");
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    std::vector<float> values(16);
    RunOptions options;
    options.seed = seed;
    const auto reports = run_over(*function, values, {{1, 1, 1}, {16, 1, 1}}, options);
    EXPECT_EQ(print_reports(reports), "");
    EXPECT_EQ(values[15], 32);
  }
}

// A simdgroup's barrier orders the accesses of its threads, but not of other threads.
TEST(Races, AreOrderedBySimdgroupBarriersInsideOfOneSimdgroup) {
  const char* source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) "
      "{\n"
      "  threadgroup float s[64];\n  s[i] = i;\n  simdgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  out[i] = s[i ^ 1];\n}\n"
      "kernel void far(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) "
      "{\n"
      "  threadgroup float s[64] = {0};\n  s[i] = i;\n  "
      "simdgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  out[i] = s[63 - i];\n}\n";
  const auto near = function_or_fail(source, "k"), far = function_or_fail(source, "far");
  std::vector<float> values(64);
  const auto reports = run_over(*near, values, {{1, 1, 1}, {64, 1, 1}});
  EXPECT_TRUE(reports.empty()) << print_reports(reports);
  EXPECT_TRUE(has_errors(run_over(*far, values, {{1, 1, 1}, {64, 1, 1}})));
}

// A read before a simdgroup's barrier does not race with a write after it.
TEST(Races, EndAtSimdgroupBarriers) {
  const auto function = function_or_fail(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) "
      "{\n"
      "  threadgroup float s[1];\n  if (i == 0) s[0] = 1;\n"
      "  simdgroup_barrier(mem_flags::mem_threadgroup);\n  out[i] = s[0];\n"
      "  simdgroup_barrier(mem_flags::mem_threadgroup);\n  if (i == 0) s[0] = s[0] + 1;\n"
      "  simdgroup_barrier(mem_flags::mem_threadgroup);\n  out[i] += s[0];\n}\n",
      "k");
  std::vector<float> values(8);
  EXPECT_EQ(print_reports(run_over(*function, values, {{1, 1, 1}, {8, 1, 1}})), "");
  EXPECT_EQ(values[7], 3);
}

// One thread sums in threadgroup memory; the optimizer must not move other threads' reads before
// the barrier.
TEST(Races, AreNotMadeByReadsThatTheOptimizerMoves) {
  const auto k = function_or_fail(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) "
      "{\n"
      "  threadgroup float s[1];\n  if (i == 0) s[0] = 0;\n"
      "  for (int k = 0; k < 4; ++k) {\n    if (i == 0) s[0] = s[0] + out[k];\n  }\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  out[8 + i] = s[0];\n}\n",
      "k");
  for (uint64_t seed = 0; seed <= 4; ++seed) {
    std::vector<float> values(16, 2.0F);
    RunOptions options;
    options.seed = seed;
    const auto reports = run_over(*k, values, {{1, 1, 1}, {4, 1, 1}}, options);
    EXPECT_EQ(print_reports(reports), "");
    EXPECT_EQ(values[11], 8);
  }
}

// The search for hazards between dispatches uses the touched bytes.
TEST(Touched, AreTheBytesThatAKernelReadsAndWrites) {
  const auto k = function_or_fail(
      "kernel void k(device float* out, uint i [[thread_position_in_grid]]) { out[i + 8] = out[i] "
      "+ 1; }",
      "k");
  std::vector<float> values(16);
  RunOptions options;
  std::vector<Touched> touched;
  options.on_touched = [&](const Touched& t) { touched.push_back(t); };
  EXPECT_TRUE(run_over(*k, values, {{2, 1, 1}, {2, 1, 1}}, options).empty());
  ASSERT_EQ(touched.size(), 1U);
  using Ranges = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(touched[0].read, (Ranges{{0, 16}}));
  EXPECT_EQ(touched[0].written, (Ranges{{32, 48}}));
}

}  // namespace
}  // namespace softmetal
