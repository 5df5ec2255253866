// The frugal command as its users see it: output, messages and exit codes.
#include <nlohmann/json.hpp>

#include "builders/config/run_config_reader.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

// A directory with tiny.toml in it, and its data where asked for.
struct Setup {
  explicit Setup(bool with_data = true) {
    directory.Write("tiny.toml", kTinyConfig);
    if (with_data) WriteTinyData(directory);
  }
  Json JsonIn(const std::string& name) const { return Json::parse(ReadAll(directory.File(name))); }
  bool Has(const std::string& name) const { return std::filesystem::exists(directory.File(name)); }

  TempDir directory;
};

void CheckFails(const ProgramRun& run, int exit_code, const std::string& message) {
  CHECK(run.exit_code == exit_code);
  CHECK(run.errors.starts_with("error: "));
  CheckContains(run.errors, message);
  CHECK(run.output == "");
}

TEST_CASE("plan prints the plan without any data") {
  const Setup setup(false);
  const ProgramRun run = Frugal(setup.directory, "plan tiny.toml");
  CHECK(run.exit_code == 0);
  CHECK(run.errors == "");
  CheckContains(run.output, "dense 16 -> 3");
  CheckContains(run.output, "parameter");
}

TEST_CASE("plan touches no weight file") {
  const Setup setup(false);
  CHECK(Frugal(setup.directory,
               "plan tiny.toml --set memory.preset=ForTransferLearning "
               "--set memory.weights_file_path=absent.safetensors")
            .exit_code == 0);
}

TEST_CASE("plan as JSON has what programs ask for") {
  const Setup setup(false);
  const ProgramRun run = Frugal(setup.directory, "plan --json tiny.toml");
  CHECK(run.exit_code == 0);
  const Json plan = Json::parse(run.output);
  CHECK(plan.at("parameters") == 51);
  CHECK(plan.at("bytes_by_purpose").at("parameter") > 0);
  CHECK(plan.at("arena_bytes") >= plan.at("live_lower_bound_bytes"));
  CHECK(plan.at("peak_bytes") > plan.at("arena_bytes"));
}

TEST_CASE("parameters alone need neither a fitting batch nor a memory policy") {
  const Setup setup(false);
  const std::string impossible =
      " --set training.batch_size=1000 --set memory.max_memory_per_device_mb=1 ";
  CHECK(Frugal(setup.directory, "plan tiny.toml" + impossible).exit_code == 1);
  CHECK(Frugal(setup.directory, "plan --parameters-only tiny.toml" + impossible).output ==
        "51 parameters\n");
  const ProgramRun run =
      Frugal(setup.directory, "plan --parameters-only --json tiny.toml" + impossible);
  CHECK(Json::parse(run.output) == Json{{"parameters", 51}});
}

TEST_CASE("plan takes the name of a published model") {
  const TempDir directory;
  const ProgramRun run =
      Frugal(directory, "plan dit-xl-2 --batch 2 --preset ForTransformers --json");
  CHECK(run.errors == "");
  const Json plan = Json::parse(run.output);
  CHECK(plan.at("parameters") == 675129632);
  CHECK(plan.at("batch") == 2);
  CHECK(plan.at("recomputed_flops") > 0);
  CHECK(Frugal(directory, "plan llama-2-7b --parameters-only").output ==
        "6,738,415,616 parameters\n");
  const ProgramRun large = Frugal(directory, "plan llama-2-7b --set optimizer.kind=sgd");
  CHECK(large.exit_code == 0);
  CheckContains(large.output, "assumes samples of [4096] tokens");
  CheckFails(Frugal(directory, "plan dit-xl-3"), 1, "did you mean 'dit-xl-2'?");
  CheckFails(Frugal(directory, "plan dit-xl-2 --batch many"), 1, "batch_size");
  CheckFails(Frugal(directory, "plan dit-xl-2 --batch \"\""), 1, "training.batch_size=");
  CheckFails(Frugal(directory, "plan dit-xl-2 --preset \"\""), 1, "memory.preset=");
  CheckFails(Frugal(directory, "plan dit-xl-2 --preset ForTransformer"), 1, "ForTransformers");
  CheckFails(Frugal(directory, "plan no/dit-xl-2"), 1, "there is no such file");
}

TEST_CASE("plan prefers a file to a published model of that name") {
  const Setup setup(false);
  setup.directory.Write("gpt2", kTinyConfig);
  CHECK(Frugal(setup.directory, "plan gpt2 --parameters-only").output == "51 parameters\n");
  const ProgramRun run = Frugal(setup.directory, "plan gpt2 --batch 8 --json");
  CHECK(Json::parse(run.output).at("batch") == 8);
}

