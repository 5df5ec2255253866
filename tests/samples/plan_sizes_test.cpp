// The memory that `frugal plan` takes for itself does not grow with sizes alone.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/catch.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

struct Took {
  int exit_code = -1;
  std::int64_t peak_kilobytes = 0;  // resident
};

// Returns what `frugal plan` took with these arguments.
Took Plan(const TempDir& directory, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {Program("frugal"), "plan"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string output = directory.File("output");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int file = creat(output.c_str(), 0600);
    if (dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0) {
      execv(pointers[0], pointers.data());
    }
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, usage.ru_maxrss};
}

void CheckLike(const Took& took, const Took& small, int exit_code = 0) {
  CHECK(took.exit_code == exit_code);
  CHECK(took.peak_kilobytes < 2 * small.peak_kilobytes);
}

TEST_CASE("plans of large batches take no more than those of small ones", "[sizes]") {
  const TempDir directory;
  const Took small = Plan(directory, {"gpt2-xl"});
  CHECK(small.exit_code == 0);
  CheckLike(Plan(directory, {"gpt2-xl", "--batch", "3000"}), small);  // 12,000 parts of the loss
  CheckLike(Plan(directory, {"gpt2-xl", "--batch", "9000", "--set",
                             "training.gradient_accumulation_steps=9000"}),
            small);
  const Took other = Plan(directory, {"dit-s-2"});
  CheckLike(Plan(directory, {"dit-s-2", "--batch", "1000000"}), other);
  CheckLike(Plan(directory, {"dit-s-2", "--batch", "2000000000"}), other, 1);  // refused
}

TEST_CASE("plans of samples of many channels take no more than those of few", "[sizes]") {
  const TempDir directory;
  directory.Write("tiny.toml", kTinyConfig);
  const std::string file = directory.File("tiny.toml");
  CheckLike(Plan(directory, {file, "--set", "data.sample_shape=[1,1,2147483647]"}),
            Plan(directory, {file}));
}

TEST_CASE("a network of many layers that cannot fit is refused as cheaply as it is planned",
          "[sizes]") {
  const TempDir directory;
  const std::string layers = "model.config.n_layer=1000";
  const Took planned = Plan(directory, {"gpt2", "--set", layers});
  CHECK(planned.exit_code == 0);
  CheckLike(Plan(directory, {"gpt2", "--set", layers, "--set", "memory.memory_budget_mb=\"70%\""}),
            planned, 1);
}

}  // namespace
}  // namespace frugal::testing
