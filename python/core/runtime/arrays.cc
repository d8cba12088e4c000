// Arrays on devices.
#include "core/runtime/arrays.h"

#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "compile/launch_plan.h"
#include "core/handles.h"
#include "core/runtime/released_lock.h"
#include "ir/target/target.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/transfer.h"
#include "schedule/storage.h"
#include "support/check.h"
#include "support/diagnostic.h"
#include "support/int128.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

// Runs `work`, which may take long, without the GIL, so that other threads can run.
template <class Work>
Status without_lock(const Work& work) {
  const ReleasedLock released;
  return work();
}

std::span<std::byte> bytes_of(py::array& array) {
  return {static_cast<std::byte*>(array.mutable_data()), static_cast<size_t>(array.nbytes())};
}
std::span<const std::byte> bytes_of(const py::array& array) {
  return {static_cast<const std::byte*>(array.data()), static_cast<size_t>(array.nbytes())};
}

// NumPy has no bfloat16: Python gets the bits, which nd.py reads as bfloat16.
py::dtype numpy_dtype(Type type) {
  return py::dtype(type.code == TypeCode::BFloat ? "uint16" : to_string(type));
}

// Where a new texture array begins in its image. Without a size, the image ends where the array
// ends.
struct Placement {
  hal::Offset2D origin;
  std::optional<hal::Extent2D> image;
};

hal::Binding allocate(hal::Device& device, const PyArray& array, const Placement& placement) {
  if (array.layout.object == MemoryObject::Buffer) {
    hal::BufferDesc desc;
    desc.bytes = array.bytes();
    auto buffer = device.create_buffer(desc);
    throw_if_error(buffer.status());
    return hal::BufferBinding{*buffer, 0};
  }
  const hal::Extent2D own{static_cast<uint32_t>(array.layout.col_count()),
                          static_cast<uint32_t>(array.layout.row_count())};
  hal::TextureDesc desc;
  desc.format = compile::texel_format(array.type);
  desc.extent = placement.image.value_or(
      hal::Extent2D{own.width + placement.origin.x, own.height + placement.origin.y});
  if (!hal::region_fits(placement.origin, own, desc.extent)) {
    fail(user_location(), Code::WrongShape, "give a larger image or a smaller origin",
         "an array of {} x {} texels at ({}, {}) does not fit an image of {} x {}", own.width,
         own.height, placement.origin.x, placement.origin.y, desc.extent.width, desc.extent.height);
  }
  auto texture = device.create_texture(desc);
  throw_if_error(texture.status());
  return hal::TextureBinding{*texture, placement.origin};
}

hal::TextureRegion region_of(const PyArray& array) {
  return {std::get<hal::TextureBinding>(array.binding).origin,
          {static_cast<uint32_t>(array.layout.col_count()),
           static_cast<uint32_t>(array.layout.row_count())}};
}

// A texture is folded according to the target's limits, not the device's, like an argument of a
// function built for this target. A layout that the user gives is used unchanged.
Layout array_layout(const Shape& shape, const schedule::Storage& storage, const Target& target,
                    const hal::DeviceInfo& info) {
  const bool stated = storage.layout.has_value();
  if (!storage.scope.texture) {
    return stated ? layout_for(*storage.layout, shape) : linear_layout(shape);
  }
  const Layout natural =
      stated ? layout_for(*storage.layout, shape) : texture_layout(shape, *storage.scope.texture);
  const std::optional<Layout> folded = !stated || fits(natural, target.images())
                                           ? best_fold(natural, target.images())
                                           : std::nullopt;
  const ImageLimits device{info.limits.max_image_width, info.limits.max_image_height};
  if (folded && fits(*folded, device)) return *folded;
  fail(user_location(), Code::TextureTooLarge,
       folded ? fmt::format("build for the device's limit, and name that target here too: "
                            "target=\"opencl -texture_spatial_limit={}\"",
                            std::min(device.max_width, device.max_height))
              : std::string(stated ? "split rows or columns of the layout, so that the array fits"
                                   : "keep the array in a buffer"),
       "an array of {} x {} texels does not fit the limits of the target ({} x {}) and the device "
       "({} x {})",
       natural.col_count(), natural.row_count(), target.images().max_width,
       target.images().max_width, device.max_width, device.max_height);
}

