#include "runtime/hal/device.h"

#include "runtime/hal/creation_check.h"

namespace texloom::hal {

Result<std::shared_ptr<Buffer>> Device::create_buffer(const BufferDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  return create_checked(desc);
}

Result<std::shared_ptr<Texture>> Device::create_texture(const TextureDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  if (!supports(desc.format, desc.usage))
    return make_error(StatusCode::Unimplemented, "device {} has no textures of {} for this usage",
                      info_->name, to_string(desc.format));
  return create_checked(desc);
}

Result<std::shared_ptr<Executable>> Device::create_executable(const ExecutableDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  return create_checked(desc);
}

std::shared_ptr<CommandBuffer> Device::create_command_buffer() const {
  return std::make_shared<CommandBuffer>(info_);
}

}  // namespace texloom::hal
