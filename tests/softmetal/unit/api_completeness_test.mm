// Tests which declared methods the classes lack; the compiler's warning about these is off.
#include <objc/runtime.h>

#include <cstdlib>
#include <set>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

void add_missing(Class of, Protocol* protocol, std::set<std::string>& missing) {
  unsigned count = 0;
  objc_method_description* const methods =
      protocol_copyMethodDescriptionList(protocol, YES, YES, &count);
  for (unsigned i = 0; i < count; ++i) {
    if (class_getInstanceMethod(of, methods[i].name) == nullptr)
      missing.insert(std::string(protocol_getName(protocol)) + " " + sel_getName(methods[i].name));
  }
  std::free(methods);
  Protocol* const* const adopted = protocol_copyProtocolList(protocol, &count);
  for (unsigned i = 0; i < count; ++i) add_missing(of, adopted[i], missing);
  std::free(const_cast<Protocol**>(adopted));
}

TEST_F(ApiTest, ClassesHaveTheMethodsOfTheirProtocols) {
  std::set<std::string> missing;
  const std::pair<const char*, const char*> classes[] = {
      {"SMDevice", "MTLDevice"},
      {"SMQueue", "MTLCommandQueue"},
      {"SMCommandBuffer", "MTLCommandBuffer"},
      {"SMComputeEncoder", "MTLComputeCommandEncoder"},
      {"SMBlitEncoder", "MTLBlitCommandEncoder"},
      {"SMBuffer", "MTLBuffer"},
      {"SMTexture", "MTLTexture"},
      {"SMHeap", "MTLHeap"},
      {"SMLibrary", "MTLLibrary"},
      {"SMFunction", "MTLFunction"},
      {"SMPipeline", "MTLComputePipelineState"},
      {"SMBinaryArchive", "MTLBinaryArchive"},
      {"SMSampler", "MTLSamplerState"},
      {"SMFence", "MTLFence"},
      {"SMEvent", "MTLEvent"},
      {"SMSharedEvent", "MTLSharedEvent"},
      {"SMResidencySet", "MTLResidencySet"},
      {"SMIndirectCommandBuffer", "MTLIndirectCommandBuffer"},
      {"SMIndirectComputeCommand", "MTLIndirectComputeCommand"},
      {"SMCounter", "MTLCounter"},
      {"SMCounterSet", "MTLCounterSet"},
      {"SMCounterSampleBuffer", "MTLCounterSampleBuffer"},
      {"SMBinding", "MTLBufferBinding"},
      {"SMBinding", "MTLThreadgroupBinding"},
      {"SMBinding", "MTLTextureBinding"},
  };
  for (const auto& [name, protocol] : classes) {
    Class const of = objc_getClass(name);
    Protocol* const declared = objc_getProtocol(protocol);
    ASSERT_NE(of, nil) << name;
    ASSERT_NE(declared, nil) << protocol;
    add_missing(of, declared, missing);
  }
  // The software Metal has no argument encoders.
  EXPECT_EQ(missing, (std::set<std::string>{"MTLDevice newArgumentEncoderWithArguments:"}));
}

}  // namespace
}  // namespace softmetal
