// The frugal command on devices that are processes, as mpirun starts them: the same numbers as on
// threads, and an end with a reason where a process fails, leaves, stops or is killed.
#include <nlohmann/json.hpp>

#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

// Four layers with something to learn in each, in float and with several micro-batches.
std::string DeepConfig() {
  std::string text = kTinyConfig;
  const std::size_t last = text.find("[[model.layers]]\ntype = \"dense\"");
  for (const char* units : {"16", "12", "8"}) {
    text.insert(last, std::string("[[model.layers]]\ntype = \"dense\"\nunits = ") + units +
                          "\nactivation = \"tanh\"\n\n");
  }
  return text + "threads = 1\n\n[memory]\npreset = \"MultiGpu\"\nmicro_batch_count = 2\n";
}

// A sanitizer has findings of MPI's own.
bool HasMpi() {
  if (kIsSanitized) return false;
  const TempDir directory;
  return Run(directory, "command -v mpirun && ldd " + Program("frugal") + " | grep libmpi")
             .exit_code == 0;
}

// "mpirun ... -n 2 frugal"
std::string Processes(int count) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_WAIT_POLICY=passive "
         "mpirun --oversubscribe --bind-to none -n " +
         std::to_string(count) + " " + Program("frugal");
}

// Starts two processes; the second one does `second` before it runs the command as well. Debian
// 13's mpirun (5.0.7) does not survive "first : second".
std::string TwoProcesses(const std::string& second) {
  std::string start = Processes(2);
  start.insert(start.rfind(' ') + 1, "sh differing.sh ");
  return "echo '[ $OMPI_COMM_WORLD_RANK = 0 ] || " + second + "; exec \"$@\"' > differing.sh; " +
         start;
}

// Open MPI 5 ends its processes at once where mpirun is told to end, and drops what they say.
bool MpirunWaits() {
  const TempDir directory;
  return Run(directory, "mpirun --version | grep -q '(Open MPI) 4'").exit_code == 0;
}

std::string Devices(int count) { return " --set memory.num_devices=" + std::to_string(count); }

struct LaunchSetup {
  LaunchSetup() {
    directory.Write("deep.toml", DeepConfig());
    WriteTinyData(directory);
  }
  Json SummaryOf(const std::string& file) const {
    return Json::parse(ReadAll(directory.File(file)));
  }
  // Returns the losses and the hash of the weights.
  std::string NumbersOf(const std::string& file) const {
    const Json summary = SummaryOf(file);
    return summary.at("losses").dump() + summary.at("weights_hash").dump();
  }

  TempDir directory;
};

// A run that is long enough for something to happen in it.
const std::string kLong = " train deep.toml --quiet --set training.epochs=1000000" + Devices(2);

// Runs two processes and, when both are at it, sends one of them a signal.
ProgramRun RunAndSignal(const LaunchSetup& setup, const std::string& signal,
                        const std::string& links = "") {
  // The newest of mpirun's own children.
  return Run(setup.directory, links + Processes(2) + kLong + " & mpirun=$!; sleep 2; pkill -" +
                                  signal + " -n -x -P $mpirun frugal; wait $mpirun");
}

// A name of shared memory whose process is gone, or a process that still runs in this directory.
bool LeftBehind(const LaunchSetup& setup) {
  return Run(setup.directory,
             "sleep 1; for file in /dev/shm/frugal-ranks-*; do "
             "pid=${file#*ranks-}; [ ! -e \"$file\" ] || [ -e /proc/${pid%-*} ] || exit 0; done; "
             "for pid in $(pgrep -x frugal); do "
             "case $(readlink /proc/$pid/cwd) in \"$(pwd -P)\"*) exit 0 ;; esac; done; exit 1")
             .exit_code == 0;
}

TEST_CASE("processes train what threads do, to the bit", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  for (const int devices : {2, 4}) {
    const std::string arguments = " train deep.toml --quiet" + Devices(devices);
    const ProgramRun threads =
        Frugal(setup.directory, arguments + " --summary threads.json --weights t.safetensors");
    CHECK(threads.errors == "");
    REQUIRE(threads.exit_code == 0);
    for (const std::string links : {"", "FRUGAL_LINKS=mpi "}) {
      INFO(devices << " devices " << links);
      const ProgramRun processes =
          Run(setup.directory, links + Processes(devices) + arguments +
                                   " --summary processes.json --weights p.safetensors");
      CHECK(processes.output == "");
      REQUIRE(processes.exit_code == 0);
      CHECK(setup.NumbersOf("threads.json") == setup.NumbersOf("processes.json"));
      CHECK(ReadAll(setup.directory.File("t.safetensors")) ==
            ReadAll(setup.directory.File("p.safetensors")));
      const Json measured = setup.SummaryOf("processes.json").at("devices");
      CHECK(measured == setup.SummaryOf("threads.json").at("devices"));
      for (const Json& device : measured) {
        CHECK(device.at("planned_bytes") == device.at("measured_bytes"));
        CHECK(device.at("sent_bytes") > 0);
      }
    }
  }
  CHECK_FALSE(LeftBehind(setup));
}

