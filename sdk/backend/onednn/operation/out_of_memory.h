#pragma once

#include "sdk/core/error.h"

namespace frugal::onednn {

[[noreturn]] inline void ThrowOutOfMemory() {
  throw MemoryError({.where = "memory",
                     .required = "oneDNN has room for its kernels",
                     .given = "the system has no more to give",
                     .advice = "use a smaller batch or model, or raise the limit of this process"});
}

}  // namespace frugal::onednn
