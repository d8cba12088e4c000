#include "runtime/hal/queue.h"

#include <system_error>
#include <utility>

#include "runtime/hal/internal/submission/exit_handlers.h"
#include "runtime/hal/internal/submission/queue_state.h"

namespace texloom::hal {

Result<std::shared_ptr<Queue>> Queue::create(std::shared_ptr<const DeviceInfo> device_info,
                                             std::unique_ptr<QueueBackend> backend,
                                             std::shared_ptr<Profile> profile) {
  auto state = std::make_shared<State>(device_info, std::move(backend), std::move(profile));
  std::shared_ptr<Queue> queue(new Queue(std::move(device_info), state));
  try {
    queue->threads_.emplace_back([state] { state->start_all(); });
    queue->threads_.emplace_back([state] { state->complete_all(); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::Unavailable, "cannot create a thread for a queue: {}",
                      error.what());
  }
  call_at_exit(state, [state = state.get()] { state->stop_and_wait(); });
  return queue;
}

Queue::~Queue() {
  state_->stop();
  // A thread cannot join itself.
  const bool is_working = state_->is_working();
  for (std::thread& thread : threads_) is_working ? thread.detach() : thread.join();
}

// Checks a submission, and numbers its tables.
Status Queue::check(Submission& submission) const {
  for (auto& [commands, table, table_number] : submission.commands) {
    if (commands == nullptr) return invalid_argument("submit: the command buffer is null");
    if (&commands->device_info() != device_info_.get()) {
      return invalid_argument("submit: the command buffer belongs to another device ({}, not {})",
                              commands->device_info().name, device_info_->name);
    }
    const Result<std::uint64_t> number = commands->check_submission(table);
    if (!number.ok()) return number.status().with_context("submit");
    table_number = *number;
  }
  for (const auto* points : {&submission.waits, &submission.signals}) {
    for (const TimelinePoint& point : *points) {
      if (point.semaphore == nullptr) return invalid_argument("submit: a semaphore is null");
    }
  }
  return {};
}

// Checks a submission, claims its command buffers, and drops those that are empty.
Status Queue::accept(Submission& submission) const {
  TL_RETURN_IF_ERROR(check(submission));
  for (std::size_t i = 0; i < submission.commands.size(); ++i) {
    if (submission.commands[i].commands->claim()) continue;
    while (i > 0) submission.commands[--i].commands->unclaim();
    return invalid_argument(
        "submit: the command buffer was submitted before, and is not reusable; help: set "
        "CommandBufferDesc::reusable");
  }
  std::erase_if(submission.commands, [](const SubmittedCommands& commands) {
    return commands.commands->segments().empty();
  });
  return {};
}

Status Queue::submit(std::shared_ptr<const CommandBuffer> commands) {
  return submit(Submission{.waits = {}, .commands = {std::move(commands)}, .signals = {}});
}

Status Queue::submit(Submission submission) {
  TL_RETURN_IF_ERROR(accept(submission));
  if (submission.waits.empty() && submission.commands.empty() && submission.signals.empty())
    return {};
  // A callback of the submission's signals may release this queue before submit() returns.
  const std::shared_ptr<State> state = state_;
  return state->submit(std::move(submission), false, state).status();
}

Status Queue::run(Submission submission) {
  TL_RETURN_IF_ERROR(state_->check_wait());
  TL_RETURN_IF_ERROR(accept(submission));
  const std::shared_ptr<State> state = state_;  // kept alive, as in submit()
  TL_ASSIGN_OR_RETURN(const State::Ticket ticket,
                      state->submit(std::move(submission), true, state));
  return state->wait(ticket);
}

Status Queue::wait_idle(Deadline deadline) {
  const std::shared_ptr<State> state = state_;  // kept alive, as in submit()
  TL_RETURN_IF_ERROR(state->check_wait());
  return state->wait_idle(deadline);
}

bool Queue::is_idle() const { return state_->is_idle(); }
std::uint64_t Queue::backlog() const { return state_->backlog(); }
bool Queue::runs_on_calling_thread() const { return state_->is_working(); }

}  // namespace texloom::hal