TEST_CASE("processes page to files of their own what threads do", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  std::string wide = DeepConfig();  // with tensors of more than a KB on both devices
  for (const char* units : {"units = 16", "units = 8"}) {
    wide.replace(wide.find(units), std::string(units).size(), "units = 128");
  }
  setup.directory.Write("wide.toml", wide);
  const std::string arguments = " train wide.toml --quiet" + Devices(2);
  const std::string paged = arguments +
                            " --set memory.memory_page_file=page --set memory.memory_page_kinds="
                            "Weights --set memory.memory_page_least_kb=1";
  REQUIRE(Frugal(setup.directory, arguments + " --summary without.json").exit_code == 0);
  REQUIRE(Frugal(setup.directory, paged + " --summary threads.json").exit_code == 0);
  REQUIRE(Run(setup.directory, Processes(2) + paged + " --summary processes.json").exit_code == 0);
  CHECK(setup.NumbersOf("without.json") == setup.NumbersOf("threads.json"));
  CHECK(setup.NumbersOf("without.json") == setup.NumbersOf("processes.json"));
  const Json threads = setup.SummaryOf("threads.json"),
             processes = setup.SummaryOf("processes.json");
  CHECK(threads.at("devices") == processes.at("devices"));
  for (const char* bytes :
       {"step_read_bytes", "step_written_bytes", "read_bytes", "written_bytes"}) {
    INFO(bytes);
    CHECK(threads.at("paging").at(bytes) > 0);
    CHECK(threads.at("paging").at(bytes) == processes.at("paging").at(bytes));
  }
  CHECK(setup.SummaryOf("without.json").at("paging") == nullptr);
  // Something is where the second process's file would be.
  setup.directory.Write("page.1", "mine");
  const ProgramRun refused = Run(setup.directory, Processes(2) + paged);
  CHECK(refused.exit_code != 0);
  CheckContains(refused.errors, "page.1");
  CheckContains(refused.errors, "File exists");
  CHECK(ReadAll(setup.directory.File("page.1")) == "mine");
  CHECK_FALSE(Run(setup.directory, "ls page.0").exit_code == 0);
  CHECK_FALSE(LeftBehind(setup));
}

TEST_CASE("snapshots of processes are read by threads, and those of threads by processes",
          "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const std::string train = " train deep.toml --quiet" + Devices(2);
  const auto half = [&](const std::string& directory) {
    return train + " --set snapshots.directory=" + directory;
  };
  const auto rest = [&](const std::string& directory) {
    return half(directory) + " --set training.epochs=4 --resume must --summary " + directory +
           ".json";
  };
  REQUIRE(
      Frugal(setup.directory, train + " --set training.epochs=4 --summary whole.json").exit_code ==
      0);
  REQUIRE(Run(setup.directory, Processes(2) + half("a")).exit_code == 0);
  REQUIRE(Frugal(setup.directory, rest("a")).exit_code == 0);
  REQUIRE(Frugal(setup.directory, half("b")).exit_code == 0);
  REQUIRE(Run(setup.directory, Processes(2) + rest("b")).exit_code == 0);
  CHECK(setup.NumbersOf("a.json") == setup.NumbersOf("whole.json"));
  CHECK(setup.NumbersOf("b.json") == setup.NumbersOf("whole.json"));
  CHECK_FALSE(LeftBehind(setup));
}

TEST_CASE("a directory that goes away during a training costs one of several processes nothing",
          "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const std::string arguments =
      " train deep.toml --quiet --set training.epochs=400" + Devices(2) + " --weights ";
  REQUIRE(Frugal(setup.directory, arguments + "undisturbed.bin").exit_code == 0);
  // The log is there when outputs were checked; from then on each epoch finds better weights.
  const ProgramRun run = Run(
      setup.directory,
      Processes(2) + arguments +
          "w.bin --set output.best_weights=gone/best.bin --set output.log=log.csv & training=$!; "
          "while [ ! -e log.csv ] && kill -0 $training; do sleep 0.01; done; "
          "until rm -rf gone; do :; done; wait $training");
  CHECK(run.exit_code == 0);
  CheckContains(run.errors, "there is no directory 'gone'; create it first; the training goes on");
  CHECK(ReadAll(setup.directory.File("w.bin")) == ReadAll(setup.directory.File("undisturbed.bin")));
}

TEST_CASE("a plan is printed and a result written once, by the first process", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const ProgramRun run =
      Run(setup.directory, Processes(2) + " train deep.toml --weights w.bin" + Devices(2));
  CHECK(run.exit_code == 0);
  const std::size_t first = run.output.find("Plan of ");
  REQUIRE(first != std::string::npos);
  CHECK(run.output.find("Plan of ", first + 1) == std::string::npos);
  CheckContains(run.output, "wrote w.bin");
}

