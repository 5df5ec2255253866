#include "sdk/io/paging/page_copy.h"

#include <cstring>

#include "sdk/core/threads.h"

namespace frugal {

void CopyPage(std::byte* to, const std::byte* from, std::int64_t bytes) {
  RunTeam(0, [&] {
    const std::int64_t size = TeamSize(), number = ThreadNumber();
    const std::int64_t begin = bytes * number / size, end = bytes * (number + 1) / size;
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace frugal
