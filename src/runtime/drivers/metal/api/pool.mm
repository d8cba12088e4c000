#include "runtime/drivers/metal/api/pool.h"

#import <Foundation/Foundation.h>

namespace texloom::hal::metal {
namespace {

class Pool final : public QueueBackend::Scope {
 public:
  ~Pool() override { [pool_ drain]; }

 private:
  NSAutoreleasePool* pool_ = [[NSAutoreleasePool alloc] init];
};

}  // namespace

std::unique_ptr<QueueBackend::Scope> enter_pool() { return std::make_unique<Pool>(); }

}  // namespace texloom::hal::metal
