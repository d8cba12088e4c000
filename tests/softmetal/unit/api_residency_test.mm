// Tests that exactly the committed members of residency sets are resident.
#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

class Residency : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    from = buffer(4), to = buffer(4), arguments = buffer(16);
    set = new_set(device);
    copy = pipeline("struct Args { device int* from [[id(0)]]; device int* to [[id(1)]]; };\n"
                    "kernel void copy(constant Args& a [[buffer(0)]]) { a.to[0] = a.from[0]; }");
    contents<int>(from)[0] = 9;
  }
  static id<MTLResidencySet> new_set(id<MTLDevice> of) {
    MTLResidencySetDescriptor* const d = [[MTLResidencySetDescriptor new] autorelease];
    return [[of newResidencySetWithDescriptor:d error:nullptr] autorelease];
  }
  // Copies by addresses. Returns whether all memory was resident.
  bool copies(bool uses_set = false) {
    contents<uint64_t>(arguments)[0] = [from gpuAddress];
    contents<uint64_t>(arguments)[1] = [to gpuAddress];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    if (uses_set) [commands useResidencySet:set];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    dispatch(encoder, copy, arguments);
    [encoder endEncoding];
    run(commands);
    if ([commands status] == MTLCommandBufferStatusCompleted) return true;
    expect_said("is not resident");
    return false;
  }

  id<MTLBuffer> from = nil, to = nil, arguments = nil;
  id<MTLResidencySet> set = nil;
  id<MTLComputePipelineState> copy = nil;
};

TEST_F(Residency, BeginsWithACommitAndEndsWithOne) {
  [queue addResidencySet:set];
  EXPECT_FALSE(copies());
  const id<MTLAllocation> both[] = {from, to};
  [set addAllocations:both count:2];
  EXPECT_FALSE(copies()) << "they are not committed";
  [set commit];
  EXPECT_TRUE(copies());
  EXPECT_EQ(contents<int>(to)[0], 9);
  [set removeAllocation:from];
  EXPECT_TRUE(copies()) << "that is not committed";
  [set commit];
  EXPECT_FALSE(copies());
}

TEST_F(Residency, IsThatOfTheQueueOrOfTheCommandBuffer) {
  [set addAllocation:from];
  [set addAllocation:to];
  [set commit];
  EXPECT_FALSE(copies()) << "nobody uses the set";
  EXPECT_TRUE(copies(true));
  [queue addResidencySet:set];
  EXPECT_TRUE(copies());
  [queue removeResidencySet:set];
  EXPECT_FALSE(copies());
}

TEST_F(Residency, OfAHeapIsThatOfItsResources) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  d.size = 1024;
  d.storageMode = MTLStorageModeShared;
  d.hazardTrackingMode = MTLHazardTrackingModeTracked;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  to = [[heap newBufferWithLength:4 options:0] autorelease];
  [set addAllocation:from];
  [set addAllocation:heap];
  [set commit];
  [queue addResidencySet:set];
  EXPECT_TRUE(copies());
  EXPECT_EQ(contents<int>(to)[0], 9);
}

// Hazards name the buffers, not their heap, so that barriers for the buffers order the accesses.
TEST_F(Residency, HazardsInAHeapAreThoseOfItsResources) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  d.size = 1024;
  d.storageMode = MTLStorageModeShared;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  from = [[heap newBufferWithLength:4 options:0] autorelease];
  to = [[heap newBufferWithLength:4 options:0] autorelease];
  [set addAllocation:heap];
  [set commit];
  [queue addResidencySet:set];
  contents<uint64_t>(arguments)[0] = [from gpuAddress];
  contents<uint64_t>(arguments)[1] = [to gpuAddress];
  id<MTLBuffer> back = buffer(16);
  contents<uint64_t>(back)[0] = [to gpuAddress];
  contents<uint64_t>(back)[1] = [from gpuAddress];
  for (const bool has_barrier : {true, false}) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    dispatch(encoder, copy, arguments);
    const id<MTLResource> both[] = {from, to};
    if (has_barrier) [encoder memoryBarrierWithResources:both count:2];
    dispatch(encoder, copy, back);
    [encoder endEncoding];
    run(commands);
    if (!has_barrier) expect_said("no barrier, fence or event orders the two");
  }
}

TEST_F(Residency, SetsSayWhatIsInThem) {
  [set addAllocation:from];
  [set addAllocation:from];
  EXPECT_EQ(set.allocationCount, 1U);
  EXPECT_TRUE([set containsAllocation:from]);
  EXPECT_EQ([set.allAllocations objectAtIndex:0], from);
  EXPECT_EQ(set.allocatedSize, 0U) << "as of the last commit";
  [set commit];
  EXPECT_EQ(set.allocatedSize, 4U);
  [set removeAllAllocations];
  EXPECT_FALSE([set containsAllocation:from]);
}

TEST_F(Residency, SetsBelongToADeviceThatHasThem) {
  [set addAllocation:buffer_of(discrete, 4)];
  expect_said("addAllocation: the allocation belongs to another device");
  id<MTLCommandQueue> other = [[discrete newCommandQueue] autorelease];
  [other addResidencySet:set];
  expect_said("addResidencySet: the residency set belongs to another device");
  [[other commandBuffer] useResidencySet:set];
  expect_said("useResidencySet: the residency set belongs to another device");
  const SEL make = @selector(newResidencySetWithDescriptor:error:);
  EXPECT_TRUE([device respondsToSelector:make]);
  EXPECT_FALSE([discrete respondsToSelector:make]);
  EXPECT_EQ(new_set(discrete), nil);
  expect_said("newResidencySetWithDescriptor: the system has no residency sets");
  fail_call(1);
  EXPECT_EQ(new_set(device), nil);
  fail_call(0);
}

}  // namespace
}  // namespace softmetal
