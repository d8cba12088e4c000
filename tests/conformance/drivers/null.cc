// Registers the driver `null`, to test which calls are accepted, and the order of signals.
#include "runtime/drivers/null/driver.h"
#include "tests/conformance/tested_driver.h"

namespace texloom::hal::conformance {
namespace {

const Registration kNull({.name = "null",
                          .create = []() -> Result<std::shared_ptr<Driver>> {
                            return null::create_driver(null::default_device(),
                                                       {.native_waits = true});
                          },
                          .computes = false,
                          .kernels =
                              [](std::vector<EntryPoint> entry_points) {
                                return kernels_in(KernelFormat::OpenClC, "anything",
                                                  std::move(entry_points));
                              },
                          .exhaustible = true});

}  // namespace
}  // namespace texloom::hal::conformance
