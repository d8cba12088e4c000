// The invocations of a choice, in order: nodes, and the conversions before them.
#pragma once

#include <optional>
#include <vector>

#include "graph/scopes/offers.h"

namespace texloom::graph {

struct Invocation {
  std::optional<std::size_t> node = {};  // nullopt for a conversion
  std::vector<StoredTensor> reads, writes;
};

struct Invocations {
  std::vector<Invocation> list;      // leaves out concatenations and views in place
  std::vector<const Offer*> offers;  // for each node, the chosen offer
  // For each tensor that is computed or an input: its first storage.
  std::vector<std::size_t> stored;
  // A part of a concatenation in place, or a view: the tensor that contains it, and its place.
  struct Part {
    StoredTensor part, whole;
    PartPlace place;
  };
  std::vector<Part> parts;

  // The tensor whose memory a tensor uses: for a part, the whole; else the tensor itself.
  StoredTensor owner_of(const StoredTensor& tensor) const;
};

// `offers` must outlive the result. A conversion runs right before the first node that needs it.
Invocations invocations_of(const Graph& graph, const Offers& offers, const Choice& choice);

}  // namespace texloom::graph
