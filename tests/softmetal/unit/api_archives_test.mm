// Tests binary archives: saved compilations, missing functions, and refused files.
#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/fields.h"
#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/scratch_folder.h"
#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

constexpr const char* kSource =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "#ifndef ADD\n#define ADD 5\n#endif\n"
    "constant int a [[function_constant(0)]];\n"
    "kernel void add(device int* x [[buffer(0)]]) { x[0] += ADD; }\n"
    "kernel void twice(device int* x [[buffer(0)]]) { x[0] *= 2; }\n"
    "kernel void constants(device int* x [[buffer(0)]]) { x[0] += a; }\n"
    "kernel void large(device int* x [[buffer(0)]]) {\n"
    "  threadgroup int memory[10000];\n  memory[0] = x[0];\n  x[0] = memory[0];\n}\n";

// Each test begins with an empty cache of compiled code.
class ArchiveTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    set_cache_folder(folder.path() + "/cache");
  }
  void TearDown() override {
    set_cache_folder("");
    ApiTest::TearDown();
  }

  std::string path() const { return folder.path() + "/archive"; }
  NSURL* url() const {
    return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path().c_str()]];
  }
  // Simulates another process, with an empty cache.
  void forget_code() { set_cache_folder(folder.path() + "/cache" + std::to_string(++caches)); }

  id<MTLLibrary> library_of(id<MTLDevice> of, int add = 5) {
    MTLCompileOptions* const options = [[MTLCompileOptions new] autorelease];
    options.preprocessorMacros = @{@"ADD" : @(add)};
    return [[of newLibraryWithSource:[NSString stringWithUTF8String:kSource]
                             options:options
                               error:&error] autorelease];
  }
  id<MTLFunction> function(NSString* name) {
    return [[library_of(device) newFunctionWithName:name] autorelease];
  }
  id<MTLFunction> function_with(int value) {
    MTLFunctionConstantValues* const values = [[MTLFunctionConstantValues new] autorelease];
    [values setConstantValue:&value type:MTLDataTypeInt atIndex:0];
    return [[library_of(device) newFunctionWithName:@"constants" constantValues:values
                                              error:&error] autorelease];
  }
  static MTLComputePipelineDescriptor* pipeline_of(id<MTLFunction> function,
                                                   id<MTLBinaryArchive> archive = nil) {
    MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
    d.computeFunction = function;
    if (archive != nil) d.binaryArchives = @[ archive ];
    return d;
  }
  id<MTLBinaryArchive> archive_of(id<MTLDevice> of, NSURL* from = nil) {
    MTLBinaryArchiveDescriptor* const d = [[MTLBinaryArchiveDescriptor new] autorelease];
    d.url = from;
    return [[of newBinaryArchiveWithDescriptor:d error:&error] autorelease];
  }
  // Stores an archive of the functions in a file.
  void store(NSArray<id<MTLFunction>>* functions) {
    id<MTLBinaryArchive> archive = archive_of(device);
    for (id<MTLFunction> each in functions) {
      EXPECT_TRUE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(each)
                                                               error:&error]);
    }
    EXPECT_TRUE([archive serializeToURL:url() error:&error]) << text_of_error();
  }
  // Returns the pipeline of a function from the archive, or nil if the archive lacks it.
  id<MTLComputePipelineState> found(id<MTLFunction> function, id<MTLBinaryArchive> archive) {
    return [[device newComputePipelineStateWithDescriptor:pipeline_of(function, archive)
                                                  options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                               reflection:nullptr
                                                    error:&error] autorelease];
  }
  std::string text_of_error() const {
    return error == nil ? "" : [[error localizedDescription] UTF8String];
  }
  void expect_error(NSUInteger code, const char* text) {
    ASSERT_NE(error, nil);
    EXPECT_TRUE([error.domain isEqual:MTLBinaryArchiveDomain]);
    EXPECT_EQ(static_cast<NSUInteger>(error.code), code);
    EXPECT_THAT(text_of_error(), testing::HasSubstr(text));
    error = nil;
  }

  ScratchFolder folder;
  int caches = 0;
  NSError* error = nil;
};

TEST_F(ArchiveTest, WhatIsThereNeedsNoCompiler) {
  store(@[ function(@"add") ]);
  forget_code();
  id<MTLBinaryArchive> archive = archive_of(device, url());
  ASSERT_NE(archive, nil) << text_of_error();
  id<MTLFunction> add = function(@"add");
  const uint64_t before = processes_run();
  id<MTLComputePipelineState> pipeline = found(add, archive);
  ASSERT_NE(pipeline, nil) << text_of_error();
  EXPECT_EQ(processes_run(), before);
  EXPECT_EQ(result_of(pipeline), 12);
  // Without the archive, the function is compiled.
  pipeline = [[device newComputePipelineStateWithFunction:add error:&error] autorelease];
  EXPECT_EQ(processes_run(), before + 1);
  EXPECT_EQ(result_of(pipeline), 12);
}

TEST_F(ArchiveTest, HasWhatWasAddedAlone) {
  store(@[ function(@"add"), function_with(3) ]);
  id<MTLBinaryArchive> archive = archive_of(device, url());
  EXPECT_EQ(result_of(found(function_with(3), archive)), 10);
  id<MTLFunction> others[] = {function(@"twice"), function_with(4),
                              [[library_of(device, 6) newFunctionWithName:@"add"] autorelease]};
  const int results[] = {14, 11, 13};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(found(others[i], archive), nil) << i;
    EXPECT_THAT(text_of_error(), testing::HasSubstr("is in none of the binary archives"));
    id<MTLComputePipelineState> compiled =
        [[device newComputePipelineStateWithDescriptor:pipeline_of(others[i], archive)
                                               options:MTLPipelineOptionNone
                                            reflection:nullptr
                                                 error:&error] autorelease];
    EXPECT_EQ(result_of(compiled), results[i]);
  }
  EXPECT_EQ(found(function(@"add"), nil), nil) << "no archive has it";
}

