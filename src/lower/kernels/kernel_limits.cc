#include "lower/kernels/kernel_limits.h"

#include <string>
#include <string_view>

#include "ir/analysis/limits.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

class Refusal {
 public:
  Refusal(const Kernel& kernel, const SourceLocation& block, const Target& target,
          std::string_view array_note)
      : kernel_(kernel),
        block_location_(block),
        target_(to_string(target)),
        array_note_(array_note) {}

  [[noreturn]] void refuse(const Excess& e) const {
    const auto& [x, y, z] = kernel_.block;
    switch (e.limit) {
      case Limit::BlockDepth:
        fail(block_location_, Code::BlockTooLarge,
             "bind a smaller part to threadIdx.z, or use threadIdx.x",
             "the kernel '{}' has blocks of {} threads along z; the target '{}' allows {}",
             kernel_.name, e.need, target_, e.have);
      case Limit::BlockThreads:
        fail(block_location_, Code::BlockTooLarge,
             fmt::format("bind smaller parts to threadIdx: at most {} threads in all", e.have),
             "the kernel '{}' has blocks of {} x {} x {} = {} threads; the target '{}' allows {}",
             kernel_.name, x, y, z, e.need, target_, e.have);
      case Limit::SharedBytes:
        refuse_arrays(e, "a block on");
      case Limit::PrivateBytes:
        refuse_arrays(e, fmt::format("each of the block's {} threads on", x * y * z));
      case Limit::ImageReads:
        refuse_images(e, Access::Read);
      case Limit::ImageWrites:
        refuse_images(e, Access::Write);
      case Limit::Textures:
        fail(kernel_.location, Code::TooManyArguments,
             "keep some of the tensors in buffers; if all your devices have argument buffers of "
             "tier 2, add -argument_buffers=1 to the target",
             "the kernel '{}' has {} textures; the target '{}' has slots for {}", kernel_.name,
             e.need, target_, e.have);
      case Limit::Buffers:
        fail(kernel_.location, Code::TooManyArguments,
             "keep some of the tensors in textures, or compute the stage in steps that read fewer "
             "tensors each; if all your devices have argument buffers of tier 2, add "
             "-argument_buffers=1 to the target",
             "the kernel '{}' has {} buffers, including one for its constants; the target '{}' has "
             "slots for {}",
             kernel_.name, e.need, target_, e.have);
      case Limit::ImageSize:
        fail(e.buffer->location, Code::TextureTooLarge, "split the tensor, or keep it in a buffer",
             "the texture '{}' has {} texels along an axis; the target '{}' allows {}",
             e.buffer->name, e.need, target_, e.have);
      case Limit::ParameterBytes:
        fail(kernel_.location, Code::TooManyArguments,
             "compute the stage in steps that read fewer tensors each",
             "the kernel '{}' has {} arguments of {} bytes in all; the target '{}' allows {}",
             kernel_.name, kernel_.params.size(), e.need, target_, e.have);
    }
    TL_UNREACHABLE();
  }

 private:
  [[noreturn]] void refuse_arrays(const Excess& e, const std::string& whose) const {
    const std::string scope(to_string(e.buffer->memory));
    fail(e.buffer->location, Code::LocalMemoryTooLarge,
         fmt::format("attach the {} stages to inner loops, or split those into smaller tiles{}{}",
                     scope, array_note_.empty() ? "" : "; ", array_note_),
         "the {} buffers of the kernel '{}' need {} bytes, '{}' most of them; {} the target '{}' "
         "is allowed {}",
         scope, kernel_.name, e.need, e.buffer->name, whose, target_, e.have);
  }
  [[noreturn]] void refuse_images(const Excess& e, Access access) const {
    fail(kernel_.location, Code::TooManyArguments, "keep some of the tensors in buffers",
         "the kernel '{}' {}s {} textures; the target '{}' allows {}", kernel_.name,
         to_string(access), e.need, target_, e.have);
  }

  const Kernel& kernel_;
  const SourceLocation& block_location_;
  std::string target_;
  std::string_view array_note_;
};

}  // namespace

void check_limits(const Kernel& kernel, const SourceLocation& block_location,
                  const Target& target) {
  for (const Excess& excess : exceeded_limits(kernel, target)) {
    Refusal(kernel, block_location, target, {}).refuse(excess);
  }
}

void check_array_limits(const Kernel& kernel, const Target& target, std::string_view note) {
  for (const Excess& excess : exceeded_limits(kernel, target)) {
    const bool is_of_arrays =
        excess.limit == Limit::SharedBytes || excess.limit == Limit::PrivateBytes;
    if (is_of_arrays) Refusal(kernel, kernel.location, target, note).refuse(excess);
  }
}

}  // namespace texloom::lower
