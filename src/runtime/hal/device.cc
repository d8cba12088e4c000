#include "runtime/hal/device.h"

#include "runtime/hal/creation_check.h"

namespace texloom::hal {

Device::Device(std::shared_ptr<const DeviceInfo> info)
    : info_(std::move(info)), workspace_pool_(*this) {}
Device::~Device() = default;

// The queue keeps what submitted work uses until it next hears that the work is complete: memory
// that the caller has released may still be there.
template <class Desc>
auto Device::create_memory(const Desc& desc) -> decltype(create_checked(desc)) {
  auto created = create_checked(desc);
  if (created.ok() || created.status().code() != StatusCode::OutOfMemory) return created;
  if (workspace_pool_.trim() > 0) {
    created = create_checked(desc);
    if (created.ok() || created.status().code() != StatusCode::OutOfMemory) return created;
  }
  const auto complete = std::make_shared<Semaphore>();
  TL_RETURN_IF_ERROR(queue()->submit(Submission{.signals = {{complete, 1}}}));
  TL_RETURN_IF_ERROR(complete->wait(1));
  return create_checked(desc);
}

Result<std::shared_ptr<Buffer>> Device::create_buffer(const BufferDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  return create_memory(desc);
}

Result<std::shared_ptr<Texture>> Device::create_texture(const TextureDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  if (!supports(desc.format, desc.usage))
    return make_error(StatusCode::Unimplemented, "device {} has no textures of {} for this usage",
                      info_->name, to_string(desc.format));
  return create_memory(desc);
}

Result<std::shared_ptr<Executable>> Device::create_executable(const ExecutableDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable, create_checked(desc));
  if (desc.build == BuildTime::Creation) TL_RETURN_IF_ERROR(executable->prepare());
  return executable;
}

std::shared_ptr<CommandBuffer> Device::create_command_buffer() const {
  return std::make_shared<CommandBuffer>(info_);
}

}  // namespace texloom::hal
