#include "lower/loops/flatten_storage.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/build/type_rules.h"
#include "ir/layout/strides.h"
#include "ir/visit.h"
#include "lower/analysis/loop_ranges.h"
#include "lower/loops/lanes.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The position of one element in memory, as expressions over the loop variables.
struct ElementPosition {
  Expr row, col, lane;
};

// The value of the index expression in 64 bits. Index arithmetic does not wrap, so computing its
// sums in 64 bits gives the same result.
Expr widened(const Expr& e) {
  const auto* n = as<Binary>(e);
  const bool sum =
      n != nullptr && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub || n->op == BinaryOp::Mul);
  if (!sum || arith::reads_memory(e)) return make_cast(kInt64, e);
  return make_binary(n->op, widened(n->a), widened(n->b));
}
Expr as_index(const Expr& e, Type type) {
  if (e->type == type) return e;
  return type == kInt64 ? widened(e) : make_cast(type, e);
}

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

class Flattener {
 public:
  explicit Flattener(arith::Ranges ranges) : ranges_(std::move(ranges)), shared_(ranges_) {}

  Expr load(const Load& n) {
    if (!n.buffer->is_texture()) {
      return make_load(n.buffer, {offset_of(*n.buffer, n.indices)}, n.location);
    }
    const std::vector<ElementPosition> positions = positions_of(*n.buffer, n.indices);
    if (is_whole_texel(positions)) return texel(n, positions.front());
    Exprs lanes;
    for (const ElementPosition& position : positions)
      lanes.push_back(make_lane(texel(n, position), position.lane));
    return make_pack(std::move(lanes));
  }

  // The element may be outside of the buffer, so its offset is a sum with as many bits as needed.
  Stmt prefetch(const Prefetch& n) {
    const auto offset = [&](Type type) {
      Expr sum = make_int(0, type);
      for (size_t i = 0; i < n.indices.size(); ++i)
        sum = sum + as_index(n.indices[i], type) * stride_along(*n.buffer, i, type);
      return simple(sum);
    };
    return make_prefetch(n.buffer, {offset(kInt64)}, n.location);
  }

  Stmt store(const Store& n) {
    if (!n.buffer->is_texture()) {
      return make_store(n.buffer, {offset_of(*n.buffer, n.indices)}, n.value, n.location);
    }
    const std::vector<ElementPosition> positions = positions_of(*n.buffer, n.indices);
    if (!is_whole_texel(positions)) {
      fail(n.location, Code::LanesSplitOverThreads,
           "split a loop of extent 4 from the lane axis, make it the innermost loop and leave it "
           "unbound: it is vectorized automatically",
           "'{}' is written in parts of texels, but a texture store writes all four lanes",
           n.buffer->name);
    }
    const auto [x, y] = coordinates(*n.buffer, positions.front());
    return make_texture_store(n.buffer, x, y, n.value, n.location);
  }

  // The box becomes the span of the array from the first element of the box to its last.
  Expr pointer(const Pointer& n) {
    const auto span = [&](Type type) {
      Expr first = make_int(0, type), last = make_int(0, type);
      for (size_t i = 0; i < n.indices.size(); ++i) {
        const Expr stride = stride_along(*n.buffer, i, type);
        first = first + as_index(n.indices[i], type) * stride;
        last = last + (as_index(n.extents[i], type) - 1) * stride;
      }
      return std::pair{simple(first), simple(last + 1)};
    };
    const bool narrow =
        n.buffer->is_symbolic() || arith::bounds(span(kInt64).first, ranges_).within(0, kMaxInt32);
    const auto [first, extent] = span(narrow ? kInt32 : kInt64);
    return make_pointer(n.access, n.buffer, {first}, {extent}, n.offset, n.location);
  }

 private:
  static Expr stride_along(const BufferNode& buffer, size_t axis, Type type) {
    if (!buffer.is_symbolic()) return make_int(*stride_of(buffer, axis), type);
    return row_major_stride(
        buffer.extents, axis, make_int(1, type),
        [type](const Expr& stride, const Expr& extent) { return stride * as_index(extent, type); });
  }

  Expr simple(const Expr& e) { return shared_.simplify(e); }

