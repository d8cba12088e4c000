// What a choice runs, in order: nodes and the conversions before them.
#pragma once

#include <optional>
#include <vector>

#include "graph/scopes/offers.h"

namespace texloom::graph {

struct Invocation {
  std::optional<std::size_t> node = {};  // nullopt: a conversion
  std::vector<StoredTensor> reads, writes;
};

struct Invocations {
  std::vector<Invocation> list;      // concatenations and views in place are not among them
  std::vector<const Offer*> offers;  // by node, the chosen one
  // By tensor that is computed or an input: the storage in which it is first stored.
  std::vector<std::size_t> stored;
  // Parts of concatenations in place, and views: each is in a whole, at a place.
  struct Part {
    StoredTensor part, whole;
    PartPlace place;
  };
  std::vector<Part> parts;

  // The tensor that its memory belongs to: the whole of a part, else itself.
  StoredTensor owner_of(const StoredTensor& tensor) const;
};

// `offers` must outlive the result. A conversion runs right before the first node that wants it.
Invocations invocations_of(const Graph& graph, const Offers& offers, const Choice& choice);

}  // namespace texloom::graph
