// Checks that accesses are proven to be inside of their buffers, for ir/verify/verify.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "ir/program.h"
#include "ir/verify/verify_bounds.h"
#include "ir/verify/verify_scope.h"
#include "ir/verify/violations.h"
#include "ir/visit.h"

namespace texloom::ir {

// Where an access is.
struct AccessPlace {
  bool logical = false;  // one index for each axis, not one offset
  bool guarded = false;  // under a condition: proofs do not use it, so the access is not checked
};

class AccessChecks {
 public:
  // Refers to all arguments. Asks for proofs only if `needs_proofs`.
  AccessChecks(const BoundsProof& bounds, const VerifyScope& scope, bool needs_proofs,
               Violations& found)
      : bounds_(bounds), scope_(scope), needs_proofs_(needs_proofs), found_(found) {}

  template <class Node>
  void element(const Ref<Node>& node, const Buffer& buffer, const Exprs& indices,
               AccessPlace at) const {
    if (buffer->is_texture() && !at.logical) {
      found_.add(Rule::Textures, node, "the texture {} is accessed like a buffer", buffer->name);
    }
    // The size is known only at the call.
    if (buffer->is_symbolic()) return;
    if (at.logical) {
      const size_t axes = std::min(indices.size(), buffer->shape.size());
      for (size_t i = 0; i < axes; ++i) {
        // The last texel may be accessed as a whole even if it is only partly filled.
        const int64_t extent = buffer->layout.extent_with_lanes(i);
        if (is_outside(indices[i], extent, at)) {
          found_.add_index(node, {text_of(indices[i]), buffer->name, i, extent});
        }
      }
    } else if (!indices.empty()) {
      inside(node, indices.front(), buffer->layout.col_count(), buffer->name, at);
    }
  }

  template <class Node>
  void texel(const Ref<Node>& node, const Buffer& texture, const Expr& x, const Expr& y,
             AccessPlace at) const {
    if (!texture->is_texture()) {
      found_.add(Rule::Textures, node, "the buffer {} is accessed like a texture", texture->name);
    }
    if (texture->is_symbolic()) return;
    const auto within_rectangle = [&](const Expr& coordinate, const Expr& origin) {
      return origin ? coordinate - make_cast(coordinate->type, origin) : coordinate;
    };
    const TextureOrigin& origin = texture->origin;
    inside(node, within_rectangle(x, origin.x), texture->layout.col_count(), texture->name, at);
    inside(node, within_rectangle(y, origin.y), texture->layout.row_count(), texture->name, at);
  }

  template <class Node>
  void inside(const Ref<Node>& node, const Expr& index, int64_t extent, std::string_view what,
              AccessPlace at) const {
    if (!is_outside(index, extent, at)) return;
    found_.add(Rule::Bounds, node, "{} is not proven to lie in 0..{} of {}", text_of(index), extent,
               what);
  }

 private:
  // Whether the index is not proven to be inside, although a proof is needed.
  bool is_outside(const Expr& index, int64_t extent, AccessPlace at) const {
    if (at.guarded || !needs_proofs_ || bounds_.inside(index, extent)) return false;
    bool defined = true;  // an undefined variable has been reported as the fault already
    walk(index, [&](const Var& v) { defined = defined && scope_.contains(&v); });
    return defined;
  }

  const BoundsProof& bounds_;
  const VerifyScope& scope_;
  const bool needs_proofs_;
  Violations& found_;
};

}  // namespace texloom::ir
