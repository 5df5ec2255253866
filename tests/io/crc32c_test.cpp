#include "sdk/io/crc32c.h"

#include <string>

#include "tests/catch.h"

namespace frugal {

TEST_CASE("CRC-32C is that of RFC 3720, appendix B.4") {
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) {
    rising += static_cast<char>(i);
    falling += static_cast<char>(31 - i);
  }
  CHECK(Crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(Crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
  CHECK(Crc32c(rising) == 0x46DD794E);
  CHECK(Crc32c(falling) == 0x113FDB5C);
  CHECK(Crc32c("123456789") == 0xE3069283);
  CHECK(Crc32c("") == 0);
}

}  // namespace frugal
