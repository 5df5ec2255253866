#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {

// Has the reader read these bytes as a file that lies in memory. Ends the program, which libFuzzer
// then calls a finding, where anything but an Error is thrown, where it takes more than a second of
// the processor, and where more memory is allocated than the reader's bounds allow. Returns 0.
int ReadGuarded(const FileReader& reader, const std::uint8_t* data, std::size_t size);

}  // namespace frugal::testing
