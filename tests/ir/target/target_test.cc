#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/target/presets.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

Target parse(std::string_view text) { return parse_target(text, {}); }

Diagnostic error_of(std::string_view text) {
  try {
    parse_target(text, SourceLocation::make("a.py", 6));
  } catch (const UserError& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << "'" << text << "' was accepted";
  return {};
}

const std::string kPresets =
    "use one of opencl, opencl -device=adreno, opencl -device=mali, opencl "
    "-device=intel_graphics, opencl -device=nvidia, opencl -device=pocl, metal, metal -device=a13, "
    "metal -device=m1, metal -device=m2, metal -device=m3, metal -device=m4, "
    "metal -device=mac-intel, llvm, generic, native, haswell, skylake-avx512, znver4, cortex-a55, "
    "cortex-a76, apple-m1";
const std::string kAttributes =
    "write one as -max_num_threads=256; Target(\"opencl\").attrs has them all with their values";

TEST(Target, Presets) {
  struct Row {
    std::string text, device;
    int64_t threads, threads_z, image, local;
  };
  const std::vector<Row> rows = {
      {"opencl", "", 1024, 64, 8192, 32768},
      {"opencl -device=adreno", "adreno", 1024, 1024, 16384, 32768},
      {"opencl -device=mali", "mali", 256, 256, 8192, 32768},
      {"opencl -device=intel_graphics", "intel_graphics", 256, 256, 16384, 65536},
      {"opencl -device=nvidia", "nvidia", 1024, 64, 16384, 49152},
      {"opencl -device=pocl", "pocl", 1024, 1024, 8192, 32768},
  };
  std::vector<std::string> texts;
  for (const Row& row : rows) {
    texts.push_back(row.text);
    const Target target = parse(row.text);
    EXPECT_EQ(target.kind, TargetKind::OpenCL);
    EXPECT_EQ(target.device, row.device);
    EXPECT_EQ(target.limits.max_threads, row.threads) << row.text;
    EXPECT_EQ(target.limits.max_threads_z, row.threads_z) << row.text;
    EXPECT_EQ(target.limits.private_memory_bytes, 262144) << row.text;
    EXPECT_EQ(target.limits.max_image_size, row.image) << row.text;
    EXPECT_EQ(target.limits.local_memory_bytes, row.local) << row.text;
    EXPECT_EQ(target.limits.max_image_reads, 128) << row.text;
    EXPECT_EQ(target.limits.max_image_writes, 8) << row.text;
    EXPECT_TRUE(target.math.contract) << row.text;
    EXPECT_EQ(target.images().max_width, row.image);
    EXPECT_EQ(target.images().max_height, row.image);
    EXPECT_EQ(to_string(target), row.text);
  }
  std::vector<std::string> presets = target_presets();
  std::erase_if(presets, [](const std::string& text) { return !text.starts_with("opencl"); });
  EXPECT_EQ(presets, texts);
  EXPECT_EQ(parse("opencl"), Target());
}

// All Metal presets share some properties, and differ in others.
TEST(Target, MetalPresets) {
  struct Row {
    std::string text, device;
    LanguageVersion language;
    int64_t textures, simd_width;
    bool argument_buffers;
  };
  const std::vector<Row> rows = {
      {"metal", "", {2, 3}, 96, 1, false},
      {"metal -device=a13", "a13", {2, 3}, 128, 32, true},
      {"metal -device=m1", "m1", {2, 3}, 128, 32, true},
      {"metal -device=m2", "m2", {2, 4}, 128, 32, true},
      {"metal -device=m3", "m3", {3, 1}, 128, 32, true},
      {"metal -device=m4", "m4", {3, 1}, 128, 32, true},
      {"metal -device=mac-intel", "mac-intel", {2, 3}, 128, 1, false},
  };
  std::vector<std::string> texts;
  for (const Row& row : rows) {
    texts.push_back(row.text);
    const Target target = parse(row.text);
    EXPECT_EQ(target.kind, TargetKind::Metal);
    EXPECT_EQ(target.device, row.device);
    EXPECT_EQ(target.language, row.language) << row.text;
    EXPECT_EQ(target.limits.max_threads, 1024) << row.text;
    EXPECT_EQ(target.limits.max_threads_z, 1024) << row.text;
    EXPECT_EQ(target.limits.max_image_size, 16384) << row.text;
    EXPECT_EQ(target.limits.local_memory_bytes, 32768) << row.text;
    EXPECT_EQ(target.limits.max_parameter_bytes, 4096) << row.text;
    EXPECT_EQ(target.limits.slots->buffers, 31) << row.text;
    EXPECT_EQ(target.limits.slots->textures, row.textures) << row.text;
    EXPECT_EQ(target.limits.max_image_reads, row.textures) << row.text;
    EXPECT_EQ(target.limits.max_image_writes, row.textures) << row.text;
    EXPECT_EQ(target.limits.simd_width, row.simd_width) << row.text;
    EXPECT_EQ(target.features.argument_buffers, row.argument_buffers) << row.text;
    EXPECT_FALSE(target.features.float64) << row.text;
    EXPECT_TRUE(target.features.float16_arithmetic) << row.text;
    EXPECT_TRUE(target.quirks.conditional_barriers) << row.text;
    EXPECT_EQ(to_string(target), row.text);
  }
  std::vector<std::string> presets = target_presets();
  std::erase_if(presets, [](const std::string& text) { return !text.starts_with("metal"); });
  EXPECT_EQ(presets, texts);
}

// Metal targets have attributes of their own, and accept some attributes of all targets.
TEST(Target, AttributesOfMetal) {
  EXPECT_EQ(parse("metal -msl=3.2").language, (LanguageVersion{3, 2}));
  EXPECT_EQ(parse("metal -msl=3.2 -device=m3").language, (LanguageVersion{3, 2}));
  EXPECT_EQ(parse("metal -max_buffers=7").limits.slots->buffers, 7);
  EXPECT_EQ(parse("metal -max_textures=31").limits.slots->textures, 31);
  EXPECT_EQ(parse("metal -simd_width=8").limits.simd_width, 8);
  EXPECT_EQ(to_string(parse("metal -contract=0 -simd_width=8 -msl=2.4 -max_textures=31")),
            "metal -msl=2.4 -max_textures=31 -simd_width=8 -contract=0");
  EXPECT_EQ(to_string(parse("metal -device=m3 -msl=3.1")), "metal -device=m3");
  EXPECT_EQ(parse("metal -float64=0"), parse("metal"));
  EXPECT_TRUE(parse("metal -argument_buffers=1").features.argument_buffers);
  EXPECT_EQ(attributes(parse("metal")).size(), 21U);
  EXPECT_EQ(attributes(parse("metal"))[0],
            std::pair(std::string_view("msl"), AttributeValue("2.3")));
}

// The name of a processor stands for a target, also as a preset of the kind.
TEST(Target, Processors) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"generic", "llvm"},
      {"native", "llvm -mcpu=native"},
      {"haswell", "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"},
      {"skylake-avx512", "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"},
      {"znver4", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"},
      {"cortex-a55", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a55"},
      {"cortex-a76", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"},
      {"apple-m1", "llvm -mtriple=aarch64-linux-gnu -mcpu=apple-m1"},
  };
  EXPECT_EQ(processors().size(), std::size(rows));
  for (const auto& [name, text] : rows) {
    EXPECT_EQ(to_string(parse(name)), text);
    EXPECT_EQ(parse("llvm -device=" + std::string(name)), parse(text));
  }
  EXPECT_EQ(to_string(parse("haswell -mattr=-fma -contract=0")),
            "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=-fma -contract=0");
  EXPECT_EQ(error_of("pentium").message, "no kernels are made for the target 'pentium'");
  EXPECT_EQ(error_of("llvm -device=pentium").message, "unknown LLVM device preset 'pentium'");
}

TEST(Target, Attributes) {
  EXPECT_EQ(parse("opencl -max_num_threads=512").limits.max_threads, 512);
  EXPECT_EQ(parse("opencl -texture_spatial_limit=1").limits.max_image_size, 1);
  EXPECT_EQ(parse("opencl -max_local_memory=49152").limits.local_memory_bytes, 49152);
  EXPECT_EQ(parse("opencl -max_num_threads_z=16").limits.max_threads_z, 16);
  EXPECT_EQ(parse("opencl -max_private_memory=1024").limits.private_memory_bytes, 1024);
  EXPECT_EQ(parse("opencl -max_image_reads=16").limits.max_image_reads, 16);
  EXPECT_EQ(parse("opencl -max_image_writes=4").limits.max_image_writes, 4);
  EXPECT_FALSE(parse("opencl -contract=0").math.contract);
  EXPECT_TRUE(parse("opencl -contract=0 -contract=1").math.contract);
  EXPECT_FALSE(parse("opencl").math.fast);
  EXPECT_TRUE(parse("metal -fast_math=1").math.fast);
  EXPECT_EQ(to_string(parse("llvm -fast_math=1")), "llvm -fast_math=1");
  EXPECT_EQ(to_string(parse("llvm -fast_math=0")), "llvm");
  EXPECT_EQ(parse("opencl -profile=phone.json").profile, "phone.json");
  EXPECT_EQ(to_string(parse("metal -profile=a -profile=b")), "metal -profile=b");
  EXPECT_EQ(to_string(parse("opencl -profile=a -profile=")), "opencl");
  EXPECT_EQ(error_of("llvm -profile=a").message, "unknown target attribute '-profile=a'");
  EXPECT_EQ(parse("opencl -max_num_threads=1 -max_num_threads=2").limits.max_threads, 2);
}

TEST(Target, AttributesByName) {
  const auto values = attributes(parse("opencl -max_private_memory=77 -float64=0"));
  EXPECT_EQ(values.size(), 21U);
  const auto named = [](std::string_view name, AttributeValue value) {
    return std::pair(name, std::move(value));
  };
  EXPECT_EQ(values[0], named("max_num_threads", int64_t{1024}));
  EXPECT_EQ(values[4], named("max_private_memory", int64_t{77}));
  EXPECT_EQ(values[9], named("float64", false));
  EXPECT_EQ(values[11], named("matrix_unit", "none"));
  EXPECT_EQ(values[12], named("device_fence", false));
  EXPECT_EQ(values[13], named("device_class", "cpu"));
  EXPECT_EQ(values[14], named("vector_registers", "unknown"));
}

// An attribute overrides the preset in any order.
TEST(Target, AttributesOverrideThePreset) {
  const Target expected = parse("opencl -device=mali -max_num_threads=64");
  EXPECT_EQ(expected.limits.max_threads, 64);
  EXPECT_EQ(expected.device, "mali");
  EXPECT_EQ(parse("opencl -max_num_threads=64 -device=mali"), expected);
  EXPECT_EQ(parse("  opencl\t-device=mali   -max_num_threads=64 "), expected);
  EXPECT_EQ(parse("opencl -device=nvidia -device=mali -max_num_threads=64"), expected);
}

TEST(Target, RoundTrip) {
  EXPECT_EQ(to_string(parse("opencl -contract=0 -max_image_writes=4 -max_image_reads=16 "
                            "-max_local_memory=1 -texture_spatial_limit=2 -max_num_threads=3 "
                            "-device=nvidia")),
            "opencl -device=nvidia -max_num_threads=3 -texture_spatial_limit=2 "
            "-max_local_memory=1 -max_image_reads=16 -max_image_writes=4 -contract=0");
  // Attributes that equal the preset's are omitted.
  EXPECT_EQ(to_string(parse("opencl -device=mali -max_num_threads=256")), "opencl -device=mali");
  for (const char* text :
       {"opencl -max_num_threads=1023", "opencl -device=adreno -texture_spatial_limit=8192",
        "opencl -device=pocl -contract=0", "opencl -max_image_reads=127"}) {
    EXPECT_EQ(to_string(parse(text)), text);
    EXPECT_EQ(parse(to_string(parse(text))), parse(text));
  }
}

TEST(Target, FeaturesAreTurnedOff) {
  EXPECT_FALSE(parse("opencl -images=0").features.images);
  EXPECT_FALSE(parse("opencl -float64=0").features.float64);
  EXPECT_EQ(parse("opencl -images=1"), Target());
  EXPECT_EQ(to_string(parse("opencl -contract=0 -float64=0 -images=0")),
            "opencl -images=0 -float64=0 -contract=0");
  EXPECT_FALSE(parse("opencl -device=adreno").features.float16_arithmetic);
  EXPECT_TRUE(parse("opencl -float16_arithmetic=1").features.float16_arithmetic);
}

TEST(Target, CheckedKernelsAreAskedFor) {
  EXPECT_FALSE(parse("opencl").checked);
  EXPECT_TRUE(parse("opencl -checked=1").checked);
  EXPECT_EQ(to_string(parse("opencl -checked=1")), "opencl -checked=1");
}

// If the text states no class, the preset's class applies.
TEST(Target, DeviceClasses) {
  using enum DeviceClass;
  EXPECT_EQ(parse("opencl").device_class, Cpu);
  EXPECT_EQ(parse("opencl -device=pocl").device_class, Cpu);
  EXPECT_EQ(parse("opencl -device=adreno").device_class, Gpu);
  EXPECT_EQ(parse("metal").device_class, Gpu);
  EXPECT_EQ(to_string(parse("opencl -device_class=cpu -device=adreno")),
            "opencl -device=adreno -device_class=cpu");
  EXPECT_EQ(to_string(parse("opencl -device=pocl -device_class=cpu")), "opencl -device=pocl");
}

TEST(Target, VectorRegistersAreThoseOfProcessors) {
  const Target target = parse("opencl -device=pocl -vector_registers=32x64");
  EXPECT_EQ(target.vectors, (VectorRegisters{.count = 32, .bytes = 64}));
  EXPECT_TRUE(target.has_known_vectors());
  EXPECT_EQ(parse("opencl -device=pocl -vector_registers=unknown"), parse("opencl -device=pocl"));
  EXPECT_FALSE(parse("opencl -device=pocl").has_known_vectors());
  EXPECT_FALSE(parse("opencl -device=adreno -vector_registers=32x64").has_known_vectors());
  EXPECT_TRUE(parse("llvm").has_known_vectors());
}

// A device's name selects the preset of its family; "" stands for a target without a preset.
TEST(Target, RecognizedByTheNamesOfADevice) {
  const auto device_of = [](TargetKind kind, DeviceClass device_class, std::string_view name) {
    return recognized_target(kind, device_class, {&name, 1}).device;
  };
  EXPECT_EQ(device_of(TargetKind::OpenCL, DeviceClass::Gpu, "QUALCOMM Adreno(TM)"), "adreno");
  EXPECT_EQ(device_of(TargetKind::OpenCL, DeviceClass::Cpu, "QUALCOMM Adreno(TM)"), "");
  EXPECT_EQ(device_of(TargetKind::Metal, DeviceClass::Gpu, "Apple"), "m1");
  EXPECT_EQ(device_of(TargetKind::Metal, DeviceClass::Gpu, "AMD"), "mac-intel");
  EXPECT_EQ(recognized_target(TargetKind::Metal, DeviceClass::Gpu, {}).device, "");
}

// The target string may enable a quirk that a preset disables.
TEST(Target, Quirks) {
  EXPECT_FALSE(parse("opencl").quirks.vector_trigonometry);
  EXPECT_TRUE(parse("opencl -device=adreno").quirks.vector_trigonometry);
  EXPECT_FALSE(parse("opencl").quirks.conditional_barriers);
  EXPECT_TRUE(parse("opencl -device=adreno").quirks.conditional_barriers);
  EXPECT_TRUE(parse("opencl -device=pocl -conditional_barriers=1").quirks.conditional_barriers);
}

TEST(Target, EveryTargetComesBackFromItsText) {
  std::mt19937_64 engine(7);
  const auto from = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  const std::vector<std::string> presets = target_presets();
  for (int i = 0; i < 2'000; ++i) {
    Target t = parse(presets[static_cast<size_t>(from(0, std::ssize(presets) - 1))]);
    for (int64_t* limit : {&t.limits.max_threads, &t.limits.max_threads_z, &t.limits.max_image_size,
                           &t.limits.local_memory_bytes, &t.limits.private_memory_bytes,
                           &t.limits.max_image_reads, &t.limits.max_image_writes}) {
      if (from(0, 2) == 0) *limit = from(1, from(0, 1) == 0 ? 100'000 : INT64_MAX);
    }
    for (bool* flag : {&t.features.images, &t.quirks.conditional_barriers, &t.math.contract,
                       &t.math.fast, &t.checked})
      *flag = from(0, 1) == 0;
    if (t.kind == TargetKind::OpenCL) {
      for (bool* flag : {&t.features.float64, &t.quirks.vector_trigonometry})
        *flag = from(0, 1) == 0;
      t.device_class = from(0, 1) == 0 ? DeviceClass::Cpu : DeviceClass::Gpu;
      t.vectors = kVectorRegisters[static_cast<size_t>(from(0, std::ssize(kVectorRegisters) - 1))];
    } else if (t.kind == TargetKind::Llvm) {
      t.machine = {.triple = "aarch64-linux-gnu",
                   .cpu = from(0, 1) == 0 ? "native" : "",
                   .features = "+sve"};
    } else {
      t.limits.simd_width = from(1, 64);
      t.language = {3, static_cast<int>(from(0, 2))};
    }
    ASSERT_EQ(parse(to_string(t)), t) << to_string(t);
    ASSERT_EQ(to_string(parse(to_string(t))), to_string(t));
  }
}

TEST(Target, UnknownOnesAreRefusedWithHelp) {
  struct Row {
    std::string text, message, help;
  };
  const std::string flag = "write -contract=1 or -contract=0";
  const std::vector<Row> rows = {
      {"", "no kernels are made for the target ''", kPresets},
      {"vulkan", "no kernels are made for the target 'vulkan'", kPresets},
      {"OpenCL -device=mali", "no kernels are made for the target 'OpenCL -device=mali'",
       "write opencl"},
      {"haswel", "no kernels are made for the target 'haswel'", "write haswell"},
      {"cortex-a7", "no kernels are made for the target 'cortex-a7'", "write cortex-a76"},
      {"haswell -device=znver4", "the target 'haswell -device=znver4' names two processors",
       "leave one of the two out"},
      {"llvm -mcpu", "the target attribute 'mcpu' has no value", "write -mcpu=, and the value"},
      {"llvm -device=haswel", "unknown LLVM device preset 'haswel'", "write -device=haswell"},
      {"opencl -device=intel", "unknown OpenCL device preset 'intel'",
       "write -device=intel_graphics"},
      {"opencl -device=apple", "unknown OpenCL device preset 'apple'", kPresets},
      {"metal -device=adreno", "unknown Metal device preset 'adreno'", kPresets},
      {"metal -msl=2.2", "no kernels are made for version '2.2' of Metal's language",
       "use one of 2.3, 2.4, 3.0, 3.1, 3.2"},
      {"metal -msl", "no kernels are made for version '' of Metal's language",
       "use one of 2.3, 2.4, 3.0, 3.1, 3.2"},
      {"metal -float64=1", "Metal's language has no float64",
       "compute in float32: x.astype('float32'), or build for \"opencl\""},
      {"opencl -device_class=npu", "the target attribute 'device_class' is cpu or gpu, not 'npu'",
       "use one of cpu, gpu"},
      {"opencl -vector_registers=12x24",
       "no schedules are made for the vector registers '12x24', a number of them by their bytes",
       "use one of unknown, 16x16, 16x32, 32x16, 32x32, 32x64"},
      {"metal -device_class=cpu", "unknown target attribute '-device_class=cpu'",
       "write one as -max_num_threads=256; Target(\"metal\").attrs has them all with their values"},
      {"metal -max_buffers=32",
       "the target attribute 'max_buffers' is 32, but no device of Metal has more than 31",
       "write at most -max_buffers=31"},
      {"metal -simd_width=128",
       "the target attribute 'simd_width' is 128, but no device of Metal has more than 64",
       "write at most -simd_width=64"},
      {"metal:0 -max_buffers=1",
       "the target begins with 'metal:0', the name of a device, not with a kind",
       "write \"metal\" and attributes, as \"metal -max_num_threads=256\"; "
       "texloom.target.Target(\"metal:0\") takes the name of a device"},
      {"opencl -msl=2.3", "unknown target attribute '-msl=2.3'", kAttributes},
      {"opencl -simd_width=32", "unknown target attribute '-simd_width=32'", kAttributes},
      {"opencl -device=", "unknown OpenCL device preset ''", kPresets},
      {"opencl mali", "unexpected 'mali' in the target 'opencl mali'",
       "attributes begin with a hyphen, as -max_num_threads=256"},
      {"opencl -threads=4", "unknown target attribute '-threads=4'", kAttributes},
      {"opencl -", "unknown target attribute '-'", kAttributes},
      {"opencl -max_num_threadsX=4", "unknown target attribute '-max_num_threadsX=4'", kAttributes},
      {"opencl -contract=2", "the target attribute 'contract' is 0 or 1, not '2'", flag},
      {"opencl -contract", "the target attribute 'contract' is 0 or 1, not ''", flag},
      {"llvm -fast_math=2", "the target attribute 'fast_math' is 0 or 1, not '2'",
       "write -fast_math=1 or -fast_math=0"},
      {"opencl -contract=-1", "the target attribute 'contract' is 0 or 1, not '-1'", flag},
  };
  for (const auto& [text, message, help] : rows) {
    const Diagnostic d = error_of(text);
    EXPECT_EQ(d.code, Code::UnknownTarget) << text;
    EXPECT_EQ(d.message, message);
    EXPECT_EQ(d.help, help) << text;
    EXPECT_EQ(d.location.line, 6) << text;
  }
}

TEST(Target, AttributesArePositiveNumbers) {
  for (const char* value : {"0", "-1", "", "many", "4k", " ", "1.5", "99999999999999999999"}) {
    const std::string text = std::string("opencl -max_num_threads=") + value;
    const Diagnostic d = error_of(text);
    EXPECT_EQ(d.code, Code::UnknownTarget) << text;
    const std::string shown = value == std::string(" ") ? "" : value;
    EXPECT_EQ(d.message, "the target attribute 'max_num_threads' needs a positive number, not '" +
                             shown + "'");
    EXPECT_EQ(d.help, "give it a positive number");
    EXPECT_EQ(d.location.line, 6);
  }
  EXPECT_EQ(error_of("opencl -max_num_threads").message,
            "the target attribute 'max_num_threads' needs a positive number, not ''");
}

}  // namespace
}  // namespace texloom::ir
