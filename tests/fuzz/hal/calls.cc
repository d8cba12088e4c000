#include "tests/fuzz/hal/calls.h"

#include <array>

namespace texloom::hal::fuzz {
namespace {

struct Row {
  unsigned weight;
  void (*draw)(World& world);
};

void draw_comparison(World& world) {
  world.settle();
  world.compare();
}

constexpr std::array kRows = {
    Row{5, draw_create_buffer},
    Row{2, draw_import},
    Row{3, draw_subspan},
    Row{4, draw_create_texture},
    Row{3, draw_create_view},
    Row{3, draw_release_object},
    Row{2, draw_residency},
    Row{3, draw_map},
    Row{4, draw_use_mapping},
    Row{2, draw_release_mapping},
    Row{3, draw_create_executable},
    Row{1, draw_use_executable},
    Row{6, draw_create_commands},
    Row{22, draw_record},
    Row{22, draw_copy},
    Row{24, draw_dispatch},
    Row{14, draw_finish},
    Row{20, draw_submit},
    Row{1, draw_create_queue},
    Row{1, draw_release_queue},
    Row{3, draw_wait_idle},
    Row{3, draw_create_semaphore},
    Row{5, draw_signal},
    Row{4, draw_wait},
    Row{2, draw_when_reached},
    Row{1, draw_release_semaphore},
    Row{3, draw_acquire},
    Row{4, draw_use_lease},
    Row{3, draw_release_lease},
    Row{1, draw_pool_control},
    Row{3, draw_transfer},
    Row{1, draw_registry},
    Row{1, draw_profile},
    Row{1, draw_grid},
    Row{2, draw_comparison},
};

constexpr unsigned total_weight() {
  unsigned total = 0;
  for (const Row& row : kRows) total += row.weight;
  return total;
}

}  // namespace

void draw_call(World& world) {
  auto rest = static_cast<unsigned>(world.random.below(total_weight()));
  for (const Row& row : kRows) {
    if (rest < row.weight) return row.draw(world);
    rest -= row.weight;
  }
}

}  // namespace texloom::hal::fuzz
