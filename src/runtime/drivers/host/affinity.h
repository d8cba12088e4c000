// The processors that threads may run on. Systems other than Linux choose them alone.
#pragma once

#include <array>

namespace texloom::hal::host {

// The system's number of the calling thread.
int current_thread();

// The processor that the calling thread is on; -1 if the system does not say.
int current_processor();

// A set of processors; empty if the system does not say which ones.
class Affinity {
 public:
  // The set of a thread of this process.
  static Affinity of(int thread);

  [[nodiscard]] Affinity without(int processor) const;
  [[nodiscard]] bool is_empty() const;

  // Lets a thread run on these processors alone; returns whether the system does.
  [[nodiscard]] bool apply_to(int thread) const;

 private:
  std::array<unsigned long, 128> bits_{};  // as the system's functions take them
};

}  // namespace texloom::hal::host
