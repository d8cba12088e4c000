#include "support/processor/native_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/processor/processor.h"
#include "tests/support/processor/native_object.h"

namespace texloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint16_t kAarch64 = 183;

TEST(NativeCode, SaysWhatItNeeds) {
  const auto code = read_native_code(NativeObjectFile("1 avx2,fma").bytes());
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_FALSE(code->is_relocatable);
  EXPECT_EQ(code->architecture, "x86_64");
  EXPECT_THAT(code->features, ElementsAre("avx2", "fma"));
}

TEST(NativeCode, RefusesWhatIsNoObject) {
  EXPECT_THAT(read_native_code("").status().message(), HasSubstr("not an ELF object"));
  EXPECT_THAT(read_native_code("MZ").status().message(), HasSubstr("not an ELF object"));
  NativeObjectFile program("1 ");
  program.put<std::uint16_t>(16, 2);
  EXPECT_THAT(program.problem(), HasSubstr("neither a shared object nor an object file"));
  EXPECT_THAT(NativeObjectFile("1 ", 40).problem(), HasSubstr("machine of ELF's number 40"));
}

// A library that others made has no note; one of another version has another.
TEST(NativeCode, RefusesForeignObjects) {
  NativeObjectFile foreign("1 avx2");
  foreign.put<std::uint32_t>(NativeObjectFile::kNote + 8, 7);
  EXPECT_THAT(foreign.problem(), HasSubstr("was not made by Texloom"));
  const Status newer = read_native_code(NativeObjectFile("2 avx2").bytes()).status();
  EXPECT_EQ(newer.code(), StatusCode::Unimplemented);
  EXPECT_THAT(newer.message(), HasSubstr("compile it again with this version"));
  EXPECT_THAT(NativeObjectFile("1 sse9").problem(), HasSubstr("damaged: its note"));
}

// The system's loader would run the code, load the library or write to code.
TEST(NativeCode, RefusesWhatDoesMoreThanDefineKernels) {
  for (const std::int64_t tag : {1, 12, 13, 15, 22, 25, 26, 29, 32}) {
    NativeObjectFile object("1 ");
    EXPECT_EQ(object.problem(), "");
    object.dynamic(tag, 1);
    EXPECT_NE(object.problem(), "") << tag;
  }
  NativeObjectFile writable("1 ");
  writable.put<std::uint32_t>(64 + 4, 7);
  EXPECT_THAT(writable.problem(), HasSubstr("writable where it is executable"));
}

// Whatever one byte says, and wherever the file ends, nothing beyond it is read.
TEST(NativeCode, SurvivesDamage) {
  const std::string whole = NativeObjectFile("1 avx2,fma").bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(read_native_code(std::string(whole, 0, i)).ok()) << i;
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = value;
      const auto code = read_native_code(changed);
      EXPECT_TRUE(code.ok() || !code.status().message().empty());
    }
  }
}

TEST(NativeCode, NamesWhatThisProcessorLacks) {
  NativeCode code;
  code.architecture = processor_architecture();
  for (const std::string_view feature : processor_features()) code.features.emplace_back(feature);
  EXPECT_EQ(missing_for(code), "");
  code.features = {"one", "two"};
  EXPECT_EQ(missing_for(code), "the features one, two of the processor");
  code.architecture = "alpha";
  EXPECT_THAT(missing_for(code), HasSubstr("a processor of alpha (this one is of"));
}

// The note's features are names of the table, for each architecture.
TEST(NativeCode, KnowsFeaturesOfBothArchitectures) {
  EXPECT_TRUE(read_native_code(NativeObjectFile("1 dotprod,i8mm", kAarch64).bytes()).ok());
  EXPECT_FALSE(read_native_code(NativeObjectFile("1 dotprod").bytes()).ok());
  for (const std::string_view feature : processor_features()) {
    const auto known = known_processor_features(processor_architecture());
    EXPECT_NE(std::ranges::find(known, feature), known.end()) << feature;
  }
}

}  // namespace
}  // namespace texloom
