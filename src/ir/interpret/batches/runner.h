// Runs the code of nests, one batch of elements after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/interpret/batches/code.h"

namespace texloom::ir::batch {

// A row-major array. Arrays that nests compute own their bytes.
struct Array {
  const std::byte* bytes = nullptr;
  bool is_known = false;  // all elements are
  std::vector<std::byte> own = {};
};
using Arrays = std::unordered_map<const BufferNode*, Array>;

class Runner {
 public:
  Runner(Arrays& arrays, std::function<void()> interruption)
      : arrays_(arrays), interruption_(std::move(interruption)) {}

  // Computes the arrays that the nest stores to. False if an operation has no result: the
  // interpreter reports it, or leaves it undefined.
  bool run(const Code& code);

 private:
  // The values of a register; `stride` is 0 if all lanes have one value.
  struct Lanes {
    Cell* cells = nullptr;
    std::int64_t stride = 0;

    Cell& operator[](std::int64_t lane) const { return cells[lane * stride]; }
  };

  void prepare(const Code& code);
  void set_axes(const Code& code, std::int64_t first);
  void note_work(std::int64_t lanes);

  bool run_steps(const std::vector<Step>& steps);
  bool run_loop(const Loop& loop);
  void store(const StoreOwn& step);
  bool compute(const Instruction& step);
  bool compute_binary(const Instruction& step);
  bool compute_integers(const Instruction& step);
  bool compute_floats(const Instruction& step);
  bool compute_cast(const Instruction& step);
  bool load(const Instruction& step);
  void load_own(const Instruction& step);

  template <class F>
  bool each(const Instruction& step, const F& result_of);
  template <class F>
  void each_total(const Instruction& step, const F& result_of);
  bool is_active(const Instruction& step, std::int64_t lane) const;
  std::int64_t lanes_of(const Instruction& step) const;
  Lanes lanes(Register number) const;

  Arrays& arrays_;
  std::function<void()> interruption_;
  std::int64_t work_ = 0;   // lanes of lists of steps since the last interruption
  std::int64_t first_ = 0;  // the first element of the batch
  std::int64_t count_ = 0;  // its elements
  const Code* code_ = nullptr;
  std::vector<std::vector<Cell>> registers_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace texloom::ir::batch
