#include "lower/build/stage_buffers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lower/build/argument_copies.h"
#include "lower/hints/nontemporal_stores.h"
#include "lower/schedule/double_buffers.h"
#include "schedule/attach.h"
#include "support/check.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

// Whether some texel consists of padding only.
bool has_whole_padding(Layout layout) {
  for (size_t i = 0; i < layout.shape.size(); ++i) layout.shape[i] = layout.extent_with_lanes(i);
  return layout.has_padding();
}

// Whether a layout with open extents has, for some extents, a texel that consists of padding only.
// The lane axis always ends within its last texel. Another axis may end inside its outermost digit,
// if its inner digits have a fixed number of values.
bool may_have_whole_padding(const Layout& layout) {
  const auto may_end_inside = [&](const LayoutPart& part) {
    return part.divisor > 1 && part.extent == kToTheEnd &&
           (layout.lane_axis() != part.axis || part.divisor != layout.lane_count());
  };
  Layout closed = layout;
  for (int64_t& extent : closed.shape) extent = std::max<int64_t>(extent, 1);
  for (LayoutParts* parts : {&closed.rows, &closed.cols}) {
    if (std::any_of(parts->begin(), parts->end(), may_end_inside)) return true;
    std::erase_if(*parts, [&](const LayoutPart& part) {
      return layout.shape[static_cast<size_t>(part.axis)] == kToTheEnd;
    });
  }
  const auto lanes = layout.lane_axis();
  if (lanes && layout.shape[static_cast<size_t>(*lanes)] == kToTheEnd)
    closed.shape[static_cast<size_t>(*lanes)] = layout.lane_count();
  return has_whole_padding(closed);
}

// Refuses layouts that stores cannot write: stores write only whole texels, and lanes past the last
// extent are zero.
void check_written_layout(const Stage& stage, Layout layout) {
  if (layout.object == MemoryObject::Image2d && !layout.lane_axis()) {
    fail(stage.scope_location, Code::BadLayout,
         "make the lanes the innermost digit of one axis, such as lanes=c%4",
         "'{}' is written a texel at a time, but the lanes of its layout are not four consecutive "
         "indices of one axis",
         stage.name());
  }
  if (layout.padding == Padding::Undefined) return;
  if (layout.is_open() ? !may_have_whole_padding(layout) : !has_whole_padding(layout)) return;
  fail(stage.scope_location, Code::BadLayout,
       "leave out padding=zero, or choose digits that divide their axes",
       "the layout of '{}' has padding that nothing writes, so it would not be zero", stage.name());
}

// Uses the layout that the user specified unchanged, or refuses it.
Layout stated_layout(const Stage& stage, const Shape& shape, const Target& target) {
  const std::vector<std::string>& names = stage.layout->names;
  Layout layout = layout_for(*stage.layout, shape);
  if (const auto problem = find_problem(layout, names)) {
    fail(stage.scope_location, Code::BadLayout, problem->help,
         "the layout of '{}' does not fit the part [{}] that is computed at a time: {}",
         stage.name(), fmt::join(shape, ", "), problem->text);
  }
  if (!stage.op->is_placeholder()) check_written_layout(stage, layout);
  if (layout.object != MemoryObject::Image2d || layout.is_open() || fits(layout, target.images()))
    return layout;
  const auto folded = best_fold(layout, target.images());
  fail(stage.scope_location, Code::TextureTooLarge,
       folded ? fmt::format("fold it: layout=\"{}\"", to_string(*folded, names))
              : std::string("keep the tensor in a buffer, or split it into several textures"),
       "the layout of '{}' has {} x {} texels, but the target allows {} x {}", stage.name(),
       layout.col_count(), layout.row_count(), target.images().max_width,
       target.images().max_height);
}

