// Declares the random calls of a sequence by subject. Each function draws valid or invalid
// arguments, predicts the outcome, and makes the call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/fuzz/hal/world.h"

namespace texloom::hal::fuzz {

// memory_calls.cc, texture_calls.cc
void make_foreign_objects(World& world);
void draw_create_buffer(World& world);
void draw_import(World& world);
void draw_subspan(World& world);
void draw_create_texture(World& world);
void draw_create_view(World& world);
void draw_release_object(World& world);
void draw_residency(World& world);

// mapping_calls.cc
bool can_map(const World& world, const BufferInfo& buffer, std::uint64_t offset,
             std::uint64_t bytes, Access access);
void draw_map(World& world);
void draw_use_mapping(World& world);
void draw_release_mapping(World& world);

// executable_calls.cc
void draw_create_executable(World& world);
void draw_use_executable(World& world);

// recording_calls.cc, copy_calls.cc, dispatch_calls.cc
void draw_create_commands(World& world);
void draw_record(World& world);
void draw_copy(World& world);
void draw_dispatch(World& world);
void draw_finish(World& world);
// Draws an object that a command may take, including null and unusable ones.
BufferModel draw_buffer(World& world, BufferUsage usage, bool for_writing = false);
TextureModel draw_texture(World& world, TextureUsage usage);
std::shared_ptr<CommandsModel> draw_open_commands(World& world);
// Compares a recording call with the model: a refused call must not change the list of segments.
void expect_recorded(World& world, CommandsModel& commands, const Status& status, bool valid,
                     std::size_t segments_before, bool is_empty, CommandModel command);

// An argument of a parameter, as it is passed and as the model sees it.
struct Argument {
  BindingRef given;
  Bound bound;
  std::string text;
};
Argument draw_argument(World& world, const KernelParam& param, const DeviceLimits& limits);

// submission_calls.cc
void draw_submit(World& world);
// A submission together with the model's knowledge of it.
struct SubmissionDraw {
  Submission given;
  SubmissionModel model;
  std::vector<std::shared_ptr<Memory>> memories;
  bool crosses = false;  // waits for another queue
};
void add_wait(SubmissionDraw& draw, const QueueModel& queue, const PointModel& point);
void add_signal(SubmissionDraw& draw, const PointModel& point);
// Adds an accepted submission to the model.
void note_submission(World& world, QueueModel& queue, SubmissionDraw draw);

// queue_calls.cc
void add_queue(World& world, std::shared_ptr<Queue> queue);
void create_queue(World& world);
void draw_create_queue(World& world);
void draw_release_queue(World& world);
void draw_wait_idle(World& world);
void wait_idle(World& world, QueueModel& queue);

// semaphore_calls.cc
void draw_create_semaphore(World& world);
void draw_signal(World& world);
void draw_wait(World& world);
void draw_when_reached(World& world);
void draw_release_semaphore(World& world);
void signal_semaphore(World& world, SemaphoreModel& semaphore, std::uint64_t value);
void fail_semaphore(World& world, SemaphoreModel& semaphore);
void compare_semaphore(World& world, SemaphoreModel& semaphore);
void release_semaphore(World& world, SemaphoreModel& semaphore);

// workspace_calls.cc
void draw_acquire(World& world);
void draw_use_lease(World& world);
void draw_release_lease(World& world);
void draw_pool_control(World& world);

// device_calls.cc
void draw_transfer(World& world);
void draw_registry(World& world);
void draw_profile(World& world);
void draw_grid(World& world);

}  // namespace texloom::hal::fuzz