  std::vector<ElementPosition> positions_of(const BufferNode& buffer, const Exprs& indices) {
    return positions_of(buffer, indices, access_lanes(indices));
  }

  // The positions of the first lanes of the access. Lanes share the coordinates that are equal for
  // all lanes.
  std::vector<ElementPosition> positions_of(const BufferNode& buffer, const Exprs& indices,
                                            int lanes) {
    std::vector<ElementPosition> positions;
    Exprs scalars(indices.size());
    for (int lane = 0; lane < lanes; ++lane) {
      for (size_t i = 0; i < indices.size(); ++i) {
        if (lane == 0 || !indices[i]->type.is_scalar()) {
          scalars[i] = simple(lane_of(indices[i], lane));
        }
      }
      if (buffer.is_symbolic() && !buffer.is_texture()) {
        positions.push_back({make_int(0), row_major(buffer.extents, scalars), make_int(0)});
        continue;
      }
      const auto differs = [&](const LayoutPart& part) {
        return !indices[static_cast<size_t>(part.axis)]->type.is_scalar();
      };
      const auto number_in_lane = [&](const LayoutParts& parts, Expr ElementPosition::* member) {
        const bool shared = lane > 0 && std::none_of(parts.begin(), parts.end(), differs);
        return shared ? positions.front().*member : number(buffer, parts, scalars);
      };
      positions.push_back({number_in_lane(buffer.layout.rows, &ElementPosition::row),
                           number_in_lane(buffer.layout.cols, &ElementPosition::col),
                           number_in_lane(buffer.layout.lanes, &ElementPosition::lane)});
    }
    return positions;
  }

  // The row-major offset, in 32 bits: an array of symbolic extents has at most 2^30 elements
  // (ir/program.h).
  Expr row_major(const Exprs& extents, const Exprs& indices) {
    Expr offset = make_int(0);
    for (size_t i = 0; i < extents.size(); ++i) {
      offset = offset * extents[i] + as_index(indices[i], kInt32);
    }
    return simple(offset);
  }

  // The mixed-radix number of the parts (ir/layout/layout.h), in 32 bits if that is known to
  // suffice: for all elements of the buffer, or at least for this access. A texture of symbolic
  // extents has at most 2^30 elements (ir/program.h).
  Expr number(const BufferNode& buffer, const LayoutParts& parts, const Exprs& indices) {
    const Layout& layout = buffer.layout;
    Exprs digits;
    for (const LayoutPart& part : parts) {
      const auto axis = static_cast<size_t>(part.axis);
      Expr digit = floordiv(indices[axis], part.divisor);
      // A guard may keep an index below its extent even if no range proves it. The remainder still
      // makes the lane constant.
      if (!is_outermost(part, layout.shape) || &parts == &layout.lanes) {
        digit = floormod(digit, part.extent);
      }
      digits.push_back(std::move(digit));
    }
    if (buffer.is_symbolic() || are_narrow(parts)) return combined(buffer, parts, digits, kInt32);
    const Expr wide = combined(buffer, parts, digits, kInt64);
    const bool narrow = arith::bounds(wide, ranges_).within(0, kMaxInt32);
    return narrow ? combined(buffer, parts, digits, kInt32) : wide;
  }

  // Whether 32 bits suffice for all numbers of the parts.
  static bool are_narrow(const LayoutParts& parts) {
    int128 numbers = 1;
    for (const LayoutPart& part : parts) numbers *= part.extent;
    return numbers - 1 <= kMaxInt32;
  }

