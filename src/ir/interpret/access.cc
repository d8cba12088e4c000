#include "ir/interpret/access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/check.h"
#include "support/half.h"

namespace texloom::ir {
namespace {

// The texture origin of a tensor that the program allocates, if its kernels get an origin. The
// origin is not (0, 0), so that an access that fails to add the origin is outside the rectangle.
constexpr int64_t kOriginX = 1, kOriginY = 2;

const Scalar& lane_of(const Value& value, int lane) {
  return value.lanes[value.type.is_scalar() ? 0 : static_cast<size_t>(lane)];
}

// The origin of the first undefined index (undefined.h); 0 if all indices are defined.
Undefined undefined_among(const std::vector<Value>& indices, int lane) {
  for (const Value& index : indices) {
    if (const Undefined u = lane_of(index, lane).undefined; u != 0) return u;
  }
  return 0;
}

std::vector<int64_t> lane_of(const std::vector<Value>& indices, int lane) {
  std::vector<int64_t> index;
  index.reserve(indices.size());
  for (const Value& value : indices) index.push_back(lane_of(value, lane).integer);
  return index;
}

// Numbers the indices of an access, for the table of origins of undefined values. Indices may have
// any value, so the number may wrap.
int64_t number_of(const std::vector<int64_t>& index) {
  uint64_t number = 0;
  for (const int64_t i : index) number = number * 65536 + static_cast<uint64_t>(i);
  return static_cast<int64_t>(number);
}
int64_t number_of(const Coordinates& c) {
  const uint64_t texel = static_cast<uint64_t>(c.row) * 16777216 + static_cast<uint64_t>(c.col);
  return static_cast<int64_t>(texel * kTexelLanes + static_cast<uint64_t>(c.lane));
}

// The coordinates relative to the first texel of the rectangle. Values that wrap are far outside
// it.
Coordinates in_rectangle(const Binding& binding, int64_t x, int64_t y) {
  const auto minus = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  };
  return {minus(y, binding.y), minus(x, binding.x), 0};
}

std::string element_name(const BufferNode& buffer, const std::vector<int64_t>& index) {
  return fmt::format("{}[{}]", buffer.name, fmt::join(index, ", "));
}
// For an array of symbolic extents, the number of elements of its memory.
int64_t linear_extent(const BufferNode& buffer, const Memory& memory) {
  return buffer.is_symbolic() ? memory.size() : buffer.layout.col_count();
}

std::string outside_text(const BufferNode& buffer, const Memory& memory,
                         const std::vector<int64_t>& index, bool logical) {
  const std::vector<int64_t> extents =
      logical ? buffer.shape : std::vector<int64_t>{linear_extent(buffer, memory)};
  return fmt::format("{} lies outside {} of extent {}", element_name(buffer, index), buffer.name,
                     fmt::join(extents, " x "));
}
std::string texel_name(const BufferNode& texture, int64_t x, int64_t y) {
  return fmt::format("{} at x={}, y={}", texture.name, x, y);
}

// Whether the layout has an element at these coordinates. Otherwise the coordinates are padding, or
// outside. For a texture of symbolic extents, every place in its image counts as an element.
bool holds_element(const BufferNode& buffer, const Coordinates& c) {
  return buffer.is_symbolic() || buffer.layout.index_at(c).has_value();
}

bool is_inside(const BufferNode& texture, const Binding& binding, const Coordinates& c) {
  const bool symbolic = texture.is_symbolic();
  const int64_t rows = symbolic ? binding.memory->height() - binding.y : texture.layout.row_count();
  const int64_t cols = symbolic ? binding.memory->width() - binding.x : texture.layout.col_count();
  return c.row >= 0 && c.row < rows && c.col >= 0 && c.col < cols;
}

std::string outside_text(const BufferNode& texture, const Binding& binding, int64_t x, int64_t y) {
  const Memory& image = *binding.memory;
  const std::string name = texel_name(texture, x, y);
  if (x < 0 || y < 0 || x >= image.width() || y >= image.height()) {
    return fmt::format("{} lies outside the image of {} x {} texels", name, image.width(),
                       image.height());
  }
  if (texture.is_symbolic()) {
    return fmt::format("{} lies before its rectangle at x={}, y={}", name, binding.x, binding.y);
  }
  return fmt::format("{} lies outside its rectangle of {} x {} texels at x={}, y={}", name,
                     texture.layout.col_count(), texture.layout.row_count(), binding.x, binding.y);
}

// Whether values of this type are the bits of elements.
bool are_bits(Type element, Type value) { return element.is_half() && value == Type::u(16); }

}  // namespace

