#include "runtime/plan/image_limits.h"

#include <string>

namespace texloom::runtime {

Status check_image(const TensorSpec& tensor, const hal::DeviceLimits& limits) {
  const auto* texture = std::get_if<TextureStorage>(&tensor.storage);
  if (texture == nullptr || (texture->extent.width <= limits.max_image_width &&
                             texture->extent.height <= limits.max_image_height))
    return {};
  std::string shape;
  for (const Size& extent : tensor.shape)
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent.text({}));
  return make_error(StatusCode::LimitExceeded,
                    "\"{}\" of shape ({}) needs an image of {}, but the device's images "
                    "have at most {}",
                    tensor.name, shape, hal::to_string(texture->extent),
                    hal::to_string(hal::Extent2D{limits.max_image_width, limits.max_image_height}));
}

Status check_images(const LaunchPlan& plan, const hal::DeviceLimits& limits) {
  for (const TensorSpec& tensor : plan.arguments) TL_RETURN_IF_ERROR(check_image(tensor, limits));
  for (const TensorSpec& tensor : plan.temporaries) TL_RETURN_IF_ERROR(check_image(tensor, limits));
  return {};
}

}  // namespace texloom::runtime
