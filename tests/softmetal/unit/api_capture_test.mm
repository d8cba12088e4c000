// Tests captures: when they are allowed, and which calls they list.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

class Captures : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    manager = [MTLCaptureManager sharedCaptureManager];
    folder = std::filesystem::temp_directory_path() / ("captures" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    setenv("METAL_CAPTURE_ENABLED", "1", 1);
  }
  void TearDown() override {
    unsetenv("METAL_CAPTURE_ENABLED");
    std::filesystem::remove_all(folder);
    ApiTest::TearDown();
  }
  MTLCaptureDescriptor* capture_of(id object, const std::string& name) {
    MTLCaptureDescriptor* const d = [[MTLCaptureDescriptor new] autorelease];
    d.captureObject = object;
    d.destination = MTLCaptureDestinationGPUTraceDocument;
    d.outputURL = [NSURL fileURLWithPath:[NSString stringWithUTF8String:(folder / name).c_str()]];
    return d;
  }
  // Returns the error's code, and puts its text into `told`; 0 if the capture began.
  NSInteger start(MTLCaptureDescriptor* d) {
    NSError* error = nil;
    if ([manager startCaptureWithDescriptor:d error:&error]) return 0;
    EXPECT_TRUE([[error domain] isEqualToString:MTLCaptureErrorDomain]);
    told = [[error localizedDescription] UTF8String];
    return [error code];
  }
  void work_on(id<MTLCommandQueue> on) {
    id<MTLCommandBuffer> commands = [on commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    id<MTLDevice> of = [on device];
    dispatch(encoder, pipeline_of(of, "kernel void one(device int* x [[buffer(0)]]) { x[0] = 1; }"),
             buffer_of(of, 4));
    [encoder endEncoding];
    run(commands);
  }
  std::string calls_in(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder / name / "calls.txt").rdbuf();
    return text.str();
  }

  MTLCaptureManager* manager = nil;
  std::filesystem::path folder;
  std::string told;
};

TEST_F(Captures, HaveTheCallsInOrder) {
  work_on(queue);
  ASSERT_EQ(start(capture_of(device, "a.gputrace")), 0) << told;
  EXPECT_TRUE([manager isCapturing]);
  work_on(queue);
  work_on([[discrete newCommandQueue] autorelease]);
  [manager stopCapture];
  EXPECT_FALSE([manager isCapturing]);
  work_on(queue);
  EXPECT_EQ(calls_in("a.gputrace"),
            "Calls that the software Metal has seen. Xcode does not open this list.\n\n"
            "the command buffer: computeCommandEncoder\n"
            "the compute encoder: setComputePipelineState\n"
            "the compute encoder: setBuffer\n"
            "the compute encoder: dispatchThreadgroups\n"
            "the compute encoder: the kernel is \"one\"\n"
            "the compute encoder: endEncoding\n"
            "the command buffer: commit\n"
            "the command buffer: enqueue\n");
}

// A capture lists the execution of indirect commands, not their kernels, which the run determines.
TEST_F(Captures, HaveExecutionsOfIndirectCommands) {
  MTLIndirectCommandBufferDescriptor* const d =
      [[MTLIndirectCommandBufferDescriptor new] autorelease];
  d.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  id<MTLIndirectCommandBuffer> indirect =
      [[device newIndirectCommandBufferWithDescriptor:d maxCommandCount:8 options:0] autorelease];
  indirect.label = @"all";
  ASSERT_EQ(start(capture_of(queue, "a.gputrace")), 0) << told;
  id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
  [encoder executeCommandsInBuffer:indirect withRange:NSMakeRange(2, 5)];
  [encoder endEncoding];
  [manager stopCapture];
  EXPECT_THAT(
      calls_in("a.gputrace"),
      testing::HasSubstr("the compute encoder: executeCommandsInBuffer\n"
                         "the compute encoder: 5 commands from 2 on of the indirect command "
                         "buffer \"all\" are executed\n"));
}

TEST_F(Captures, MayBeOfOneQueue) {
  ASSERT_EQ(start(capture_of(queue, "a.gputrace")), 0) << told;
  work_on([[device newCommandQueue] autorelease]);
  [manager stopCapture];
  EXPECT_EQ(calls_in("a.gputrace").find("kernel"), std::string::npos);
  ASSERT_EQ(start(capture_of(queue, "b.gputrace")), 0) << told;
  work_on(queue);
  [manager stopCapture];
  EXPECT_NE(calls_in("b.gputrace").find("kernel"), std::string::npos);
}

TEST_F(Captures, NeedTheEnvironment) {
  EXPECT_TRUE([manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]);
  EXPECT_FALSE([manager supportsDestination:MTLCaptureDestinationDeveloperTools]);
  unsetenv("METAL_CAPTURE_ENABLED");
  EXPECT_FALSE([manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]);
  EXPECT_EQ(start(capture_of(device, "a.gputrace")), MTLCaptureErrorNotSupported);
}

TEST_F(Captures, AreRefusedInWords) {
  EXPECT_EQ(start(capture_of(nil, "a.gputrace")), MTLCaptureErrorInvalidDescriptor);
  EXPECT_EQ(told, "the capture object must be a device or a command queue");
  EXPECT_EQ(start(capture_of(device, "a.trace")), MTLCaptureErrorInvalidDescriptor);
  EXPECT_EQ(told, "the output URL must end in .gputrace");
  EXPECT_EQ(start(capture_of(device, "none/a.gputrace")), MTLCaptureErrorInvalidDescriptor);
  EXPECT_EQ(told, "the output URL cannot be written: No such file or directory");
  MTLCaptureDescriptor* const nowhere = capture_of(device, "a.gputrace");
  nowhere.outputURL = nil;
  EXPECT_EQ(start(nowhere), MTLCaptureErrorInvalidDescriptor);
  EXPECT_EQ(told, "the descriptor has no output URL");
  fail_call(1);
  EXPECT_EQ(start(capture_of(device, "a.gputrace")), MTLCaptureErrorNotSupported);
  EXPECT_EQ(told, kFaultText);
  fail_call(0);
  ASSERT_EQ(start(capture_of(device, "a.gputrace")), 0) << told;
  EXPECT_EQ(start(capture_of(device, "b.gputrace")), MTLCaptureErrorAlreadyCapturing);
  [manager stopCapture];
  EXPECT_EQ(start(capture_of(device, "a.gputrace")), MTLCaptureErrorInvalidDescriptor);
  EXPECT_THAT(told, testing::HasSubstr("the output URL is there already"));
  [manager stopCapture];
  expect_said("stopCapture: there is no capture");
}

}  // namespace
}  // namespace softmetal