// Does not fold a layout with open extents: each call checks the size of its image.
Layout rule_layout(const Stage& stage, const Shape& shape, TextureRule rule, const Target& target) {
  const Layout natural = texture_layout(shape, rule);
  if (natural.is_open()) return natural;
  if (const auto fitting = best_fold(natural, target.images())) return *fitting;
  fail(stage.scope_location, Code::TextureTooLarge,
       "keep the tensor in a buffer, or split it into several textures",
       "'{}' needs {} x {} texels, and no fold fits the target's limit of {} x {}", stage.name(),
       natural.col_count(), natural.row_count(), target.images().max_width,
       target.images().max_height);
}

// Indices along an axis have 32 bits, offsets in the whole buffer 64 bits.
void check_size(const Stage& stage, const Shape& extents) {
  int128 elements = 1;
  for (const int64_t extent : extents) {
    elements *= extent;
    if (extent <= std::numeric_limits<int32_t>::max() && elements <= kMaxElements) continue;
    fail(stage.op->location, Code::IndexTooLarge,
         "split the tensor: an axis has fewer than 2^31 indices, a buffer at most 2^48 elements",
         "'{}' has too many elements", stage.name());
  }
}

// The smallest `more` >= 0 for which start + more * step equals `wanted` modulo the factor. Uses
// the extended Euclidean algorithm, because trying all values takes too long.
std::optional<int64_t> steps_to(int64_t start, int64_t step, int64_t wanted, int64_t factor) {
  // Invariant: step * inverse == common (mod factor).
  int64_t common = step % factor, rest = factor;
  int64_t inverse = 1, other = 0;
  while (rest != 0) {
    const int64_t quotient = common / rest;
    common = std::exchange(rest, common - quotient * rest);
    inverse = std::exchange(other, inverse - quotient * other);
  }
  const int64_t distance = ((wanted - start) % factor + factor) % factor;
  if (distance % common != 0) return std::nullopt;
  const int64_t period = factor / common;
  const int64_t more = distance / common % period * (inverse % period) % period;
  return more < 0 ? more + period : more;
}

// A row-major layout in which the aligned axes have the requested strides: the axis after each
// aligned axis is lengthened. An additional axis may precede the stage's own.
Layout aligned_layout(const Stage& stage, const Shape& shape) {
  const size_t first = shape.size() - stage.op->axes.size();
  Layout layout = linear_layout(shape);
  int64_t stride = 1;  // of the current axis
  for (size_t i = shape.size(); i-- > first;) {
    const IterVar& axis = stage.op->axes[i - first];
    const auto found = std::find_if(stage.alignments.begin(), stage.alignments.end(),
                                    [&](const Alignment& a) { return a.axis.same_as(axis); });
    if (found != stage.alignments.end()) {
      const bool last = i + 1 == shape.size();
      const int64_t step = last ? 1 : stride / layout.cols[i + 1].extent;
      const int64_t wanted = found->offset % found->factor;
      const auto more = steps_to(stride, step, wanted, found->factor);
      if (last && more != 0) {
        fail(found->location, Code::BadAlignment,
             "align the next outer axis, whose stride can be larger",
             "the axis '{}' of '{}' is the innermost: its stride is 1, not k * {} + {}",
             axis->name(), stage.name(), found->factor, found->offset);
      }
      if (!more) {
        fail(found->location, Code::BadAlignment,
             "align an inner axis as well, or choose a factor and an offset that fit the stride",
             "the stride of the axis '{}' of '{}' is a multiple of {} elements, which is never k * "
             "{} + {}",
             axis->name(), stage.name(), step, found->factor, found->offset);
      }
      if (*more > 0) layout.cols[i + 1].extent += *more;
      stride += *more * step;
    }
    stride *= shape[i];
  }
  return layout;
}

// The name and the element type of an output's buffer.
struct Contents {
  std::string name;
  Type type;
};

