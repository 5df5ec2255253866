#include "tests/fuzz/readers/memory_directory.h"

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace frugal::testing {

namespace fs = std::filesystem;

MemoryDirectory::MemoryDirectory() {
  std::string name = "/dev/shm/frugal_fuzz_XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::logic_error("no temporary directory");
  path_ = name;
}

MemoryDirectory::~MemoryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void MemoryDirectory::Put(const std::string& file, const std::string& name) const {
  std::error_code error;
  do {
    fs::copy_file(file, path_ / name, fs::copy_options::overwrite_existing, error);
  } while (error == std::errc::interrupted);  // by libFuzzer's timer
  if (error) throw std::system_error(error);
}

}  // namespace frugal::testing
