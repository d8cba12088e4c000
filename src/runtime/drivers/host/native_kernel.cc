#include "runtime/drivers/host/native_kernel.h"

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace texloom::hal::host {

namespace {

static_assert(kBufferAlignment == 16, "as native_abi.h says");
static_assert(offsetof(texloom_native_texture, width) == 8 &&
              offsetof(texloom_native_texture, height) == 12 &&
              offsetof(texloom_native_texture, row_pitch) == 16);

class NativeKernel final : public Kernel {
 public:
  NativeKernel(texloom_native_kernel* function, std::shared_ptr<const void> code)
      : function_(function), code_(std::move(code)) {}

  bool is_divisible() const override { return true; }
  bool may_run_while_waiting() const override { return true; }

  Status run(const Launch& launch, GroupRange groups, std::span<std::byte>) const override {
    const std::size_t count = launch.arguments.size();
    std::vector<const void*> arguments(count);
    std::vector<texloom_native_texture> textures;
    textures.reserve(count);  // keeps addresses stable
    for (std::size_t i = 0; i < count; ++i) {
      const Argument& argument = launch.arguments[i];
      if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
        arguments[i] = buffer->data;
      } else if (const auto* constant = std::get_if<Constant>(&argument)) {
        arguments[i] = constant->data();
      } else if (const auto* texture = std::get_if<TextureArgument>(&argument)) {
        const Image& image = texture->image;
        arguments[i] = &textures.emplace_back(texloom_native_texture{
            image.at(0, 0), image.extent().width, image.extent().height, image.row_pitch()});
      }
    }
    if (function_(arguments.data(), launch.groups.data(), groups.begin, groups.end) == 0) return {};
    return Status(StatusCode::OutOfMemory, "no host memory for the arrays of a block");
  }

 private:
  texloom_native_kernel* function_;
  std::shared_ptr<const void> code_;
};

}  // namespace

std::shared_ptr<const Kernel> make_native_kernel(texloom_native_kernel* function,
                                                 std::shared_ptr<const void> code) {
  return std::make_shared<NativeKernel>(function, std::move(code));
}

}  // namespace texloom::hal::host