TEST_F(ArchiveTest, IsReadAndWrittenAgain) {
  store(@[ function(@"add") ]);
  id<MTLBinaryArchive> archive = archive_of(device, url());
  for (id<MTLFunction> each in @[ function(@"twice"), function_with(1) ])
    EXPECT_TRUE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(each) error:&error]);
  EXPECT_TRUE([archive serializeToURL:url() error:&error]);
  archive = archive_of(device, url());
  EXPECT_EQ(result_of(found(function(@"add"), archive)), 12);
  EXPECT_EQ(result_of(found(function(@"twice"), archive)), 14);
  EXPECT_EQ(result_of(found(function_with(1), archive)), 8);
}

TEST_F(ArchiveTest, RefusesWhatIsNoArchiveOfTheDevice) {
  EXPECT_EQ(archive_of(device, url()), nil);
  expect_error(MTLBinaryArchiveErrorInvalidFile, "there is no file to read");
  store(@[ function(@"add") ]);
  EXPECT_EQ(archive_of(discrete, url()), nil);
  expect_error(MTLBinaryArchiveErrorInvalidFile,
               "of another device, \"Software Metal (for tests)\"");
  const std::string whole = *read_file(path());
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  for (const std::string& bytes :
       {damaged, whole.substr(0, whole.size() - 1), whole + "x", std::string("a text"),
        std::string(), write_fields("softmetal archive 1", {"Software Metal (for tests)"})}) {
    write_file(path(), bytes);
    EXPECT_EQ(archive_of(device, url()), nil);
    expect_error(MTLBinaryArchiveErrorInvalidFile, "not a binary archive");
  }
  write_file(path(), write_fields("softmetal archive 1", {"Software Metal (for tests)", "older"}));
  EXPECT_EQ(archive_of(device, url()), nil);
  expect_error(MTLBinaryArchiveErrorInvalidFile, "of another compiler");
}

TEST_F(ArchiveTest, TellsWhatCannotBeStored) {
  id<MTLBinaryArchive> archive = archive_of(device);
  EXPECT_FALSE([archive serializeToURL:url() error:&error]);
  expect_error(MTLBinaryArchiveErrorInvalidFile, "is empty");
  EXPECT_FALSE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(function(@"large"))
                                                            error:&error]);
  expect_error(MTLBinaryArchiveErrorCompilationFailure, "40000 bytes of threadgroup memory");
  EXPECT_TRUE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(function(@"add"))
                                                           error:&error]);
  NSURL* const nowhere = [NSURL fileURLWithPath:@"/no folder/archive"];
  EXPECT_FALSE([archive serializeToURL:nowhere error:&error]);
  expect_error(MTLBinaryArchiveErrorInvalidFile, "cannot write");
}

TEST_F(ArchiveTest, MisusesAreReported) {
  id<MTLBinaryArchive> archive = archive_of(device);
  id<MTLFunction> foreign = [[library_of(discrete) newFunctionWithName:@"add"] autorelease];
  NSURL* const remote = [NSURL URLWithString:@"https://example.org/archive"];
  EXPECT_FALSE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(nil) error:&error]);
  expect_said("addComputePipelineFunctions: the function must not be nil");
  EXPECT_FALSE([archive addComputePipelineFunctionsWithDescriptor:pipeline_of(foreign)
                                                            error:&error]);
  expect_said("addComputePipelineFunctions: the function belongs to another device");
  EXPECT_FALSE([archive serializeToURL:remote error:&error]);
  expect_said("serializeToURL: the URL must be that of a file");
  EXPECT_EQ(archive_of(device, remote), nil);
  expect_said("newBinaryArchiveWithDescriptor: the URL must be that of a file");
  MTLBinaryArchiveDescriptor* none = nil;
  EXPECT_EQ([device newBinaryArchiveWithDescriptor:none error:&error], nil);
  expect_said("newBinaryArchiveWithDescriptor: the descriptor must not be nil");
  EXPECT_EQ(found(function(@"add"), archive_of(discrete)), nil);
  expect_said("newComputePipelineState: the binary archive belongs to another device");
}

TEST_F(ArchiveTest, CallsFailOnPurpose) {
  id<MTLBinaryArchive> archive = archive_of(device);
  MTLComputePipelineDescriptor* const add = pipeline_of(function(@"add"));
  fail_call(1);
  EXPECT_EQ(archive_of(device), nil);
  expect_error(MTLBinaryArchiveErrorInternalError, kFaultText);
  fail_call(1);
  EXPECT_FALSE([archive addComputePipelineFunctionsWithDescriptor:add error:&error]);
  expect_error(MTLBinaryArchiveErrorCompilationFailure, kFaultText);
  EXPECT_TRUE([archive addComputePipelineFunctionsWithDescriptor:add error:&error]);
  fail_call(1);
  EXPECT_FALSE([archive serializeToURL:url() error:&error]);
  expect_error(MTLBinaryArchiveErrorInternalError, kFaultText);
  fail_call(0);
  EXPECT_TRUE([archive serializeToURL:url() error:&error]);
}

}  // namespace
}  // namespace softmetal
