// Makes the images of a packing smaller: items that no longer fit move, and displace other items.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/textures/instance.h"
#include "plan/textures/packing.h"
#include "plan/textures/random.h"

namespace texloom::plan {

// Cuts rows off one image at a time. The items that lay in these rows are placed elsewhere. An item
// without room replaces the items whose removal costs least; the cost of an item grows each time it
// finds no room (guided ejection: Nagata and Bräysy, A powerful route minimization heuristic for
// the vehicle routing problem with time windows, 2009).
class Repairer {
 public:
  // `packing` has a place for each item. The instance must outlive the repairer.
  Repairer(const TextureInstance& instance, Packing packing, std::uint64_t seed);

  // Makes the packing smaller until it has at most `goal` texels, `steps` steps are taken or
  // `is_over` returns true. A step examines one rectangle.
  void run(std::int64_t goal, std::int64_t steps, const std::function<bool()>& is_over);

  const Packing& best() const { return best_; }
  std::int64_t steps() const { return steps_; }  // the sum over all runs

 private:
  struct Spot {
    PackedItem place;
    double cost = 0;  // the cost of removing the items that overlap the place
  };

  std::int64_t cut(std::int64_t goal);
  bool repair(std::int64_t stop, const std::function<bool()>& is_over);
  bool insert_freely(int item);
  bool try_freely(int item, int image, Spot& best);
  void insert_by_force(int item);
  void try_by_force(int item, int image, Spot& best);
  double cost_at(const PackedItem& place, double cost, double most) const;
  void find_neighbors(int item, int image);
  void find_columns(const FoldedExtent& extent, const PackedImage& image);
  void find_rows(const FoldedExtent& extent, const PackedImage& image);
  void put(int item, const PackedItem& place);
  void remove(int item);
  void take(int item);
  void keep();
  void undo();
  std::int64_t texels() const;

  const TextureInstance& instance_;
  Packing now_;                             // may lack places; image heights are limits
  Packing best_;                            // has a place for each item
  std::vector<std::vector<int>> contents_;  // the items of each image
  std::vector<std::size_t> index_;          // each item's index in the contents of its image
  std::vector<int> waiting_;                // items without a place
  std::vector<int> changed_;                // items whose place may differ from the best one
  std::vector<double> cost_;                // by item: the cost of removing it
  std::vector<int> neighbors_;              // the neighbors of the current item
  double cost_of_apart_ = 0;  // the cost of removing items that may not share its image
  std::vector<std::int64_t> columns_;
  std::vector<std::int64_t> rows_;
  Random random_;
  std::int64_t steps_ = 0;
};

}  // namespace texloom::plan