TEST_CASE("models lists the published ones") {
  const TempDir directory;
  const ProgramRun run = Frugal(directory, "models");
  CHECK(run.errors == "");
  CheckContains(run.output, "DiT-XL/2 at 256 x 256 pixels (Peebles & Xie, arXiv:2212.09748)");
  CheckContains(run.output, "under ForTransformers");
  const Json list = Json::parse(Frugal(directory, "models --json --preset Default").output);
  CHECK(list.size() > 10);
  CHECK(list.front().at("memory_preset") == "Default");
  CHECK(list.front().at("train_bytes") > list.front().at("held_bytes"));
  CheckFails(Frugal(directory, "models --preset Defaul"), 1, "'Default'");
}

TEST_CASE("train prints, measures and writes what it was asked for") {
  const Setup setup;
  const ProgramRun run =
      Frugal(setup.directory,
             "train --summary new/deep/s.json tiny.toml --report r.html --weights w.safetensors");
  CHECK(run.errors == "");
  CHECK(run.exit_code == 0);
  const std::size_t plan = run.output.find("dense 16 -> 3");
  const std::size_t epoch = run.output.find("epoch 2");
  CHECK(plan < epoch);
  CheckContains(run.output, "test accuracy");
  CheckContains(run.output, "peak resident");
  const Json summary = setup.JsonIn("new/deep/s.json");
  CHECK(summary.at("steps") == 4);
  CHECK(summary.at("losses").size() == 4);
  CHECK(summary.at("planned_bytes") == summary.at("measured_bytes"));
  CHECK(summary.at("allocations_after_warmup") == 0);
  CHECK(OpenWeights(setup.directory.File("w.safetensors"))->Entries().size() == 2);
  CheckContains(ReadAll(setup.directory.File("r.html")), "</html>");
}

TEST_CASE("train --profile shows where the time of a step went") {
  const Setup setup;
  const ProgramRun run =
      Frugal(setup.directory, "train --profile --summary s.json tiny.toml --report r.html");
  CHECK(run.errors == "");
  CheckContains(run.output, "matmul, backward");
  CheckContains(run.output, "outside kernels");
  CheckContains(run.output, "This machine's best");
  const Json operations = setup.JsonIn("s.json").at("operations");
  CHECK(operations.at("steps") == 3);
  CHECK(operations.at("product_limit_gflops") > 0);
  CHECK(operations.at("ms_per_step_at_limits") > 0);
  CHECK(operations.at("kinds").back().at("operation") == "step");
  CheckContains(ReadAll(setup.directory.File("r.html")), "<h2>Operations</h2>");
  Frugal(setup.directory, "train --summary t.json tiny.toml");
  CHECK(setup.JsonIn("t.json").at("operations").is_null());
}

TEST_CASE("train quietly prints nothing, and options win over the file") {
  const Setup setup;
  setup.directory.Write("out.toml", std::string(kTinyConfig) + "[output]\nsummary = \"a.json\"\n");
  const ProgramRun run = Frugal(setup.directory, "train out.toml --quiet --summary 'b \"c\".json'");
  CHECK(run.output == "");
  CHECK(run.errors == "");
  CHECK_FALSE(setup.Has("a.json"));
  CHECK(setup.JsonIn("b \"c\".json").at("steps") == 4);
}

TEST_CASE("train warns, once, where the loss is no longer a number") {
  const Setup setup;
  const std::string diverging =
      "train tiny.toml --quiet --set optimizer.kind=sgd --set optimizer.lr=3e38 "
      "--set optimizer.weight_decay=1000 --set training.epochs=6 "
      "--set training.on_divergence=warn";
  const ProgramRun run = Frugal(setup.directory, diverging);
  CHECK(run.exit_code == 0);
  CheckContains(run.errors, "warning: the loss of step ");
  CHECK(run.errors.find("warning: the loss", 7) == std::string::npos);
}

TEST_CASE("train refuses outputs that could not be written before it trains") {
  const Setup setup(false);  // with the data missing, a training that begins fails otherwise
  CheckFails(Frugal(setup.directory, "train tiny.toml --report ."), 1, "output.report");
  CheckFails(Frugal(setup.directory, "train tiny.toml --summary tiny.toml"), 1, "output.summary");
  CHECK(ReadAll(setup.directory.File("tiny.toml")) == kTinyConfig);
}

