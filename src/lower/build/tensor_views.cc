#include "lower/build/tensor_views.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "ir/arith/modular.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/layout/strides.h"
#include "ir/program.h"
#include "schedule/operation/buffer_statement.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using schedule::TensorView;

namespace {

class Values {
 public:
  Values(const ViewParts& parts, const arith::Ranges& ranges, RefuseView refuse)
      : parts_(parts), ranges_(ranges), refuse_(refuse) {}

  void add(const TensorView& view) {
    const ViewPart& part = parts_.at(view.buffer.get());
    check_scope(view, *part.buffer);
    add_strides(view, *part.buffer);
    if (view.offset) add_offset(view, part);
    check_factor(view, part);
  }
  Substitution take() { return std::move(values_); }

 private:
  void check_scope(const TensorView& view, const BufferNode& b) const {
    if (!view.scope) return;
    const bool texture = view.scope->texture.has_value();
    if (b.memory == view.scope->memory && b.is_texture() == texture) return;
    refuse_(
        "move the tensor there with cache_read, cache_write or set_scope, or declare the buffer "
        "without a scope",
        fmt::format("the view '{}' is in '{}', but '{}' is in {}", view.buffer->name,
                    to_string(*view.scope), b.name,
                    b.is_texture() ? "a texture" : fmt::format("'{}'", to_string(b.memory))));
  }

  int64_t stride(const TensorView& view, const BufferNode& b, size_t axis) const {
    if (const auto found = stride_of(b, axis)) return *found;
    refuse_("keep it in a row-major buffer, or leave strides, elem_offset and offset_factor out",
            fmt::format("the view '{}' states strides or an offset, but '{}' is not an array of "
                        "constant strides",
                        view.buffer->name, b.name));
    TL_UNREACHABLE();
  }

  void add_strides(const TensorView& view, const BufferNode& b) {
    const size_t skipped = b.rank() - view.buffer->shape.size();
    for (size_t i = 0; i < view.strides.size(); ++i) {
      const Expr actual = make_int(stride(view, b, skipped + i));
      const Expr& said = view.strides[i];
      const Expr bound =
          as<Var>(said) != nullptr ? values_.try_emplace(said, actual).first->second : said;
      if (equal(bound, actual)) continue;
      refuse_("keep the tensor in a buffer with that stride, or declare the stride as a variable",
              fmt::format("axis {} of '{}' has the stride {}, but the view's stride is {}",
                          skipped + i, b.name, to_string(actual), to_string(bound)));
    }
  }

  void add_offset(const TensorView& view, const ViewPart& part) {
    const BufferNode& b = *part.buffer;
    if (b.rank() > 0 && stride(view, b, 0) > INT32_MAX / b.shape[0]) {
      refuse_("leave elem_offset out: indices of the view count from its own first element",
              fmt::format("the view '{}' may begin anywhere in '{}', which has more elements than "
                          "int32 can count",
                          view.buffer->name, b.name));
    }
    Expr offset = make_int(0);
    for (size_t i = 0; i < part.first.size(); ++i) {
      offset = offset + make_cast(kInt32, part.first[i]) * stride(view, b, i);
    }
    const Expr first = arith::simplify(offset, ranges_);
    if (equal(values_.try_emplace(view.offset, first).first->second, first)) return;
    refuse_("give each view its own variable for elem_offset",
            fmt::format("several views, among them '{}', share one offset variable but begin at "
                        "different elements",
                        view.buffer->name));
  }

  // The known remainder of an axis' stride, also for arrays whose size is known only at the call.
  arith::Modular remainder_of_stride(const TensorView& view, const BufferNode& b,
                                     size_t axis) const {
    if (!b.is_symbolic()) return arith::Modular::point(stride(view, b, axis));
    return row_major_stride(b.extents, axis, arith::Modular::point(1),
                            [&](arith::Modular stride, const Expr& extent) {
                              return stride * arith::modular(extent, ranges_);
                            });
  }

  void check_factor(const TensorView& view, const ViewPart& part) const {
    if (view.offset_factor == 1) return;
    arith::Modular first = arith::Modular::point(0);
    std::optional<size_t> doubtful;  // first axis along which the part may be misaligned
    for (size_t i = 0; i < part.first.size(); ++i) {
      const arith::Modular along =
          arith::modular(part.first[i], ranges_) * remainder_of_stride(view, *part.buffer, i);
      if (!doubtful && !along.is_multiple_of(view.offset_factor)) doubtful = i;
      first = first + along;
    }
    if (first.is_multiple_of(view.offset_factor)) return;
    refuse_(
        "split the axis by a multiple of the offset_factor, align rows by storage_align, or "
        "declare the buffer with offset_factor=1",
        fmt::format(
            "the view '{}' must begin at a multiple of {} elements, but its part of '{}' may "
            "begin elsewhere: along axis {}, it begins at index {}",
            view.buffer->name, view.offset_factor, part.buffer->name, *doubtful,
            to_string(part.first[*doubtful])));
  }

  const ViewParts& parts_;
  const arith::Ranges& ranges_;
  RefuseView refuse_;
  Substitution values_;
};

Expr moved_by(const Expr& index, const Expr& first, const arith::Ranges& ranges) {
  if (const auto* ramp = as<Ramp>(index)) {
    return make_ramp(moved_by(ramp->base, first, ranges), ramp->stride, ramp->type.lanes);
  }
  const Expr by = make_cast(index->type.element(), first);
  if (index->type.is_scalar()) return arith::simplify(by + index, ranges);
  return make_broadcast(by, index->type.lanes) + index;
}

}  // namespace

Substitution values_of_views(const schedule::TensorIntrinsicNode& intrinsic, const ViewParts& parts,
                             const arith::Ranges& ranges, RefuseView refuse) {
  Values values(parts, ranges, refuse);
  for (const auto* views : {&intrinsic.inputs, &intrinsic.outputs}) {
    for (const TensorView& view : *views) values.add(view);
  }
  return values.take();
}

Stmt with_parts(const Stmt& s, const ViewParts& parts, const arith::Ranges& ranges) {
  return schedule::with_places(
      s, [&](const Buffer& b, const Exprs& indices) -> schedule::ElementPlace {
        const auto part = parts.find(b.get());
        if (part == parts.end()) return {b, indices};
        Exprs to = part->second.first;
        const size_t skipped = to.size() - indices.size();
        for (size_t i = 0; i < indices.size(); ++i) {
          to[skipped + i] = moved_by(indices[i], to[skipped + i], ranges);
        }
        return {part->second.buffer, std::move(to)};
      });
}

}  // namespace texloom::lower
