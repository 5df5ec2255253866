#pragma once

#include <cstddef>

namespace frugal {

// Adds bytes to an XXH3_state_t by the instructions that file_hash_avx2.cpp is compiled for, to the
// same hash.
void AddToXxh3ByAvx2(void* state, const void* bytes, std::size_t count);

}  // namespace frugal
