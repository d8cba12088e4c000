// Tests the programs softmetal-compile and softmetal-run.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/softmetal/compile/diagnostics.h"
#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/programs/npy.h"
#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramsSource = R"(#include <metal_stdlib>
using namespace metal;
struct Args { device float* to [[id(0)]]; const device float* from [[id(1)]]; };
kernel void add(constant Args& args [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  args.to[i] = args.from[i] + 1;
}
kernel void scale(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], constant int2& p [[buffer(2)]],
                  threadgroup float* shared [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
  shared[i] = in[i] * p.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[i ^ 1] + p.y;
}
kernel void image(texture2d<float, access::read> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                  uint2 p [[thread_position_in_grid]]) {
  out.write(in.read(p) * 2, p);
}
kernel void sampled(texture2d<float> in [[texture(0)]], sampler s [[sampler(0)]], device float* out [[buffer(0)]]) {
  out[0] = in.sample(s, float2(0.5)).x;
}
namespace packs {
typedef struct alignas(8) {
  float scale [[id(2)]]; array<device float*, 2> data [[id(0)]]; texture2d<float, access::read> image [[id(3)]];
} Pack;
kernel void apply(constant Pack& p [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  p.data[1][i] = p.data[0][i] * p.scale + p.image.read(uint2(i, 0)).x;
}
}
struct Item { char kind; float value; };
kernel void items(device Item* items [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  items[i].value += float(items[i].kind);
}
struct Mixed { char a; short b; float c; long d; };
kernel void mixed(constant Mixed& m [[buffer(0)]], device float* out [[buffer(1)]]) {
  out[0] = m.a; out[1] = m.b; out[2] = m.c; out[3] = m.d;
}
constant int factor [[function_constant(3)]];
kernel void constants(device int* out [[buffer(0)]], uint n [[threads_per_simdgroup]]) { out[0] = factor * int(n); }
)";

// A folder with the source and some arrays.
class Programs : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "softmetal-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ + "/k.metal") << kProgramsSource;
    write("in.npy", "'<f4'", "(4,)", std::vector<float>{1, 2, 3, 4});
    write("out.npy", "'<f4'", "(4,)", std::vector<float>(4));
    write("image.npy", "'<f4'", "(2, 2)", std::vector<float>{1, 2, 3, 4});
    write("ints.npy", "'<i4'", "(1,)", std::vector<int32_t>(1));
    write("double.npy", "'<f8'", "(1,)", std::vector<double>(1));
    write("three.npy", "'<f4'", "(1, 1, 3)", std::vector<float>(3));
    std::ofstream(folder_ + "/text.npy") << "no array";
  }
  void TearDown() override { fs::remove_all(folder_); }

  template <class T>
  void write(const char* file, const std::string& descr, const std::string& shape,
             const std::vector<T>& values, const std::string& fortran_order = "False") {
    std::string header = "{'descr': " + descr + ", 'fortran_order': " + fortran_order +
                         ", 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::string all("\x93NUMPY\x01\x00\x76\x00", 10);
    all += header;
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    std::ofstream(folder_ + "/" + file, std::ios::binary) << all;
  }
  template <class T = float>
  std::vector<T> read(const char* file) {
    NpyArray a;
    std::string problem;
    EXPECT_TRUE(read_npy(folder_ + "/" + file, a, problem)) << problem;
    std::vector<T> values(a.size / sizeof(T));
    std::memcpy(values.data(), a.data(), a.size);
    return values;
  }
  ProcessResult run(const char* program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::string(SOFTMETAL_PROGRAMS) + "/" + program);
    return run_process(arguments, folder_);
  }

  std::string folder_;
};

// An error of clang about a stale precompiled library asks for a build and blames no program.
TEST(Diagnostics, OfAStaleBuildAskForABuild) {
  const std::vector<Message> messages = read_clang_messages(
      "error: file '/a/all.h' has been modified since the precompiled header '/b/metal.pch' was "
      "built: mtime changed (was 1, now 2)\nprogram:1:1: error: unknown type name 'kernel'\n",
      "program");
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].line, 0);
  EXPECT_THAT(messages[0].text,
              testing::HasSubstr("./dev build renews it; the source is not at fault"));
}

