// The problem of texture planning: tensors with lifetimes, and the rules of the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/lifetime.h"
#include "support/status.h"

namespace texloom::plan {

// A tensor of `slices` planes of `height` by `width` texels. Folded by f, it takes `width * f` by
// `height * ceil(slices / f)` texels: f planes side by side, then the next f below them.
struct TextureItem {
  std::int64_t id = 0;  // unique within the problem, otherwise free
  Lifetime lifetime;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t slices = 1;
  std::string format = "rgba32float";
  // The tensor must have an image of exactly its extent, unfolded, and be alone in it while it is
  // live: then reads outside the image give the zeros of a convolution's padding.
  bool exact = false;
  // The cost, in texels, of losing the exact image. Without a cost, the image may not be lost.
  std::optional<std::int64_t> exact_cost;
};

// One step of the program, for reordering. `inputs` and `outputs` are ids of items. `after` lists
// indices of operators that must run earlier although no item shows this dependence.
struct TextureOperator {
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> outputs;
  std::vector<std::int64_t> after;
};

struct TextureProblem {
  std::vector<TextureItem> items;
  // Pairs of items, by id, that one operator reads and writes: they never share an image. The
  // inputs and outputs of an operator in `operators` never share an image either, even if no pair
  // lists them.
  std::vector<std::pair<std::int64_t, std::int64_t>> read_write;
  // Operator t runs at time t. Empty if the program's operators are unknown.
  std::vector<TextureOperator> operators;
  // Whether a kernel may read and write one image, so that items of a pair may share an image.
  bool read_write_may_share = false;
  std::int64_t max_width = 16384;  // the limits of an image, in texels
  std::int64_t max_height = 16384;
};

// The largest values that a problem may have. Sums of texels then fit in 64 bits.
inline constexpr std::int64_t kMaxTexels = std::int64_t{1} << 48;  // texels of the largest image
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;  // limits, extents and times
inline constexpr std::int64_t kMaxItems = 20'000;

// InvalidArgument, with a message that names the problem and a line `help:`, unless
//  * ids are unique, extents positive, lifetimes 0 <= first <= last;
//  * each tensor has a fold that the limits allow; a tensor that must stay exact fits unfolded;
//  * each pair has two different tensors of the problem that are live together;
//  * operators, if given, use known ids, use each item at its first and last time and at no time
//    outside, do not read what they write, write an item at one time at most and before it is read,
//    and come after the operators that they name.
Status validate(const TextureProblem& problem);

// The pairs of items of a valid problem that may not share an image: the listed pairs and those of
// the operators. A pair may occur several times.
std::vector<std::pair<std::int64_t, std::int64_t>> all_read_write(const TextureProblem& problem);

}  // namespace texloom::plan
