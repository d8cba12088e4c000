#include "tests/softmetal/compile/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace softmetal {
namespace {

std::atomic<uint64_t> count = 0;

// A pipe whose ends close at exec: several threads compile at a time, and must not inherit each
// other's pipes.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close_end(int i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
};

void read_both(Pipe& out, Pipe& errors, ProcessResult& result) {
  std::array<pollfd, 2> polls = {{{out.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&result.out, &result.errors};
  std::array<char, 65536> buffer;
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    if (::poll(polls.data(), polls.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      const ssize_t n = ::read(polls[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        texts[i]->append(buffer.data(), n);
      } else if (n == 0 || errno != EINTR) {
        polls[i].fd = -1;
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& folder) {
  ProcessResult result;
  Pipe out, errors;
  if (!out.open() || !errors.open()) {
    result.errors = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  out.close_end(1);
  errors.close_end(1);
  if (failed != 0) {
    result.errors = "cannot run " + arguments[0] + ": " + std::strerror(failed);
    return result;
  }
  ++count;
  read_both(out, errors, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

uint64_t processes_run() { return count; }

}  // namespace softmetal