schedule::Storage array_storage(const std::string& scope_text, const std::string& layout,
                                const Shape& shape, const SourceLocation& where) {
  const auto scope = parse_scope(scope_text);
  if (!scope || scope->memory != MemoryScope::Global) {
    std::string known;
    for (const std::string& s : scope_spellings()) {
      if (parse_scope(s)->memory == MemoryScope::Global) known += (known.empty() ? "" : ", ") + s;
    }
    fail(where, Code::UnknownScope, "use one of " + known,
         "an array cannot be in the memory scope '{}'", scope_text);
  }
  return schedule::parse_storage(scope_text, layout, shape, where);
}

void check_shape(const Shape& shape, const schedule::Storage& storage, Type type,
                 const SourceLocation& where) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] >= 0) continue;
    fail(where, Code::BadShape, "give extents of 0 or more",
         "axis {} of an array of shape ({}) has the extent {}", axis, fmt::join(shape, ", "),
         shape[axis]);
  }
  const bool by_rule = storage.scope.texture && !storage.layout;
  if (by_rule && (shape.empty() || shape.size() > kMaxTextureRank)) {
    fail(where, Code::BadShape,
         fmt::format("a texture holds 1 to {} axes; keep the array in a buffer", kMaxTextureRank),
         "an array of shape ({}) cannot be in '{}'", fmt::join(shape, ", "),
         to_string(storage.scope));
  }
  int128 bytes = type.bytes();
  for (const int64_t extent : shape) {
    bytes *= extent;
    if (bytes <= INT64_MAX / 8) continue;
    fail(where, Code::OutOfDeviceMemory, "make the array smaller",
         "an array of shape ({}) needs 2**60 bytes or more", fmt::join(shape, ", "));
  }
}

// upload() and download() copy the array's whole buffer or rectangle, including padding.
void upload(const PyArray& array, std::span<const std::byte> places) {
  hal::Device& device = *open_device(array.device);
  const hal::HostSpan span(device.options().profile.get(), "array to device");
  throw_if_error(without_lock([&] {
    if (const auto* buffer = std::get_if<hal::BufferBinding>(&array.binding)) {
      return hal::write_buffer(device, buffer->buffer, buffer->offset, places);
    }
    const auto& texture = std::get<hal::TextureBinding>(array.binding);
    return hal::write_texture(device, texture.texture, region_of(array), places);
  }));
}
void download(const PyArray& array, std::span<std::byte> places) {
  hal::Device& device = *open_device(array.device);
  const hal::HostSpan span(device.options().profile.get(), "array to host");
  throw_if_error(without_lock([&] {
    if (const auto* buffer = std::get_if<hal::BufferBinding>(&array.binding)) {
      return hal::read_buffer(device, buffer->buffer, buffer->offset, places);
    }
    const auto& texture = std::get<hal::TextureBinding>(array.binding);
    return hal::read_texture(device, texture.texture, region_of(array), places);
  }));
}

using Pair = std::pair<uint32_t, uint32_t>;

// The description of a new array, independent of the device.
struct ArrayDesc {
  Type type;
  schedule::Storage storage;
  Target target;
};

ArrayDesc checked_desc(const Shape& shape, const py::object& dtype, const std::string& scope,
                       const Target& target, const Pair& origin, const std::optional<Pair>& image,
                       const std::string& layout) {
  const SourceLocation where = user_location();
  const Type type = to_type(dtype);
  schedule::Storage storage = array_storage(scope, layout, shape_in_memory(shape), where);
  const bool is_texture = storage.scope.texture.has_value();
  if (!is_texture && (origin != Pair(0U, 0U) || image)) {
    fail(where, Code::WrongScope, "leave origin and image out, or give a texture scope",
         "an array in '{}' cannot have an origin or an image", to_string(storage.scope));
  }
  if (is_texture && !is_texel_type(type)) {
    fail(where, Code::TextureElementType,
         "textures hold float16, float32 and integers of 8, 16 and 32 bits",
         "an array of dtype {} cannot be in a texture", to_string(type));
  }
  check_shape(shape, storage, type, where);
  return {type, std::move(storage), target};
}

// Allocates the memory of an array, and sets padding to zero if the layout requires it.
PyArray placed_array(PyArray array, const Placement& placement) {
  array.binding = allocate(*open_device(array.device), array, placement);
  if (array.layout.padding == Padding::Zero) upload(array, std::vector<std::byte>(array.bytes()));
  return array;
}

