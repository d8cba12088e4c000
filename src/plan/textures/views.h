// Plans textures that are views over buffers: each tensor has an image of its own, whose texels are
// a range of an arena.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/textures/planner.h"

namespace texloom::plan {

// Requirements of a device for images made from a buffer. Both alignments are in texels, as in
// OpenCL (cl_khr_image2d_from_buffer).
struct ViewRules {
  std::int64_t row_pitch_alignment = 64;
  std::int64_t base_alignment = 64;
  // Whether a kernel may read one view and write another view of the same arena. If not, the
  // tensors of a read_write pair lie in different arenas.
  bool one_arena = false;
};

struct ViewPlacement {
  std::int64_t id = 0;
  std::int64_t arena = 0;
  std::int64_t offset = 0;     // bytes
  std::int64_t row_pitch = 0;  // texels
  std::int64_t fold = 1;
  std::int64_t width = 0;
  std::int64_t height = 0;

  bool operator==(const ViewPlacement&) const = default;
};

struct ViewResult {
  std::vector<std::int64_t> arenas;       // bytes of each
  std::vector<ViewPlacement> placements;  // in the order of the items
  std::vector<std::int64_t> proof;        // ids of items, as in TextureBound
  TextureProof::Kind proof_kind = TextureProof::Kind::Live;
  std::int64_t lower_bound = 0;          // bytes
  std::vector<std::int64_t> lost_exact;  // as in TextureResult
  std::vector<std::int64_t> order;
  bool deterministic = true;

  std::int64_t bytes() const;
};

// The bytes of a texel of this format: 16 for "rgba32float". InvalidArgument if the name does not
// give the bits of a channel.
Result<std::int64_t> texel_bytes(const std::string& format);

// Each tensor takes the fold with the fewest bytes; an exact tensor that keeps its image is not
// folded. Sizes are rounded up so that all views begin at multiples of every base alignment.
// The mode in the options is not used. InvalidArgument as for plan_textures.
Result<ViewResult> plan_views(const TextureProblem& problem, const ViewRules& rules,
                              const TextureOptions& options);

}  // namespace texloom::plan