TEST_CASE("train refuses at once what would only fail at its end") {
  const Setup setup(false);  // with the data missing, a training that begins fails otherwise
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    CheckFails(Run(setup.directory, arguments), 1, message);
  };
  const std::string train = Program("frugal") + " train tiny.toml ";
  refused(train + "--weights w.pt --report .", "'.pt' is another form");
  refused(train + "--weights w.pt --report .", "'.' is a directory");
  refused(train + "--set 'output.weights=\"a\\u0000b\"'", "must have no NUL character");
  refused("ulimit -f 1; " + train + "--report r.html", "and a file of this process may have");
  CHECK_FALSE(setup.Has("a"));
}

TEST_CASE("weights are written in the form that their name tells") {
  const Setup setup;
  for (const auto& [name, format] : {std::pair("w.json", WeightsFileFormat::kJson),
                                     std::pair("w.bin", WeightsFileFormat::kBinary),
                                     std::pair("w", WeightsFileFormat::kSafetensors)}) {
    const ProgramRun run =
        Frugal(setup.directory, std::string("train tiny.toml --quiet --weights ") + name);
    CHECK(run.errors.empty());
    CHECK(OpenWeights(setup.directory.File(name), format)->Entries().size() == 2);
  }
}

TEST_CASE("a value is given once on the command line") {
  const Setup setup(false);
  CheckFails(Frugal(setup.directory, "plan tiny.toml --batch 1 --set training.batch_size=2"), 1,
             "[training.batch_size] one value for it on the command line; --batch 1 and --set "
             "training.batch_size=2");
  CheckFails(Frugal(setup.directory, "plan tiny.toml --preset Default --set memory.preset=x"), 1,
             "one value for it");
  CheckFails(Frugal(setup.directory, "train tiny.toml --report a --set 'output.report = b'"), 1,
             "one value for it");
  CHECK(Frugal(setup.directory, "plan tiny.toml --batch 2 --set training.batch_size=2").exit_code ==
        0);
}

TEST_CASE("a file that is not there is said first, with what was probably meant") {
  const Setup setup(false);
  const std::string neither = "there is no such file and no such model; ";
  CheckFails(Frugal(setup.directory, "plan tiny.tml"), 1, neither + "did you mean 'tiny.toml'?");
  CheckFails(Frugal(setup.directory, "plan gtp2"), 1, neither + "did you mean 'gpt2'?");
  CheckFails(Frugal(setup.directory, "plan something-else"), 1,
             neither + "check the path; `frugal models` lists the models");
  CheckFails(Frugal(setup.directory, "train tiny.tml"), 1,
             "there is no such file; did you mean 'tiny.toml'?");
}

TEST_CASE("an empty file is refused by its name") {
  const Setup setup(false);
  setup.directory.Write("empty.toml", "");
  CheckFails(Frugal(setup.directory, "plan empty.toml"), 1, "error: empty.toml:1:1: [model] ");
}

TEST_CASE("more threads than any machine has are refused, more than this one has are noted") {
  const Setup setup(false);
  const ProgramRun run =
      Run(setup.directory, "OMP_NUM_THREADS=1000000 " + Program("frugal") + " plan tiny.toml");
  CheckFails(run, 1, "tiny.toml:19:1: [training.threads] at most 1,024 threads");
  CheckContains(Frugal(setup.directory, "plan tiny.toml --set training.threads=1024").output,
                "1,024 threads take turns on ");
}

TEST_CASE("generate takes numbers that it can honour") {
  const TempDir directory;
  for (const char* number :
       {"--count 99999999999999999999", "--count -1", "--count 1.5", "--count x", "--seed -1",
        "--seed 18446744073709551616", "--top-k -3", "--temperature inf", "--temperature nan",
        "--temperature -1", "--temperature 1e999"}) {
    CAPTURE(number);
    const ProgramRun run = Frugal(directory, std::string("generate x.toml --weights w ") + number);
    CheckFails(run, 2, "was given");
  }
  // A number that is right is followed by the missing file.
  CheckFails(Frugal(directory, "generate x.toml --weights w --seed 18446744073709551615"), 1,
             "there is no such file");
}

TEST_CASE("config names the origin of every value") {
  const Setup setup(false);
  const ProgramRun run = Frugal(setup.directory, "config tiny.toml --set optimizer.lr=0.5");
  CHECK(run.exit_code == 0);
  CheckContains(run.output, "lr = 0.5 (--set)\n");
  CheckContains(run.output, "units = 3 (tiny.toml:17)\n");
  CheckContains(run.output, "epochs = 2 (tiny.toml:20)\n");
  CheckContains(run.output, "num_devices = 1 (default)\n");
}

