#pragma once

#include <cstddef>
#include <cstdint>

namespace frugal {

// Copies on all threads: kernels wait for what is paged, and one thread copies half as fast as
// memory lets several.
void CopyPage(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace frugal