const Binding& View::of(const BufferNode& buffer) const {
  for (const Bindings* bindings : {&own, static_cast<const Bindings*>(shared), outer}) {
    if (bindings == nullptr) continue;
    if (const auto found = bindings->find(&buffer); found != bindings->end()) return found->second;
  }
  TL_UNREACHABLE(buffer.name + " has no memory here");
}

const Binding& View::allocate(const BufferNode& buffer) {
  if (buffer.memory == MemoryScope::Shared && shared != nullptr) {
    const auto [known, added] = shared->try_emplace(&buffer);
    if (added) known->second.memory = std::make_shared<Memory>(memory_for(buffer));
    return known->second;
  }
  Binding binding;
  if (!buffer.origin.is_zero()) {
    binding.x = kOriginX;
    binding.y = kOriginY;
  }
  binding.memory = std::make_shared<Memory>(memory_for(buffer, binding.x, binding.y));
  return own.insert_or_assign(&buffer, std::move(binding)).first->second;
}

// -- Elements of buffers, and at stage Loops also elements of textures.

bool Accesses::is_inside(const Site& site, const Index& index) const {
  const BufferNode& buffer = site.buffer;
  if (!runner_.state().logical) {
    return index[0] >= 0 && index[0] < linear_extent(buffer, *site.binding.memory);
  }
  for (size_t i = 0; i < index.size(); ++i) {
    // The last texel may be accessed as a whole even if it is only partly filled.
    const int64_t extent = buffer.layout.extent_with_lanes(i);
    if (index[i] < 0 || index[i] >= extent) return false;
  }
  return true;
}

Coordinates Accesses::coordinates(const BufferNode& buffer, const Index& index) const {
  return runner_.state().logical ? buffer.layout.at(index) : Coordinates{0, index[0], 0};
}

Value Accesses::load(const Load& n, const std::vector<Value>& indices, Mask mask) {
  const Site site{&n, n.location, *n.buffer, view_.of(*n.buffer), false, n.type.element()};
  runner_.count_access(*n.buffer, false);
  Value value{n.type, {}};
  for (int lane = 0; lane < n.type.lanes; ++lane) {
    if (has_lane(mask, lane)) value.lanes[lane] = load_lane(site, indices, lane);
  }
  return value;
}

Scalar Accesses::load_lane(const Site& site, const std::vector<Value>& indices, int lane) {
  const BufferNode& buffer = site.buffer;
  if (const Undefined u = undefined_among(indices, lane); u != 0) {
    if (!buffer.is_texture()) {
      runner_.report_undefined(site.node, site.line, u, "the index into " + buffer.name + " is");
    }
    return {.undefined = u};
  }
  return load_element(site, lane_of(indices, lane));
}

Scalar Accesses::load(const StmtNode& n, const BufferNode& buffer, const Index& index) {
  runner_.count_access(buffer, false);
  return load_element({&n, n.location, buffer, view_.of(buffer), false, buffer.type}, index);
}

void Accesses::store(const StmtNode& n, const BufferNode& buffer, const Index& index,
                     Scalar value) {
  runner_.count_access(buffer, true);
  store_element({&n, n.location, buffer, view_.of(buffer), true, buffer.type}, index, value);
}

Scalar Accesses::load_element(const Site& site, const Index& index) {
  const BufferNode& buffer = site.buffer;
  const auto name = [&] { return element_name(buffer, index); };
  if (is_inside(site, index)) {
    const Element place{name, coordinates(buffer, index)};
    note_access(site, place);
    return read(site, place);
  }
  const auto text = [&] {
    return outside_text(buffer, *site.binding.memory, index, runner_.state().logical);
  };
  if (!buffer.is_texture()) {
    runner_.report(ReportKind::OutOfBounds, site.node, site.line, text);
    return {};
  }
  return {.undefined = runner_.note_undefined(site.node, number_of(index), site.line, text)};
}

void Accesses::store(const Store& n, const std::vector<Value>& indices, const Value& value) {
  const Site site{&n, n.location, *n.buffer, view_.of(*n.buffer), true, value.type.element()};
  runner_.count_access(*n.buffer, true);
  for (int lane = 0; lane < value.type.lanes; ++lane) {
    store_lane(site, indices, lane, value.lanes[lane]);
  }
}

