#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "sdk/backend/onednn/operation/out_of_memory.h"

// This file says what oneDNN's errors mean to a user. It is internal, since it sees oneDNN.
namespace frugal::onednn {

// Throws MemoryError where oneDNN says that it found no memory: nothing else may be made of that.
inline void ThrowIfOutOfMemory(const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) ThrowOutOfMemory();
}

}  // namespace frugal::onednn