TEST_F(Programs, BindArgumentBuffersInTheOrderOfIds) {
  const auto r = run("softmetal-run", {"k.metal", "add", "--groups", "2,1,1", "--threads", "2,1,1",
                                       "--argument-buffer", "0=out.npy,in.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("out.npy"), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(read("in.npy"), (std::vector<float>{1, 2, 3, 4}));
}
TEST_F(Programs, BindConstantsAndTexturesOfArgumentBuffers) {
  for (const char* list :
       {"0=in.npy,out.npy,float32:10,image.npy", "0=in.npy,out.npy,ten.npy,image.npy"}) {
    write("ten.npy", "'<f4'", "()", std::vector<float>{10});
    const auto r = run("softmetal-run",
                       {"k.metal", "packs::apply", "--threads", "2", "--argument-buffer", list});
    EXPECT_EQ(r.status, 0) << r.errors;
    EXPECT_EQ(read("out.npy"), (std::vector<float>{11, 22, 0, 0}));
    write("out.npy", "'<f4'", "(4,)", std::vector<float>(4));
  }
  // Omitted constants are zero.
  const auto r = run("softmetal-run", {"k.metal", "packs::apply", "--threads", "2",
                                       "--argument-buffer", "0=in.npy,out.npy,image.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("out.npy"), (std::vector<float>{1, 2, 0, 0}));
}
// Kernels get C order and little-endian; files keep their own order.
TEST_F(Programs, TakeArraysOfAllOrdersAndRecords) {
  write("columns.npy", "'<f4'", "(2, 3)", std::vector<float>{1, 4, 2, 5, 3, 6}, "True");
  const std::vector<std::string> scale = {"k.metal",      "scale",         "--threads=4",
                                          "--buffer",     "0=in.npy",      "--bytes",
                                          "2=int32:10,7", "--threadgroup", "0=16"};
  auto arguments = scale;
  arguments.insert(arguments.end(), {"--buffer", "1=columns.npy"});
  auto r = run("softmetal-run", arguments);
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("columns.npy"), (std::vector<float>{27, 17, 47, 37, 5, 6}));
  std::ifstream in(folder_ + "/columns.npy", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(bytes.find("'fortran_order': True"), std::string::npos);
  write("big.npy", "'>i4'", "(2,)", std::vector<int32_t>{0x01020304, 0});
  EXPECT_EQ(read<int32_t>("big.npy")[0], 0x04030201);
  r = run("softmetal-run", {"k.metal", "constants", "--buffer", "0=big.npy", "--constant", "3=2"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read<int32_t>("big.npy"), (std::vector<int32_t>{64, 0}));
  write("complex.npy", "'>c8'", "(1,)", std::vector<uint32_t>{0x0000803f, 0x00000040});
  EXPECT_EQ(read("complex.npy"), (std::vector<float>{1, 2}));
  struct Item {
    char kind, pad[3];
    float value;
  };
  write("items.npy", "[('kind', '|i1'), ('', '|V3'), ('value', '<f4')]", "(2,)",
        std::vector<Item>{{1, {}, 0.5F}, {2, {}, 0.5F}});
  r = run("softmetal-run", {"k.metal", "items", "--threads", "2", "--buffer", "0=items.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read<Item>("items.npy")[1].value, 2.5F);
}
TEST_F(Programs, BindBuffersBytesAndThreadgroupMemory) {
  const auto r =
      run("softmetal-run", {"k.metal", "scale", "--threads=4", "--buffer", "0=in.npy", "--buffer",
                            "1=out.npy", "--bytes", "2=int32:10,7", "--threadgroup", "0=1152"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("out.npy"), (std::vector<float>{27, 17, 47, 37}));
}
TEST_F(Programs, BindBytesOfAStruct) {
  const auto r =
      run("softmetal-run", {"k.metal", "mixed", "--bytes", "0=int8:1,int16:-2,float32:0.5,int64:9",
                            "--buffer", "1=out.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("out.npy"), (std::vector<float>{1, -2, 0.5F, 9}));
}
TEST_F(Programs, BindTexturesAndSamplers) {
  write("half.npy", "'<f2'", "(2, 2, 1)", std::vector<uint16_t>(4));
  auto r = run("softmetal-run", {"k.metal", "image", "--groups", "2,2", "--texture", "0=image.npy",
                                 "--texture", "1=half.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(float_of_half(read<uint16_t>("half.npy")[3]), 8);
  r = run("softmetal-run", {"k.metal", "sampled", "--texture", "0=image.npy", "--sampler",
                            "0=linear", "--buffer", "0=out.npy"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read("out.npy")[0], 2.5F);
}
TEST_F(Programs, TakeConstantsAndTheWidthOfSimdgroups) {
  const auto r = run("softmetal-run", {"k.metal", "constants", "--buffer", "0=ints.npy",
                                       "--constant", "3=5", "--simd-width", "8"});
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(read<int32_t>("ints.npy")[0], 40);
}
TEST_F(Programs, CompileAndSayWhatIsWrong) {
  EXPECT_EQ(run("softmetal-compile", {"k.metal"}).status, 0);
  std::ofstream(folder_ + "/bad.metal")
      << "#include <metal_stdlib>\nkernel void k() {\n  int x = y;\n}\n";
  const auto r = run("softmetal-compile", {"bad.metal"});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.errors.find("bad.metal:3: error: use of undeclared identifier 'y'\n  int x = y;\n"),
            std::string::npos)
      << r.errors;
  EXPECT_EQ(run("softmetal-compile", {}).status, 1);
  EXPECT_EQ(run("softmetal-compile", {"missing.metal"}).status, 1);
  EXPECT_EQ(run("softmetal-compile", {"--what", "k.metal"}).status, 1);
  EXPECT_NE(
      run("softmetal-compile", {"-std=metal9.9", "k.metal"}).errors.find("versions 2.0 to 2.4"),
      std::string::npos);
  EXPECT_NE(run("softmetal-compile", {"--list", "k.metal"})
                .out.find("kernel add\n  [[buffer(0)]] constant Args& args"),
            std::string::npos);
}
TEST_F(Programs, CompileLibrariesToFiles) {
  EXPECT_EQ(run("softmetal-compile", {"k.metal", "-o", "k.metallib"}).status, 0);
  std::string problem;
  const auto library = Library::load(read_file(folder_ + "/k.metallib").value_or(""), problem);
  ASSERT_NE(library, nullptr) << problem;
  EXPECT_TRUE(library->has_function("image", problem)) << problem;
  std::ofstream(folder_ + "/bad.metal") << "kernel void k() { int x = y; }\n";
  EXPECT_EQ(run("softmetal-compile", {"bad.metal", "-o", "bad.metallib"}).status, 1);
  EXPECT_FALSE(fs::exists(folder_ + "/bad.metallib"));
  EXPECT_NE(run("softmetal-compile", {"k.metal", "-o", "none/k.metallib"})
                .errors.find("cannot write \"none/k.metallib\""),
            std::string::npos);
  EXPECT_NE(run("softmetal-compile", {"k.metal", "-o"}).errors.find("-o takes the name of a file"),
            std::string::npos);
}
TEST_F(Programs, SayThatTheyNeedATemporaryFolder) {
  for (const char* program : {"softmetal-compile", "softmetal-run"}) {
    std::vector<std::string> arguments = {"env", "TMPDIR=" + folder_ + "/none",
                                          std::string(SOFTMETAL_PROGRAMS) + "/" + program,
                                          "k.metal"};
    if (std::string(program) == "softmetal-run") arguments.emplace_back("add");
    const auto r = run_process(arguments, folder_);
    EXPECT_EQ(r.status, 1);
    EXPECT_NE(r.errors.find("no temporary folder can be written"), std::string::npos) << r.errors;
  }
}
// The linker finds undefined functions that the token pass misses.
TEST_F(Programs, NameFunctionsThatAreNotDefined) {
  std::ofstream(folder_ + "/local.metal") << "kernel void k() {\n  void g(int);\n  g(1);\n}\n";
  const auto r = run("softmetal-run", {"local.metal", "k"});
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.errors, "softmetal-run: function \"g(int)\" is declared, but not defined\n");
  std::ofstream(folder_ + "/host.metal")
      << "extern \"C\" { void abort(); }\nextern \"C\" void own() {}\n"
         "kernel void k() {\n  own();\n  auto f = &abort;\n  f();\n}\n";
  EXPECT_EQ(run("softmetal-run", {"host.metal", "k"}).errors,
            "softmetal-run: function \"abort()\" is declared, but not defined\n");
}
// The results of a kernel that failed are not written.
TEST_F(Programs, DoNotWriteWhatAKernelLeftThatFailed) {
  const auto r = run("softmetal-run", {"k.metal", "add", "--groups", "5", "--argument-buffer",
                                       "0=out.npy,in.npy", "--seed", "0"});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(
      r.errors.find("error: thread (0, 0, 0) of threadgroup (4, 0, 0): reads 4 bytes at byte 16 of "
                    "--argument-buffer 0 [1] (in.npy), which has 16 bytes"),
      std::string::npos)
      << r.errors;
  EXPECT_EQ(read("out.npy"), std::vector<float>(4));
}

struct BadCommand {
  std::vector<std::string> arguments;  // behind k.metal
  const char* message;
};
TEST_F(Programs, ExplainEveryWrongArgument) {
  const std::vector<BadCommand> commands = {
      {{}, "a source file and the name of a kernel are needed"},
      {{"add", "twice"}, "only one source file and one kernel"},
      {{"missing"},
       "there is no kernel \"missing\"; the library has: add scale image sampled packs::apply "
       "items mixed constants"},
      {{"add", "--grops", "1"}, "there is no option \"--grops\""},
      {{"add", "--groups"}, "--groups needs a value"},
      {{"add", "--groups", "1,2,3,4"}, "--groups takes up to three numbers"},
      {{"add", "--groups", "0"}, "numbers from 1 on"},
      {{"add", "--threads", "x"}, "--threads takes up to three numbers"},
      {{"add", "--buffer", "0=."}, "cannot read \".\""},
      {{"add", "-I"}, "-I takes a folder"},
      {{"items", "--buffer", "0=ints.npy", "--groups", "4294967295,4294967295,4294967295"},
       "the threadgroups of a grid are over the limit of 4294967295"},
      {{"items", "--buffer", "0=ints.npy", "--grid", "4294967295,4294967295,2", "--threads", "32"},
       "the threadgroups of a grid are over the limit of 4294967295"},
      {{"add", "--buffer", "in.npy"}, "--buffer takes INDEX=VALUE"},
      {{"add", "--buffer", "7=in.npy"}, "kernel \"add\" has no [[buffer(7)]]"},
      {{"add", "--buffer", "0=in.npy", "--buffer", "0=in.npy"},
       "--buffer is given twice for index 0"},
      {{"add", "--buffer", "0=in.npy", "--argument-buffer", "0=in.npy"}, "buffer 0 is bound twice"},
      {{"add", "--argument-buffer", "0=in.npy"}, "has 1 arrays, but \"Args\" has 2 members"},
      {{"packs::apply", "--argument-buffer", "0=in.npy"},
       "has 1 arrays, but \"Pack\" has 3 members that take one, or 4 with its constants"},
      {{"packs::apply", "--argument-buffer", "0=in.npy,out.npy,float32:1,2,image.npy"},
       "has 5 arrays"},
      {{"packs::apply", "--argument-buffer", "0=in.npy,out.npy,in.npy,image.npy"},
       "\"scale\" has 4 bytes, but in.npy has 16"},
      {{"add", "--argument-buffer", "0=in.npy,missing.npy"}, "cannot read \"missing.npy\""},
      {{"add"}, "buffer 0, \"args\", is not bound"},
      {{"add", "--buffer", "0=ints.npy"}, "has 4 bytes, but \"constant Args&\" refers to 16"},
      {{"scale", "--buffer", "0=text.npy"}, "\"text.npy\" is no .npy file"},
      {{"scale", "--buffer", "0=double.npy"}, "its type is float64, which Metal does not have"},
      {{"scale", "--bytes", "2=7,8"}, "--bytes 2 takes DTYPE:VALUES"},
      {{"scale", "--bytes", "2=int32:7,x"}, "\"x\" is no number of type int32"},
      {{"scale", "--bytes", "2=uint8:256"}, "\"256\" is no number of type uint8"},
      {{"scale", "--threadgroup", "0=1000", "--buffer", "0=in.npy", "--buffer", "1=out.npy",
        "--bytes", "2=int32:1,1"},
       "must be a multiple of 16, not 1000"},
      {{"scale", "--threadgroup", "0=65536", "--buffer", "0=in.npy", "--buffer", "1=out.npy",
        "--bytes", "2=int32:1,1"},
       "are over the limit of 32768"},
      {{"scale", "--threadgroup", "1=16"}, "has no [[threadgroup(1)]]"},
      {{"scale", "--buffer", "0=in.npy", "--buffer", "1=out.npy", "--bytes", "2=int32:1,1"},
       "threadgroup memory 0, \"shared\", has no size"},
      {{"image", "--texture", "0=in.npy"},
       "takes an array of 2 axes, or one more for channels, but \"in.npy\" has the shape (4)"},
      {{"image", "--texture", "0=three.npy"}, "3 channels (1, 2 or 4 are possible)"},
      {{"image", "--texture", "0=image.npy", "--texture", "5=image.npy"}, "has no [[texture(5)]]"},
      {{"sampled", "--sampler", "0=bilinear"}, "\"bilinear\" is no word for a sampler"},
      {{"constants", "--buffer", "0=ints.npy"},
       "kernel \"constants\" needs values of the function constants: factor"},
      {{"constants", "--buffer", "0=ints.npy", "--constant", "3=99999999999"},
       "--constant 3: \"99999999999\" is no number of type int32"},
      {{"constants", "--buffer", "0=ints.npy", "--constant", "3=5", "--constant", "4=5"},
       "--constant 4: the program has no [[function_constant(4)]]"},
      {{"add", "--simd-width", "7"}, "--simd-width is 4, 8, 16, 32 or 64"},
      {{"add", "--threads", "1025", "--argument-buffer", "0=out.npy,in.npy"},
       "a threadgroup of 1025 threads is over the limit of 1024"},
  };
  for (const BadCommand& c : commands) {
    std::vector<std::string> arguments = c.arguments;
    arguments.insert(arguments.begin(), "k.metal");
    const auto r = run("softmetal-run", arguments);
    EXPECT_EQ(r.status, 1) << c.message;
    EXPECT_NE(r.errors.find(c.message), std::string::npos)
        << "\"" << c.message << "\" is not in: " << r.errors;
  }
}

}  // namespace
}  // namespace softmetal