PyArray empty(const Shape& shape, const py::object& dtype, const PyDevice& device,
              const std::string& scope, const Target& target, const Pair& origin,
              const std::optional<Pair>& image, const std::string& layout) {
  const ArrayDesc desc = checked_desc(shape, dtype, scope, target, origin, image, layout);
  Placement placement{{origin.first, origin.second}, {}};
  if (image) placement.image = hal::Extent2D{image->first, image->second};
  const hal::DeviceInfo& info = open_device(device)->info();
  return placed_array({device,
                       desc.type,
                       shape,
                       array_layout(shape_in_memory(shape), desc.storage, desc.target, info),
                       desc.storage.scope,
                       {}},
                      placement);
}

// The application's memory as the memory of the array.
hal::Binding wrapped(hal::Device& device, const PyArray& array, void* memory, uint64_t offset,
                     hal::Offset2D origin) {
  const SourceLocation where = user_location();
  if (array.layout.object == MemoryObject::Buffer) {
    const auto buffer = device.allocator()->wrap_buffer(memory);
    throw_if_unfit(buffer.status());
    if (!hal::range_fits(offset, array.bytes(), (*buffer)->bytes()))
      fail(where, Code::WrongShape, "give the memory's own shape and dtype, or a larger memory",
           "an array of {} bytes at byte {} does not fit memory of {} bytes", array.bytes(), offset,
           (*buffer)->bytes());
    const uint64_t step = device.info().limits.buffer_offset_alignment;
    if (((*buffer)->base_offset() + offset) % step != 0)
      fail(where, Code::BadArgument, fmt::format("begin at a multiple of {} bytes", step),
           "an array cannot begin at byte {} of the memory: the device's kernels need a multiple "
           "of {}",
           (*buffer)->base_offset() + offset, step);
    return hal::BufferBinding{*buffer, offset};
  }
  const auto texture = device.allocator()->wrap_texture(memory);
  throw_if_unfit(texture.status());
  const hal::TexelFormat format = compile::texel_format(array.type);
  if ((*texture)->format() != format)
    fail(where, Code::WrongShape, "give the dtype of the image's channels",
         "an array of {} has texels {}, but the image has {}", to_string(array.type),
         hal::to_string(format), hal::to_string((*texture)->format()));
  const hal::Extent2D own{static_cast<uint32_t>(array.layout.col_count()),
                          static_cast<uint32_t>(array.layout.row_count())};
  if (!hal::region_fits(origin, own, (*texture)->extent()))
    fail(where, Code::WrongShape, "give a larger image or a smaller origin",
         "an array of {} at {} does not fit an image of {}", hal::to_string(own),
         hal::to_string(origin), hal::to_string((*texture)->extent()));
  return hal::TextureBinding{*texture, origin};
}

PyArray wrap_memory(std::uintptr_t memory, const Shape& shape, const py::object& dtype,
                    const PyDevice& device, const std::string& scope, const Target& target,
                    uint64_t offset, const Pair& origin, const std::string& layout) {
  const ArrayDesc desc = checked_desc(shape, dtype, scope, target, origin, std::nullopt, layout);
  if (desc.storage.scope.texture && offset != 0)
    fail(user_location(), Code::WrongScope, "give the array's place in the image as its origin",
         "an array in '{}' cannot have an offset", to_string(desc.storage.scope));
  hal::Device& opened = *open_device(device);
  PyArray array{device,
                desc.type,
                shape,
                array_layout(shape_in_memory(shape), desc.storage, desc.target, opened.info()),
                desc.storage.scope,
                {}};
  array.binding = wrapped(opened, array, reinterpret_cast<void*>(memory), offset,
                          {origin.first, origin.second});
  return array;
}

void check_source(const PyArray& array, const py::array& source) {
  std::vector<int64_t> shape(source.shape(), source.shape() + source.ndim());
  TL_CHECK(source.dtype().equal(numpy_dtype(array.type)));  // nd.py converts
  if (shape != array.shape) {
    fail(user_location(), Code::WrongShape,
         "reshape the NumPy array, or make an array of its shape",
         "a NumPy array of shape {} does not fit an array of shape {}", shape_text(shape),
         shape_text(array.shape));
  }
}

