#include "tests/benchmarks/compare_options.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace frugal {
namespace {

CompareOptions Read(std::vector<std::string> words) {
  words.insert(words.begin(), "bench_compare");
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) pointers.push_back(word.data());
  return ReadCompareOptions(static_cast<int>(pointers.size()), pointers.data());
}

std::string Refusal(const std::vector<std::string>& words) {
  try {
    Read(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

class Root {
 public:
  Root()
      : path_(std::filesystem::temp_directory_path() /
              ("frugal_peer_root_" + std::to_string(getpid()))) {
    create_directories(path_ / "usr/bin");
  }
  ~Root() {
    std::error_code error;
    remove_all(path_, error);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST_CASE("the comparison's options are read, and others refused") {
  const CompareOptions options =
      Read({"--workloads", "mlp,gpt2", "--precision", "f32x3", "--repetitions", "2"});
  CHECK(options.workloads == std::vector<std::string>{"mlp", "gpt2"});
  CHECK(options.precisions == std::vector<std::string>{"f32x3"});
  CHECK(options.repetitions == 2);
  CHECK(options.batch == 0);
  CHECK(options.peer_root.empty());
  CHECK(Read({"--batch", "3"}).batch == 3);
  CHECK_FALSE(Refusal({"--batch", "0"}).empty());
  CHECK_FALSE(Refusal({"--workloads", "mpl"}).empty());
  CHECK_FALSE(Refusal({"--precision", "f16"}).empty());
  CHECK_FALSE(Refusal({"--peer-root"}).empty());
}

TEST_CASE("a root without what PyTorch needs is refused with how to make it") {
  CHECK(Refusal({"--peer-root", "/is/not/there"}) ==
        "[--peer-root] the root directory of a Debian system with PyTorch; '/is/not/there' is no "
        "directory; debootstrap --variant=minbase sid /is/not/there; chroot /is/not/there apt-get "
        "install --no-install-recommends python3-torch libopenblas0-openmp "
        "libtcmalloc-minimal4t64");
  const Root root;
  const std::string path = canonical(root.path()).string();
  CHECK(Refusal({"--peer-root", path}).find("there is no python3 in " + path) != std::string::npos);
}

TEST_CASE("only the user root may enter another root") {
  const Root root;
  // It leads to what is there in the root alone.
  std::filesystem::create_symlink("/usr/bin/python3.99", root.path() / "usr/bin/python3");
  const std::string path = canonical(root.path()).string();
  if (geteuid() == 0) {
    CHECK(Read({"--peer-root", path}).peer_root == path);
  } else {
    CHECK(Refusal({"--peer-root", path}).find("run this by sudo") != std::string::npos);
  }
}

}  // namespace
}  // namespace frugal