void Accesses::begin_store(const Store& n, const std::vector<Value>& indices, Type type) {
  const Site site{&n, n.location, *n.buffer, view_.of(*n.buffer), true, type.element()};
  const auto origin = [&] { return "a copy to " + n.buffer->name + " is not awaited"; };
  Scalar unknown;
  unknown.undefined = runner_.note_undefined(&n, 0, n.location, origin);
  for (int lane = 0; lane < type.lanes; ++lane) store_lane(site, indices, lane, unknown);
}

void Accesses::store_lane(const Site& site, const std::vector<Value>& indices, int lane,
                          Scalar value) {
  const BufferNode& buffer = site.buffer;
  if (const Undefined u = undefined_among(indices, lane); u != 0) {
    return runner_.report_undefined(site.node, site.line, u,
                                    "the index into " + buffer.name + " is");
  }
  store_element(site, lane_of(indices, lane), value);
}

void Accesses::store_element(const Site& site, const Index& index, Scalar value) {
  const BufferNode& buffer = site.buffer;
  const auto name = [&] { return element_name(buffer, index); };
  if (!is_inside(site, index)) {
    return runner_.report(ReportKind::OutOfBounds, site.node, site.line, [&] {
      return outside_text(buffer, *site.binding.memory, index, runner_.state().logical);
    });
  }
  const Element place{name, coordinates(buffer, index)};
  note_access(site, place);
  write(site, place, value);
}

// -- Texels.

Value Accesses::load(const TextureLoad& n, const Scalar& x, const Scalar& y, Mask mask) {
  const Site site{&n, n.location, *n.texture, view_.of(*n.texture), false, n.type.element()};
  runner_.count_access(*n.texture, false);
  Value value{n.type, {}};
  const int64_t column = x.integer, row = y.integer;
  const Coordinates at = in_rectangle(site.binding, column, row);
  Undefined undefined = x.undefined != 0 ? x.undefined : y.undefined;
  const bool outside = !ir::is_inside(*n.texture, site.binding, at);
  // Outside an image of four channels, a read returns the border color of OpenCL, which is zero
  // (OpenCL C 1.2, 6.12.14.1.1).
  if (undefined == 0 && outside && n.texture->origin.exact_image) return value;
  if (undefined == 0 && outside) {
    undefined = runner_.note_undefined(&n, number_of(at), n.location, [&] {
      return outside_text(*n.texture, site.binding, column, row);
    });
  }
  if (undefined != 0) {
    for (int lane = 0; lane < kTexelLanes; ++lane) value.lanes[lane].undefined = undefined;
    return value;
  }
  const auto texel = [&] { return texel_name(*n.texture, column, row); };
  note_access(site, {texel, at});
  for (int lane = 0; lane < kTexelLanes; ++lane) {
    const auto name = [&] { return fmt::format("lane {} of {}", lane, texel()); };
    if (has_lane(mask, lane)) value.lanes[lane] = read(site, {name, {at.row, at.col, lane}});
  }
  return value;
}

void Accesses::store(const TextureStore& n, const Scalar& x, const Scalar& y, const Value& value) {
  const Site site{&n, n.location, *n.texture, view_.of(*n.texture), true, value.type.element()};
  runner_.count_access(*n.texture, true);
  for (const Scalar* coordinate : {&x, &y}) {
    if (const Undefined u = coordinate->undefined; u != 0) {
      return runner_.report_undefined(&n, n.location, u,
                                      "a coordinate of the store to " + n.texture->name + " is");
    }
  }
  const int64_t column = x.integer, row = y.integer;
  const Coordinates at = in_rectangle(site.binding, column, row);
  if (!ir::is_inside(*n.texture, site.binding, at)) {
    return runner_.report(ReportKind::OutOfBounds, &n, n.location,
                          [&] { return outside_text(*n.texture, site.binding, column, row); });
  }
  const auto texel = [&] { return texel_name(*n.texture, column, row); };
  note_access(site, {texel, at});
  for (int lane = 0; lane < kTexelLanes; ++lane) {
    const auto name = [&] { return fmt::format("lane {} of {}", lane, texel()); };
    write(site, {name, {at.row, at.col, lane}}, value.lanes[lane]);
  }
}

// -- One element of a memory object.