void copy_from(const PyArray& array, const py::array& source) {
  check_source(array, source);
  const auto contiguous = py::array::ensure(source, py::array::c_style);
  wait_for(*open_device(array.device));
  if (contiguous.size() == 0) return;
  const std::span<const std::byte> elements = bytes_of(contiguous);
  if (array.layout == linear_layout(array.layout.shape)) return upload(array, elements);
  std::vector<std::byte> places(array.bytes());
  runtime::pack(compile::tensor_layout(array.layout), static_cast<size_t>(array.type.bytes()),
                elements, places);
  upload(array, places);
}

py::array to_numpy(const PyArray& array) {
  py::array result(numpy_dtype(array.type), array.shape);
  wait_for(*open_device(array.device));
  if (result.size() == 0) return result;
  const std::span<std::byte> elements = bytes_of(result);
  if (array.layout == linear_layout(array.layout.shape)) {
    download(array, elements);
    return result;
  }
  std::vector<std::byte> places(array.bytes());
  download(array, places);
  runtime::unpack(compile::tensor_layout(array.layout), static_cast<size_t>(array.type.bytes()),
                  places, elements);
  return result;
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

bool is_numpy_array(const py::handle& value) { return py::isinstance<py::array>(value); }

bool numpy_has_bfloat16() {
  try {
    const py::dtype found("bfloat16");
    return true;
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return false;
  }
}

void copy_from_numpy(const PyArray& array, const py::array& source) {
  if (array.type.code == TypeCode::BFloat) {
    copy_from(array, source.attr("view")("uint16"));
  } else {
    copy_from(array, source.attr("astype")(to_string(array.type), py::arg("copy") = false));
  }
}

py::array copy_to_numpy(const PyArray& array) {
  const py::array elements = to_numpy(array);
  return array.type.code == TypeCode::BFloat ? py::array(elements.attr("view")("bfloat16"))
                                             : elements;
}

Shape shape_in_memory(Shape shape) {
  for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
  return shape;
}

PyArray make_array(const PyDevice& device, Type type, const Shape& shape, const Layout& layout) {
  StorageScope scope;
  if (layout.object == MemoryObject::Image2d) scope.texture = TextureRule::Activation;
  return placed_array({device, type, shape, layout, scope, {}}, {});
}

uint64_t PyArray::bytes() const {
  return static_cast<uint64_t>(layout.row_count() * layout.col_count() * layout.lane_count() *
                               type.bytes());
}

void bind_arrays(py::module_& m) {
  py::class_<PyArray>(
      m, "NDArray",
      R"(An array on a device, in a buffer or a texture; made by ``nd.array`` and ``nd.empty``.

Its memory is freed with the object, when the device no longer uses it. Calls on its device are
asynchronous; what reads or writes its values on the host waits for them.
)")
      .def("numpy", &to_numpy,
           "A NumPy copy; waits for all work on the device. For bfloat16 its bits, as uint16.")
      .def("_assign", &copy_from, py::arg("source"),
           "Copies a NumPy array of the same shape and dtype; for bfloat16 its bits, as uint16.")
      .def_property_readonly(
          "shape", [](const PyArray& a) { return py::tuple(py::cast(a.shape)); }, "The extents.")
      .def_property_readonly(
          "dtype", [](const PyArray& a) { return to_string(a.type); },
          "The type of an element, such as ``\"float32\"``.")
      .def_property_readonly(
          "device", [](const PyArray& a) { return a.device; }, "The device that holds it.")
      .def_property_readonly(
          "layout", [](const PyArray& a) { return to_string(a.layout); },
          "The place of each element, in the form of the ``layout=`` of ``nd.empty``; "
          "``\"linear\"`` for a row-major buffer.")
      .def_property_readonly(
          "scope", [](const PyArray& a) { return to_string(a.scope); },
          "The memory scope: ``\"global\"`` or that of a texture.")
      .def("__repr__", [](const PyArray& a) {
        std::string shape;
        for (const int64_t n : a.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", n);
        return fmt::format("NDArray(({}), {}, {}, {})", shape, to_string(a.type),
                           to_string(a.device), to_string(a.scope));
      });
  m.def("empty", &empty);
  m.def("wrap", &wrap_memory);
  m.def("check_host_array", [](const Shape& shape, const py::object& dtype, const Target& target,
                               const Pair& origin, const std::optional<Pair>& image) {
    checked_desc(shape, dtype, "global", target, origin, image, "");
  });
}

}  // namespace texloom::python
