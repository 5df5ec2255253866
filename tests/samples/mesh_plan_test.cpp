// `frugal plan` for meshes of machines that are not here.
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/samples/run_program.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

const std::string kMesh =
    "plan gpt2 --batch 64 --devices 8 --mesh data=2,pipeline=4 "
    "--set memory.use_pipeline_parallelism=true --set training.threads=1";

TEST_CASE("a mesh is planned with its chart and a predicted time") {
  const TempDir directory;
  const ProgramRun run = Frugal(directory, kMesh);
  CHECK(run.exit_code == 0);
  CHECK(run.errors == "");
  CheckContains(run.output,
                "2 replicas of 4 stages, 1 thread each; 1f1b with 4 micro-batches in each");
  CheckContains(run.output, "7 (replica 1)");
  CheckContains(run.output, "stage 3 ");
  CheckContains(run.output,
                "At 100 GFLOP/s a device, and links of 10.0 GB/s and 20.0 us a message");
}

TEST_CASE("links and speeds change what is predicted") {
  const TempDir directory;
  const std::string slow = Frugal(directory, kMesh + " --link 0.001").output;
  CheckContains(slow, "bound by traffic");
  const std::string fast = Frugal(directory, kMesh + " --gflops 1000").output;
  CheckContains(fast, "At 1000 GFLOP/s a device");
  CHECK(fast != Frugal(directory, kMesh).output);
}

TEST_CASE("one rank is printed alone") {
  const TempDir directory;
  const ProgramRun run = Frugal(directory, kMesh + " --rank 7");
  CHECK(run.exit_code == 0);
  CheckContains(run.output, "replica 1, stage 3");
  CheckContains(run.output, "to the next stage");
  CheckContains(run.output, "0 bytes in 0 messages");
}

TEST_CASE("the plan of a mesh as JSON has every device") {
  const TempDir directory;
  const ProgramRun run = Frugal(directory, kMesh + " --json");
  REQUIRE(run.exit_code == 0);
  const Json devices = Json::parse(run.output).at("devices");
  REQUIRE(devices.at("each").size() == 8);
  for (const Json& device : devices.at("each")) {
    const Json& sent = device.at("sent");
    std::int64_t sum = 0;
    for (const char* to : {"next_stage", "previous_stage", "pipeline", "replicas"}) {
      sum += sent.at(to).at("bytes").get<std::int64_t>();
    }
    CHECK(device.at("sent_bytes") == sum);
    CHECK(device.at("peak_bytes") > 0);
  }
}

TEST_CASE("a mesh of 4,096 devices is planned in seconds", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!frugal::testing::kIsSanitized, "a sanitizer takes time of its own");
  const TempDir directory;
  const auto start = std::chrono::steady_clock::now();
  const ProgramRun run =
      Frugal(directory,
             "plan gpt2 --batch 4096 --devices 4096 --mesh data=512,pipeline=8 "
             "--set memory.use_pipeline_parallelism=true --set memory.micro_batch_count=8");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(run.exit_code == 0);
  CheckContains(run.output, "alike");
  CHECK(seconds.count() < 15);
}

TEST_CASE("meshes that cannot be are refused with what to do") {
  const TempDir directory;
  const auto refused = [&](const std::string& arguments, int exit_code, const std::string& words) {
    const ProgramRun run = Frugal(directory, arguments);
    CHECK(run.exit_code == exit_code);
    CHECK(run.output == "");
    CheckContains(run.errors, words);
  };
  refused("plan gpt2 --batch 8 --devices 4 --mesh data=3,pipeline=4", 1,
          "data_parallel replicas share the devices evenly");
  refused("plan gpt2 --batch 8 --devices 4 --mesh data=2,pipeline=4", 1,
          "data x pipeline is the number of devices");
  refused("plan gpt2 --mesh rows=3", 2, "data=NUMBER,pipeline=NUMBER; 'rows=3' was given");
  refused("plan gpt2 --devices 0", 2, "a whole number from 1 to 4096");
  refused("plan gpt2 --rank 3", 1, "say how many: --devices 4");
  refused("plan gpt2 --batch 4 --devices 4 --rank 7", 1, "ranks are counted from 0 to 3");
  refused("plan gpt2 --batch 4 --devices 4 --link 0", 2, "a number above 0");
}

}  // namespace
}  // namespace frugal::testing