TEST_CASE("presets and schema") {
  const Setup setup(false);
  const std::string table = Frugal(setup.directory, "presets").output;
  CheckContains(table, "ForConvNets");
  CheckContains(table, "checkpoint_every_n_layers");
  const Json schema = Json::parse(Frugal(setup.directory, "schema").output);
  CHECK(schema.at("properties").contains("memory"));
}

TEST_CASE("inspect lists tensors, metadata and values") {
  const TempDir directory;
  {
    const auto writer =
        CreateWeights(directory.File("w.safetensors"), WeightsFileFormat::kAuto,
                      {{"a\x1b[2J", {2, 2}, StoredDType::kF32}, {"none", {0}, StoredDType::kF32}},
                      {{"source", "a test"}});
    const std::vector<float> values = {1, 3, std::numeric_limits<float>::quiet_NaN(), 5};
    writer->Write("a\x1b[2J", std::as_bytes(std::span(values)));
    writer->Write("none", {});
    writer->Finish();
  }
  const std::string plain = Frugal(directory, "inspect w.safetensors").output;
  CheckContains(plain, "a?[2J");  // nothing that drives a terminal
  CheckContains(plain, "2 tensors, 4 elements, 16 bytes");
  CheckContains(plain, "source = a test");
  const std::string values = Frugal(directory, "inspect --values w.safetensors").output;
  CheckContains(values, "1    5     3  1.63299    1\n");
  CheckContains(values, "-    -     -        -    0\n");
}

TEST_CASE("errors are one message and exit code 1") {
  const Setup setup(false);
  CheckFails(Frugal(setup.directory, "plan absent.toml"), 1, "there is no such file");
  CheckFails(Frugal(setup.directory, "plan tiny.toml --set training.epocs=1"), 1, "'epochs'");
  setup.directory.Write("notes.txt", "no weights");
  CheckFails(Frugal(setup.directory, "inspect notes.txt"), 1, "a weight file is");
  CheckFails(Frugal(setup.directory, "train tiny.toml --quiet"), 1, "train_images.idx");
}

TEST_CASE("mistakes in the command line are exit code 2") {
  const TempDir directory;
  CheckFails(Frugal(directory, ""), 2, "a command is needed");
  CheckFails(Frugal(directory, "trian x.toml"), 2, "did you mean 'train'?");
  CheckFails(Frugal(directory, "plan"), 2, "FILE.toml is required");
  CheckFails(Frugal(directory, "plan x.toml --jsno"), 2, "did you mean '--json'?");
  CheckFails(Frugal(directory, "plan x.toml y.toml"), 2, "'y.toml' is not known here");
  CheckFails(Frugal(directory, "\"$(printf 'tr\\033[31m')\""), 2, "there is no command 'tr?[31m'");
  CheckFails(Frugal(directory, "plan x \"$(printf -- '--\\033[31m')\""), 2,
             "'--?[31m' is not known here");
  CHECK(Frugal(directory, "$(printf 'x%.0s' $(seq 100000))").errors.size() < 1000);
  CHECK(Frugal(directory, "train --help").exit_code == 0);
}

TEST_CASE("a reader that goes away does no harm, a full disk is an error") {
  const Setup setup;
  const std::string status = "echo ${PIPESTATUS[0]}";
  const std::string command = Program("frugal") + " presets | true; " + status;
  CHECK(Run(setup.directory, "bash -c '" + command + "'").output == "0\n");
  const std::string train = Program("frugal") + " train tiny.toml --summary s.json | true; ";
  CHECK(Run(setup.directory, "bash -c '" + train + status + "'").output == "0\n");
  CHECK(setup.JsonIn("s.json").at("steps") == 4);
  const ProgramRun full = Run(setup.directory, Program("frugal") + " presets > /dev/full");
  CHECK(full.exit_code == 1);
  CheckContains(full.errors, "standard output");
  const ProgramRun large =
      Run(setup.directory, "bash -c 'ulimit -f 1; " + Program("frugal") + " new --out new.toml'");
  CheckFails(large, 1, "[new.toml] all of the file must be written; File too large");
  CHECK_FALSE(std::filesystem::exists(setup.directory.File("new.toml")));
}

}  // namespace
}  // namespace frugal::testing
