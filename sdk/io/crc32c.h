#pragma once

#include <cstdint>
#include <string_view>

namespace frugal {

// The checksum CRC-32C of bytes: polynomial 0x1EDC6F41, bits reflected, all ones at both ends
// (Castagnoli et al., 1993; RFC 3720, appendix B.4, has values to compare with).
std::uint32_t Crc32c(std::string_view bytes);

}  // namespace frugal