// Makes an array whose size is known only at the call: row-major, in global memory. No buffer of
// symbolic extents has a layout (find_problem).
Buffer make_symbolic_array(const Stage& stage, const Contents& contents, const StorageScope& scope,
                           const Exprs& extents) {
  TL_CHECK(!stage.layout);
  const auto& [name, type] = contents;
  std::string shape;
  for (const Expr& e : extents) shape += (shape.empty() ? "" : ", ") + to_string(e);
  if (scope.memory != MemoryScope::Global) {
    fail(stage.op->location, Code::BadShape,
         "split the loops of its reader by constants, and attach it to one of the outer loops",
         "the part of '{}' in {} memory is [{}], but its size must not depend on the call",
         stage.name(), to_string(scope.memory), shape);
  }
  if (!stage.alignments.empty()) {
    fail(stage.alignments.front().location, Code::BadAlignment,
         "give its extents as constants, or leave storage_align out",
         "'{}' is [{}], but only an array of constant extents can be aligned", stage.name(), shape);
  }
  return make_array(name, type, extents, stage.op->location);
}

TextureOrigin origin_for(const std::string& name, const Argument* argument) {
  TextureOrigin origin;
  if (argument == nullptr || !argument->declaration) return origin;
  origin.exact_image = argument->declaration->exact_image;
  if (argument->declaration->has_origin) origin = {make_var(name + ".x"), make_var(name + ".y")};
  return origin;
}

// `argument` is set if the buffer is the caller's, which is row-major even if storage_align asks
// otherwise.
Buffer make_temporal_buffer(const Stage& stage, const Contents& contents, const StorageScope& scope,
                            const Exprs& extents, const Argument* argument, const Target& target) {
  const auto& [name, type] = contents;
  const Shape shape = open_shape(extents);
  const bool open = std::find(shape.begin(), shape.end(), kToTheEnd) != shape.end();
  if (open && !scope.texture) return make_symbolic_array(stage, contents, scope, extents);
  if (!open) check_size(stage, shape);
  const Layout layout = stage.layout    ? stated_layout(stage, shape, target)
                        : scope.texture ? rule_layout(stage, shape, *scope.texture, target)
                        : argument      ? linear_layout(shape)
                                        : aligned_layout(stage, shape);
  if (!scope.texture) {
    const bool is_fragment = scope.memory == MemoryScope::Fragment;
    return make_buffer_with_layout(name, type, layout, scope.memory,
                                   is_fragment ? stage.scope_location : stage.op->location);
  }
  if (!open) check_size(stage, {layout.row_count(), layout.col_count()});
  return make_symbolic_texture(name, type, extents, layout, origin_for(name, argument),
                               stage.scope_location);
}

Buffer make_stage_buffer(const Stage& stage, const Contents& contents, const StorageScope& scope,
                         const Exprs& extents, const Argument* argument, const Target& target) {
  const Buffer own = make_temporal_buffer(stage, contents, scope, extents, argument, target);
  return stores_past_caches(stage, scope, target) ? make_nontemporal(*own) : own;
}

// Makes a row-major parameter that is not the buffer of any stage.
Buffer separate_buffer(const Argument& argument) {
  const Tensor& t = argument.tensor;
  const bool named = argument.declaration && !argument.declaration->name.empty();
  return make_array(named ? argument.declaration->name : t->name, t->type,
                    extents_of(t->shape, t->name, t->location), t->location);
}

// The inits, the updates and the states of a scan all share the buffers of its results.
void share_results(const Schedule& s, const Stage& scan, StageBuffers& buffers) {
  for (size_t i = 0; i < scan.op->states.size(); ++i) {
    const ScanState& state = scan.op->states[i];
    const Buffer& result = buffers.of_stage[static_cast<size_t>(scan.id)][i];
    for (const Tensor& t : {state.init, state.update, state.state}) {
      const auto id = static_cast<size_t>(s.producer(t));
      buffers.of_stage[id][static_cast<size_t>(t->output)] = result;
    }
    buffers.begun_by.emplace(result.get(), s.producer(state.init));
  }
}