TEST_CASE("processes that are not the devices, or have other settings, are refused",
          "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const ProgramRun one = Run(setup.directory, Processes(2) + " train deep.toml");
  CHECK(one.exit_code == 1);
  CheckContains(one.errors,
                "each process that was started is one device; num_devices = 1, and 2 processes "
                "were started; start as many, or use --set memory.num_devices=2");
  const ProgramRun other =
      Run(setup.directory,
          TwoProcesses("set -- \"$@\" --set optimizer.lr=0.5") + " train deep.toml" + Devices(2));
  CHECK(other.exit_code == 1);
  CheckContains(other.errors,
                "rank 1, configuration] all ranks have one configuration; rank 0 has optimizer.lr "
                "= 0.001, this one optimizer.lr = 0.5");
  const ProgramRun alone =
      Run(setup.directory, "OMPI_COMM_WORLD_SIZE=4 " + Program("frugal") + " train deep.toml");
  CHECK(alone.exit_code == 1);
  CheckContains(alone.errors,
                "error: [launch] the launcher and the MPI library belong together; 4 "
                "processes were started (OMPI_COMM_WORLD_SIZE), and the library "
                "sees 1");
}

TEST_CASE("a process that is killed or stopped ends the run, which says what it was at",
          "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const ProgramRun killed = RunAndSignal(setup, "KILL");
  CHECK(killed.exit_code != 0);
  CheckContains(killed.errors, "is gone; the last that it began was step ");
  for (const std::string links : {"", "FRUGAL_LINKS=mpi "}) {
    INFO("links: " << links);
    const ProgramRun stopped = RunAndSignal(setup, "STOP", links);
    CHECK(stopped.exit_code != 0);
    CheckContains(stopped.errors, "has not run for 10 seconds; the last that it began was step ");
  }
  CHECK_FALSE(LeftBehind(setup));
}

// Two processes are told to end, and so are those that go on from their snapshot.
void CheckThatItGoesOn(const std::string& signal) {
  const LaunchSetup setup;
  const std::string train =
      Processes(2) + kLong +
      " --set snapshots.directory=runs --set snapshots.every_n_steps=1000000000";
  const std::string end = " & mpirun=$!; sleep 2; " + signal + "; wait $mpirun";
  const ProgramRun ended = Run(setup.directory, train + end);
  CHECK(ended.exit_code != 0);
  CheckContains(ended.errors, " ended the training behind step ");
  CheckContains(ended.errors, "; --resume auto goes on behind step ");
  const ProgramRun next = Run(setup.directory, train + " --resume must" + end);
  CheckContains(next.errors, "; --resume auto goes on behind step ");
}

TEST_CASE("SIGTERM to one process leaves a snapshot that the next run goes on from",
          "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  for (const std::string which : {"newest", "oldest"}) {
    INFO("the " << which << " process");
    CheckThatItGoesOn("pkill -TERM --" + which + " -x -P $mpirun frugal");
  }
}

TEST_CASE("SIGTERM to mpirun leaves a snapshot that the next run goes on from", "[needs-mpi4]") {
  FRUGAL_SKIP_UNLESS(HasMpi() && MpirunWaits(),
                     "there is no mpirun of Open MPI 4, the program was built without MPI, or with "
                     "a sanitizer");
  CheckThatItGoesOn("kill -TERM $mpirun");
}

TEST_CASE("processes that were started to ignore SIGTERM go on", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  setup.directory.Write("ignoring.sh", "trap '' TERM\nexec \"$@\"\n");
  std::string start = Processes(2);
  start.insert(start.rfind(' ') + 1, "sh ignoring.sh ");
  const ProgramRun run =
      Run(setup.directory, start + kLong +
                               " & mpirun=$!; sleep 2; pkill -TERM -x -P $mpirun frugal; sleep 1; "
                               "pkill -INT -o -x -P $mpirun frugal; wait $mpirun");
  CHECK((run.exit_code == 130 || run.exit_code == 143));  // 143: of the other rank
  CheckContains(run.errors, "warning: SIGINT ended the training behind step ");
}

TEST_CASE("ranks that are piled on one processor are told so once", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  const ProgramRun piled =
      Run(setup.directory, "taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[,-].*//') env " +
                               Processes(2) + " train deep.toml --quiet" + Devices(2));
  CHECK(piled.exit_code == 0);
  const std::string warning = "warning: ranks 0, 1 share 1 processors (";
  const std::size_t first = piled.errors.find(warning);
  REQUIRE(first != std::string::npos);
  CHECK(piled.errors.find(warning, first + 1) == std::string::npos);
  CheckContains(piled.errors, "mpirun --bind-to none");
}

TEST_CASE("a process that cannot go on ends the run with its own message", "[needs-mpi]") {
  FRUGAL_SKIP_UNLESS(HasMpi(),
                     "there is no mpirun, the program was built without MPI, or with a sanitizer");
  const LaunchSetup setup;
  // The second process alone cannot read its data.
  const ProgramRun run =
      Run(setup.directory, TwoProcesses("{ mkdir -p other; cp deep.toml other; cd other; }") +
                               " train deep.toml --quiet" + Devices(2));
  CHECK(run.exit_code == 1);
  CheckContains(run.errors, "train_labels.idx");  // the last stage needs no images
  CHECK_FALSE(LeftBehind(setup));
}

}  // namespace
}  // namespace frugal::testing
