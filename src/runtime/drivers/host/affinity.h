// The processors that threads may run on. Systems other than Linux choose them alone.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace texloom::hal::host {

// A set of processors.
class Affinity {
 public:
  // That of the calling thread; empty if the system does not say.
  static Affinity of_this_thread();

  // Keeps a thread off the processor that the calling thread is on, if the set has others.
  //
  // A system may wake a thread up on the busy processor of the thread that wakes it, although
  // others are idle (Linux: others that share no cache with it), and move it milliseconds later.
  void keep_off_this_processor(std::thread& thread) const;

  // Lets the calling thread run on all processors of the set again.
  void restore() const;

 private:
  std::vector<std::byte> set_;  // as the system's functions take it
};

}  // namespace texloom::hal::host
