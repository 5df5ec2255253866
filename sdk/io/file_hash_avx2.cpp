#include "sdk/io/file_hash_avx2.h"

#define XXH_INLINE_ALL  // the library's own way to be used as a header alone
#include <xxhash.h>

namespace frugal {

void AddToXxh3ByAvx2(void* state, const void* bytes, std::size_t count) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, count);
}

}  // namespace frugal