// Makes the buffers of a stage that are neither parameters nor shared with another stage.
void make_own_buffers(const Lowering& lowering, const Stage& stage, const Bounds& bounds,
                      StageBuffers& buffers) {
  const Schedule& s = lowering.schedule;
  Exprs shape = bounds.of(stage.id).buffer_extent;
  if (has_two_buffers(s, stage.id)) shape.insert(shape.begin(), make_int(2));
  for (const Tensor& t : outputs_of(stage.op)) {
    if (!stage.op->is_compute()) shape = extents_of(t->shape, stage.name(), stage.op->location);
    Buffer& own = buffers.of_stage[static_cast<size_t>(stage.id)][static_cast<size_t>(t->output)];
    if (own) continue;
    own = make_stage_buffer(stage, {t->name, t->type}, scope_of(s, stage.id), shape, nullptr,
                            lowering.target);
  }
}

}  // namespace

bool StageBuffers::begins(StageId id, const Buffer& buffer) const {
  const auto found = begun_by.find(buffer.get());
  return found == begun_by.end() || found->second == id;
}

bool StageBuffers::is_param(const Buffer& buffer) const {
  return std::any_of(params.begin(), params.end(),
                     [&](const Buffer& b) { return b.same_as(buffer); });
}

std::optional<StageId> StageBuffers::stage_of(const Buffer& buffer) const {
  const auto found = std::find_if(of_stage.begin(), of_stage.end(), [&](const auto& own) {
    return std::any_of(own.begin(), own.end(), [&](const Buffer& b) { return b.same_as(buffer); });
  });
  if (found == of_stage.end()) return std::nullopt;
  return static_cast<StageId>(found - of_stage.begin());
}

StageBuffers make_stage_buffers(const Lowering& lowering, const Bounds& bounds) {
  const Schedule& s = lowering.schedule;
  StageBuffers buffers;
  for (size_t id = 0; id < s.order().size(); ++id) {
    buffers.of_stage.emplace_back(s.stage(static_cast<StageId>(id)).op->types.size());
  }
  buffers.copies = buffers.of_stage;
  for (const Argument& argument : lowering.arguments) {
    const auto id = s.find(operation_of(argument.tensor));
    const auto output = static_cast<size_t>(argument.tensor->output);
    if (!id || !lies_in_array(s, s.stage(*id))) {
      buffers.params.push_back(separate_buffer(argument));
      if (id) buffers.copies[static_cast<size_t>(*id)][output] = buffers.params.back();
      continue;
    }
    const Stage& stage = s.stage(*id);
    Contents contents{output_of(stage.op, output)->name, argument.tensor->type};
    if (argument.declaration && !argument.declaration->name.empty()) {
      contents.name = argument.declaration->name;
    }
    const Buffer buffer =
        make_stage_buffer(stage, contents, stage.scope.value_or(StorageScope{}),
                          extents_of(argument.tensor->shape, stage.name(), stage.op->location),
                          &argument, lowering.target);
    buffers.of_stage[static_cast<size_t>(*id)][output] = buffer;
    buffers.params.push_back(buffer);
  }
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    if (!stage.op->is_scan()) continue;
    make_own_buffers(lowering, stage, bounds, buffers);
    share_results(s, stage, buffers);
  }
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const bool needed = stage.attachment.kind != AttachKind::Inline && !stage.op->is_placeholder();
    if (needed) make_own_buffers(lowering, stage, bounds, buffers);
  }
  return buffers;
}

std::vector<Layout> array_layouts(const Lowering& lowering, const StageBuffers& buffers) {
  std::vector<Layout> layouts;
  for (size_t i = 0; i < buffers.params.size(); ++i) {
    const auto id = lowering.schedule.find(operation_of(lowering.arguments[i].tensor));
    const Stage* stage = id ? &lowering.schedule.stage(*id) : nullptr;
    const bool own = stage != nullptr && lies_in_array(lowering.schedule, *stage);
    if (!own || !stage->transform) {
      layouts.push_back(buffers.params[i]->layout);
      continue;
    }
    const StorageScope scope = stage->scope.value_or(StorageScope{});
    layouts.push_back(transformed_layout(*stage->transform, scope, stage->name()).array);
  }
  return layouts;
}

}  // namespace texloom::lower