Scalar Accesses::read(const Site& site, const Element& place) {
  const Layout& layout = site.buffer.layout;
  const Binding& binding = site.binding;
  Scalar value =
      binding.memory->get(element_at({binding.memory.get(), binding.x, binding.y}, place.at));
  const auto note = [&](const char* what) {
    value.undefined = runner_.note_undefined(site.node, number_of(place.at), site.line,
                                             [&] { return place.name() + what; });
  };
  if (site.buffer.is_texture() && layout.padding == Padding::Undefined &&
      !holds_element(site.buffer, place.at)) {
    note(" is padding");
  } else if (value.undefined == kNeverWritten) {
    note(" was never written");
  }
  if (are_bits(site.buffer.type, site.type)) {
    value.integer = half_of_float(static_cast<float>(value.number));
  }
  return value;
}

void Accesses::write(const Site& site, const Element& place, Scalar value) {
  if (are_bits(site.buffer.type, site.type)) {
    value.number = float_of_half(static_cast<uint16_t>(value.integer));
  }
  const BufferNode& buffer = site.buffer;
  const Binding& binding = site.binding;
  const bool padding = buffer.is_texture() && !holds_element(buffer, place.at);
  if (padding && buffer.layout.padding == Padding::Zero) {
    const bool zero = value.undefined == 0 && value.integer == 0 && value.number == 0;
    if (!zero) {
      runner_.report(ReportKind::Padding, site.node, site.line, [&] {
        return place.name() +
               " is padding, which readers assume to be zero, but is not written as zero";
      });
    }
  } else if (!padding && binding.is_param && value.undefined != 0) {
    runner_.report_undefined(site.node, site.line, value.undefined, place.name() + " is given");
  }
  binding.memory->set(element_at({binding.memory.get(), binding.x, binding.y}, place.at), value);
}

// -- Other threads.

ObjectHistories* Accesses::histories(const BufferNode& buffer) const {
  switch (buffer.memory) {
    case MemoryScope::Global:
      return view_.launch;
    case MemoryScope::Shared:
      return view_.block;
    case MemoryScope::Local:
    case MemoryScope::Fragment:
      return nullptr;
  }
  TL_UNREACHABLE();
}

void Accesses::note_access(const Site& site, const Element& place) {
  ObjectHistories* const histories = this->histories(site.buffer);
  if (histories == nullptr) return;
  const Memory& memory = *site.binding.memory;
  const bool image = memory.is_image();
  if (image) note_image_use(site, place, *histories);
  // Reads of an image that the kernel also writes are reported by note_image_use, not as races.
  if (image && !site.writes) return;
  int64_t element =
      element_at({site.binding.memory.get(), site.binding.x, site.binding.y}, place.at);
  if (image) element /= kTexelLanes;
  AccessHistory& history = histories->of(memory);
  const Accessor self = runner_.accessor(site.line);
  const std::optional<Conflict> conflict =
      site.writes ? history.write(element, self) : history.read(element, self);
  if (!conflict) return;
  runner_.report(ReportKind::Race, site.node, site.line, [&] {
    const Accessor& other = conflict->earlier;
    return fmt::format(
        "{} is {} here and {} by {} ({}), {}", place.name(), site.writes ? "written" : "read",
        conflict->earlier_writes ? "written" : "read", to_string(other.id), line_text(*other.line),
        other.id.block == self.id.block ? "with no barrier between" : "which is in another block");
  });
}

void Accesses::note_image_use(const Site& site, const Element& place, ObjectHistories& histories) {
  ObjectHistories::ImageUse& use = histories.use_of(*site.binding.memory);
  const BufferNode*& mine = site.writes ? use.written : use.read;
  const BufferNode* other = site.writes ? use.read : use.written;
  SourceLocation& line = site.writes ? use.write_line : use.read_line;
  const SourceLocation& other_line = site.writes ? use.read_line : use.write_line;
  if (mine == nullptr) {
    mine = &site.buffer;
    line = runner_.line_of(site.line);
  }
  if (other == nullptr) return;
  runner_.report(ReportKind::ReadWriteImage, site.node, site.line, [&] {
    return fmt::format("{} is {} here, and this kernel {} {} in the same image ({})", place.name(),
                       site.writes ? "written" : "read", site.writes ? "reads" : "writes",
                       other->name, line_text(other_line));
  });
}

}  // namespace texloom::ir
