// Trainings that signals end, and that go on: as programs see it.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "sdk/io/snapshots/snapshot_store.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

// A training whose end is far: a snapshot behind every step, weights and a summary at the end.
constexpr const char* kSnapshots =
    " --set training.max_steps=$STEPS --set training.epochs=1000000 --set training.evaluate=false"
    " --set snapshots.directory=snapshots --set snapshots.every_n_steps=1"
    " --weights weights.safetensors --summary summary.json";

constexpr std::int64_t kFar = 100000000;  // steps

std::string TrainCommand(std::int64_t steps, const std::string& more = "") {
  std::string arguments = kSnapshots;
  arguments.replace(arguments.find("$STEPS"), 6, std::to_string(steps));
  return "train tiny.toml --quiet" + arguments + more;
}

// A directory with a training's configuration and data.
struct Setup : TempDir {
  Setup() : TempDir(MemoryDirectory()) {
    Write("tiny.toml", kTinyConfig);
    WriteTinyData(*this);
  }
};

// A training in a process of its own.
class Started {
 public:
  Started(const TempDir& directory, const std::string& arguments) {
    const std::string command = "exec " + Program("frugal") + " " + arguments + " > out 2> err";
    process_ = ::fork();
    if (process_ != 0) return;
    if (::chdir(directory.File("").c_str()) == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    }
    ::_exit(127);
  }
  void Send(int signal) const { ::kill(process_, signal); }
  // Returns the exit code, or -signal where one ended the process.
  int Wait() const {
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t process_ = 0;
};

void WaitForSnapshots(const TempDir& directory) {
  for (int i = 0; i < 2000 && ListSnapshots(directory.File("snapshots")).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string HashIn(const TempDir& directory) {
  return Json::parse(ReadAll(directory.File("summary.json"))).at("weights_hash");
}

TEST_CASE("a signal ends a training behind its step, and it goes on to the same bits") {
  const Setup whole;
  REQUIRE(Frugal(whole, TrainCommand(400)).exit_code == 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const Setup directory;
    const Started training(directory, TrainCommand(kFar));
    WaitForSnapshots(directory);
    training.Send(signal);
    CHECK(training.Wait() == 128 + signal);
    CHECK_THAT(ReadAll(directory.File("err")), Catch::Contains("ended the training behind step"));
    CHECK(std::filesystem::exists(directory.File("weights.safetensors")));
    CHECK(std::filesystem::exists(directory.File("summary.json")));
    const std::int64_t step = ListSnapshots(directory.File("snapshots")).back().step;
    if (step >= 400) continue;  // a machine that was fast
    const ProgramRun rest = Frugal(directory, TrainCommand(400, " --resume must"));
    CHECK(rest.errors == "");
    CHECK(rest.exit_code == 0);
    CHECK(HashIn(directory) == HashIn(whole));
    CHECK(ReadAll(directory.File("weights.safetensors")) ==
          ReadAll(whole.File("weights.safetensors")));
  }
}

TEST_CASE("any number of SIGINTs harm nothing") {
  const Setup directory;
  const Started training(directory, TrainCommand(kFar));
  WaitForSnapshots(directory);
  for (int i = 0; i < 20; ++i) training.Send(SIGINT);
  CHECK(training.Wait() == 128 + SIGINT);
  const ProgramRun shown = Frugal(directory, "inspect snapshots");
  CHECK(shown.exit_code == 0);
  CHECK_THAT(shown.output, Catch::Contains("behind step"));
}

TEST_CASE("killed at 300 random moments, a training ends with the bits of one that was not") {
  const Setup directory;
  // Some moments come before a training takes its first snapshot, and some behind.
  const auto begin = std::chrono::steady_clock::now();
  {
    const Started training(directory, TrainCommand(kFar));
    WaitForSnapshots(directory);
    training.Send(SIGKILL);
    REQUIRE(training.Wait() == -SIGKILL);
  }
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - begin;
  REQUIRE_FALSE(ListSnapshots(directory.File("snapshots")).empty());
  const std::int64_t reached = ListSnapshots(directory.File("snapshots")).back().step;
  std::mt19937 random(1);
  std::uniform_int_distribution<int> moment(1, 80 + static_cast<int>(first.count()));
  for (int kills = 0; kills < 300; ++kills) {
    const Started training(directory, TrainCommand(kFar, " --resume auto"));
    std::this_thread::sleep_for(std::chrono::milliseconds(moment(random)));
    training.Send(SIGKILL);
    REQUIRE(training.Wait() == -SIGKILL);
  }
  const std::vector<SnapshotEntry> entries = ListSnapshots(directory.File("snapshots"));
  REQUIRE_FALSE(entries.empty());
  CHECK(entries.back().step > reached);  // some were killed behind snapshots of their own
  const std::int64_t steps = entries.back().step + 50;
  const ProgramRun rest = Frugal(directory, TrainCommand(steps, " --resume auto"));
  CHECK(rest.errors == "");
  REQUIRE(rest.exit_code == 0);
  const Setup whole;
  REQUIRE(Frugal(whole, TrainCommand(steps)).exit_code == 0);
  CHECK(HashIn(directory) == HashIn(whole));
  CHECK(ReadAll(directory.File("weights.safetensors")) ==
        ReadAll(whole.File("weights.safetensors")));
  for (const auto& entry : std::filesystem::directory_iterator(directory.File("snapshots"))) {
    CHECK(entry.path().extension() == "");
  }
}

TEST_CASE("the command resumes, refuses, shows and exports snapshots") {
  const Setup directory;
  CHECK(Frugal(directory, TrainCommand(5, " --resume must")).exit_code == 1);
  REQUIRE(Frugal(directory, TrainCommand(5, " --resume auto")).exit_code == 0);
  const std::string first = HashIn(directory);
  const ProgramRun again = Frugal(directory, TrainCommand(5));
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.errors, Catch::Contains("--resume auto"));
  const ProgramRun other =
      Frugal(directory, TrainCommand(9, " --resume must --set optimizer.lr=0.5"));
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.errors, Catch::Contains("optimizer.lr is 0.5, and was"));
  CHECK(HashIn(directory) == first);
  CHECK(Frugal(directory, TrainCommand(9, " --resume must --memory MemoryEfficient")).exit_code ==
        0);
  CHECK(Frugal(directory, "export snapshots out.safetensors").exit_code == 0);
  CHECK(ReadAll(directory.File("out.safetensors")) ==
        ReadAll(directory.File("weights.safetensors")));
  CHECK(Frugal(directory, "export weights.safetensors out.safetensors").exit_code == 1);
  CHECK(Frugal(directory, TrainCommand(5, " --resume new")).exit_code == 0);
  CHECK(HashIn(directory) == first);
  const ProgramRun ended = Frugal(directory, TrainCommand(5, " --resume must"));
  CHECK(ended.exit_code == 0);
  CHECK(HashIn(directory) == first);
}

}  // namespace
}  // namespace frugal::testing