  Expr combined(const BufferNode& buffer, const LayoutParts& parts, const Exprs& digits,
                Type type) {
    Expr result = make_int(0, type);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Expr extent = parts[i].extent == kToTheEnd ? extent_of(buffer, parts[i])
                                                       : make_int(parts[i].extent, type);
      result = result * extent + as_index(digits[i], type);
    }
    return simple(result);
  }

  // One offset, a ramp of offsets with one stride, or a vector of single offsets.
  Expr offset_of(const BufferNode& buffer, const Exprs& indices) {
    const int lanes = access_lanes(indices);
    const auto known_stride = lanes == 1 ? std::nullopt : stride_of_lanes(buffer, indices);
    const auto positions = positions_of(buffer, indices, known_stride ? 1 : lanes);
    if (known_stride) {
      const Expr& first = positions.front().col;
      return make_ramp(first, make_int(*known_stride, first->type), lanes);
    }
    if (positions.size() == 1) return positions.front().col;
    const bool wide =
        std::any_of(positions.begin(), positions.end(),
                    [](const ElementPosition& position) { return position.col->type == kInt64; });
    Exprs offsets;
    for (const ElementPosition& position : positions)
      offsets.push_back(as_index(position.col, wide ? kInt64 : kInt32));
    const Expr& first = offsets.front();
    const auto stride = shared_.constant_difference(offsets[1], first);
    bool regular = stride.has_value();
    for (size_t i = 2; i < offsets.size(); ++i) {
      const auto distance = shared_.constant_difference(offsets[i], first);
      regular = regular && distance == static_cast<int64_t>(i) * *stride;
    }
    if (!regular) return make_pack(std::move(offsets));
    return make_ramp(first, make_int(*stride, first->type), static_cast<int>(offsets.size()));
  }

  // The distance between the offsets of neighboring lanes, where no simplification is needed to
  // find it: the indices of lanes are ramps along axes that the layout does not cut. Most accesses
  // are like this, and their lanes are many.
  static std::optional<int64_t> stride_of_lanes(const BufferNode& buffer, const Exprs& indices) {
    if (buffer.is_symbolic() || !are_narrow(buffer.layout.cols)) return std::nullopt;
    int64_t stride = 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i]->type.is_scalar()) continue;
      const auto* ramp = as<Ramp>(indices[i]);
      if (ramp == nullptr || ramp->base->type != kInt32) return std::nullopt;
      const int64_t* step = int_value(ramp->stride);
      const auto distance = stride_of_whole_axis(buffer.layout, static_cast<int>(i));
      if (step == nullptr || !distance) return std::nullopt;
      stride += *step * *distance;
    }
    return stride;
  }

  // The distance in elements between neighbors along an axis; nullopt if the layout cuts the axis.
  static std::optional<int64_t> stride_of_whole_axis(const Layout& layout, int axis) {
    int64_t stride = 1;
    for (auto part = layout.cols.rbegin(); part != layout.cols.rend(); ++part) {
      if (part->axis == axis) {
        const bool is_whole = part->divisor == 1 && is_outermost(*part, layout.shape);
        return is_whole ? std::optional(stride) : std::nullopt;
      }
      stride *= part->extent;
    }
    return std::nullopt;
  }

  bool is_whole_texel(const std::vector<ElementPosition>& positions) {
    if (positions.size() != kTexelLanes) return false;
    for (size_t i = 0; i < positions.size(); ++i) {
      const bool same_texel =
          shared_.constant_difference(positions[i].row, positions[0].row) == 0 &&
          shared_.constant_difference(positions[i].col, positions[0].col) == 0;
      if (!same_texel || !is_int(positions[i].lane, static_cast<int64_t>(i))) return false;
    }
    return true;
  }

  static std::pair<Expr, Expr> coordinates(const BufferNode& texture,
                                           const ElementPosition& position) {
    if (texture.origin.is_zero()) return {position.col, position.row};
    const auto moved = [](const Expr& e, const Expr& by) { return e + as_index(by, e->type); };
    return {moved(position.col, texture.origin.x), moved(position.row, texture.origin.y)};
  }

  static Expr texel(const Load& n, const ElementPosition& position) {
    const auto [x, y] = coordinates(*n.buffer, position);
    return make_texture_load(n.buffer, x, y, n.location);
  }

  const arith::Ranges ranges_;
  arith::Simplification shared_;  // indices of different accesses share most of their parts
};

}  // namespace

void flatten_storage(Lowering& lowering) {
  Stmt& body = lowering.program.body;
  Flattener flattener(loop_ranges(body));
  body = rewrite(
      body, [&](const Load& n, const Expr&) { return flattener.load(n); },
      [&](const Pointer& n, const Expr&) { return flattener.pointer(n); },
      [&](const Prefetch& n, const Stmt&) { return flattener.prefetch(n); },
      [&](const Store& n, const Stmt&) { return flattener.store(n); });
}

}  // namespace texloom::lower
