#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "sdk/core/error.h"

// This file says what oneDNN's errors mean to a user. It is internal, since it sees oneDNN.
namespace frugal::onednn {

[[noreturn]] inline void ThrowOutOfMemory() {
  throw MemoryError({.where = "memory",
                     .required = "oneDNN has room for its kernels",
                     .given = "the system has no more to give",
                     .advice = "use a smaller batch or model, or raise the limit of this process"});
}

// Throws MemoryError where oneDNN says that it found no memory: nothing else may be made of that.
inline void ThrowIfOutOfMemory(const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) ThrowOutOfMemory();
}

}  // namespace frugal::onednn
