// Plans texture memory: which image each tensor lies in, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/textures/bound.h"
#include "plan/textures/plan.h"
#include "plan/textures/problem.h"

namespace texloom::plan {

enum class TextureMode {
  Images,        // live tensors share images
  OnePerTensor,  // for comparison: an image for each tensor
  Grow,          // for comparison: images that hold one live tensor and grow when they are reused
};

inline constexpr std::int64_t kDefaultEffort = 100;
inline constexpr std::int64_t kMaxEffort = 1'000'000;

struct TextureOptions {
  TextureMode mode = TextureMode::Images;
  // Millions of steps, 1 to kMaxEffort. If nothing else ends the search, plans are reproducible.
  std::int64_t effort = kDefaultEffort;
  // Ends the search after this time. If a time is set, the plan may differ from run to run.
  std::optional<double> time_limit_s;
  // Called now and then; planning ends soon after the callback returns true, with the best plan so
  // far.
  std::function<bool()> canceled;
  // Whether operators, which the problem must list, may run in another order without breaking their
  // dependences.
  bool reorder = false;
};

// A proof that every plan takes at least `texels` texels of images of this format.
struct TextureBound {
  TextureProof::Kind kind = TextureProof::Kind::Live;
  std::string format;
  std::int64_t texels = 0;
  std::vector<std::int64_t> ids;  // the ids of the items of the proof
};

struct TextureResult {
  TexturePlan plan;
  // One for each format. Their sum is a lower bound of the texels of every plan of the problem;
  // with reordering, in every order.
  std::vector<TextureBound> bounds;
  std::int64_t lower_bound = 0;          // the sum of the bounds
  std::vector<std::int64_t> lost_exact;  // ids of exact items that lost their exact image
  // With reordering: the operators in the order in which they are to run.
  std::vector<std::int64_t> order;
  bool deterministic = true;
};

// Minimizes the texels of images, plus the costs of lost exact images. Returns InvalidArgument,
// with a line `help:`, for a problem that validate() refuses and for wrong options.
Result<TextureResult> plan_textures(const TextureProblem& problem, const TextureOptions& options);

// Only the bounds of the problem. `plan` is any plan of it; a good plan makes the search faster.
Result<std::vector<TextureBound>> bound_textures(const TextureProblem& problem,
                                                 const TexturePlan& plan,
                                                 const TextureOptions& options);

}  // namespace texloom::plan
