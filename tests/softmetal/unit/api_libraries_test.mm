// Tests compiled libraries: saved compilations, and refused files.
#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/fields.h"
#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/metallib.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/scratch_folder.h"
#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

constexpr const char* kSource =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant int a [[function_constant(0)]];\n"
    "kernel void add(device int* x [[buffer(0)]]) { x[0] += 5; }\n"
    "kernel void constants(device int* x [[buffer(0)]]) { x[0] += a; }\n"
    "#ifdef __FAST_MATH__\nkernel void fast() {}\n#endif\n";

class LibraryTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    set_cache_folder(folder.path() + "/cache");
    CompileOptions options;
    options.math_mode = MathMode::Fast;
    bytes = write_metallib({kSource, options, compile_source(kSource, options)});
    set_cache_folder(folder.path() + "/empty");
  }
  void TearDown() override {
    set_cache_folder("");
    ApiTest::TearDown();
  }

  id<MTLLibrary> library_of(const std::string& content) {
    const dispatch_data_t data = dispatch_data_create(content.data(), content.size(), nullptr,
                                                      DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    id<MTLLibrary> library = [[device newLibraryWithData:data error:&error] autorelease];
    dispatch_release(data);
    return library;
  }
  NSURL* url_of(const char* name) const {
    const std::string path = folder.path() + "/" + name;
    return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()]];
  }
  id<MTLComputePipelineState> pipeline_of(id<MTLFunction> function) {
    return [[device newComputePipelineStateWithFunction:function error:&error] autorelease];
  }
  void expect_error(NSUInteger code, const char* text) {
    ASSERT_NE(error, nil);
    EXPECT_TRUE([error.domain isEqual:MTLLibraryErrorDomain]);
    EXPECT_EQ(static_cast<NSUInteger>(error.code), code);
    EXPECT_THAT([[error localizedDescription] UTF8String], testing::HasSubstr(text));
    error = nil;
  }

  ScratchFolder folder;
  std::string bytes;  // of the library of kSource
  NSError* error = nil;
};

TEST_F(LibraryTest, IsTheOneThatWasCompiled) {
  const uint64_t before = processes_run();
  id<MTLLibrary> library = library_of(bytes);
  ASSERT_NE(library, nil);
  EXPECT_TRUE([library.functionNames isEqual:(@[ @"add", @"constants", @"fast" ])]);
  id<MTLFunction> add = [[library newFunctionWithName:@"add"] autorelease];
  EXPECT_EQ(processes_run(), before);
  EXPECT_EQ(result_of(pipeline_of(add)), 12);
  EXPECT_EQ(processes_run(), before + 1) << "the code for the pipeline";
}

TEST_F(LibraryTest, IsSpecialized) {
  MTLFunctionConstantValues* const values = [[MTLFunctionConstantValues new] autorelease];
  const int value = 3;
  [values setConstantValue:&value type:MTLDataTypeInt atIndex:0];
  id<MTLFunction> function = [[library_of(bytes) newFunctionWithName:@"constants"
                                                      constantValues:values
                                                               error:&error] autorelease];
  ASSERT_NE(function, nil) << [[error localizedDescription] UTF8String];
  EXPECT_EQ(result_of(pipeline_of(function)), 10);
}

TEST_F(LibraryTest, NeedsNoCompilerBesideAnArchive) {
  MTLComputePipelineDescriptor* const add = [[MTLComputePipelineDescriptor new] autorelease];
  add.computeFunction = [[library_of(bytes) newFunctionWithName:@"add"] autorelease];
  MTLBinaryArchiveDescriptor* const d = [[MTLBinaryArchiveDescriptor new] autorelease];
  id<MTLBinaryArchive> archive = [[device newBinaryArchiveWithDescriptor:d
                                                                   error:&error] autorelease];
  EXPECT_TRUE([archive addComputePipelineFunctionsWithDescriptor:add error:&error]);
  const uint64_t before = processes_run();
  add.computeFunction = [[library_of(bytes) newFunctionWithName:@"add"] autorelease];
  add.binaryArchives = @[ archive ];
  EXPECT_NE([[device newComputePipelineStateWithDescriptor:add
                                                   options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                                reflection:nullptr
                                                     error:&error] autorelease],
            nil);
  EXPECT_EQ(processes_run(), before);
}

TEST_F(LibraryTest, IsReadFromAFile) {
  write_file(folder.path() + "/k.metallib", bytes);
  id<MTLLibrary> library = [[device newLibraryWithURL:url_of("k.metallib")
                                                error:&error] autorelease];
  EXPECT_EQ([library.functionNames count], 3U);
  EXPECT_EQ([device newLibraryWithURL:url_of("none") error:&error], nil);
  expect_error(MTLLibraryErrorFileNotFound, "cannot read");
}

TEST_F(LibraryTest, RefusesWhatIsNoLibrary) {
  EXPECT_EQ(library_of("MTLB\x01\x80\x02"), nil);
  expect_error(MTLLibraryErrorUnsupported, "one of Apple's");
  std::string damaged = bytes;
  damaged[bytes.size() / 2] ^= 1;
  for (const std::string& content :
       {damaged, bytes.substr(0, bytes.size() - 1), bytes + "x", std::string("a text"),
        std::string(), write_fields("softmetal archive 1", {"x", "y"})}) {
    EXPECT_EQ(library_of(content), nil);
    expect_error(MTLLibraryErrorUnsupported, "not a compiled library");
  }
  EXPECT_EQ(library_of(write_fields("softmetal library 2", std::vector<std::string>(9))), nil);
  expect_error(MTLLibraryErrorUnsupported, "of another compiler");
}

TEST_F(LibraryTest, OfANewerSystemIsLoadedButMakesNoPipeline) {
  const CompiledLibrary newer{kSource, {}, compile_source(kSource, {}), kSystem + 1};
  id<MTLLibrary> library = library_of(write_metallib(newer));
  EXPECT_EQ([library.functionNames count], 2U);
  id<MTLFunction> add = [[library newFunctionWithName:@"add"] autorelease];
  ASSERT_NE(add, nil);
  EXPECT_EQ([device newComputePipelineStateWithFunction:add error:&error], nil);
  expect_error(MTLLibraryErrorInternal, "incompatible with this system");
}

TEST_F(LibraryTest, MisusesAreReportedAndCallsFailOnPurpose) {
  dispatch_data_t none = nullptr;
  EXPECT_EQ([device newLibraryWithData:none error:&error], nil);
  expect_said("newLibraryWithData: the data must not be nil");
  EXPECT_EQ([device newLibraryWithURL:[NSURL URLWithString:@"https://example.org/k"] error:&error],
            nil);
  expect_said("newLibraryWithURL: the URL must be that of a file");
  fail_call(1);
  EXPECT_EQ(library_of(bytes), nil);
  expect_error(MTLLibraryErrorInternal, kFaultText);
  write_file(folder.path() + "/k.metallib", bytes);
  fail_call(1);
  EXPECT_EQ([device newLibraryWithURL:url_of("k.metallib") error:&error], nil);
  expect_error(MTLLibraryErrorInternal, kFaultText);
  fail_call(0);
}

}  // namespace
}  // namespace softmetal
