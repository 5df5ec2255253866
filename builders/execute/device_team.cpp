#include "builders/execute/device_team.h"

#include <sstream>
#include <string>

#include "builders/config/text/config_values.h"
#include "sdk/backend/backend.h"
#include "sdk/comm/communication_error.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/comm/thread_ranks.h"

namespace frugal {
namespace {

// Holds the groups along the axes of the mesh.
struct MeshGroups {
  MeshGroups(Communicator& all, const PipelineStage& stage)
      : pipeline(all.Split(static_cast<int>(stage.data_index), "the mesh")),
        data(all.Split(static_cast<int>(stage.index), "the mesh")) {}
  StageLinks links() const { return {.pipeline = pipeline.get(), .data = data.get()}; }

  std::unique_ptr<Communicator> pipeline, data;
};

class ThreadTeam final : public DeviceTeam {
 public:
  explicit ThreadTeam(const PlannedTraining& planned)
      : planned_(planned),
        team_threads_(ThreadCount()),
        threads_(static_cast<int>(planned.devices.size())) {}

  bool IsHere(std::size_t) const override { return true; }
  void Run(std::size_t count, const Body& body) override {
    RunThreadRanks(threads_, static_cast<int>(count), [&](Communicator& ranks) {
      SetThreadCount(team_threads_);
      const auto device = static_cast<std::size_t>(ranks.rank());
      const MeshGroups groups(ranks, planned_.devices[device].stage->stage);
      body(device, groups.links());
    });
  }
  void Share(const CommBuffer&, std::size_t, std::string_view) override {}
  void Sum(const CommBuffer&, std::string_view) override {}

 private:
  const PlannedTraining& planned_;
  int team_threads_;  // of each device
  WorkerThreads threads_;
};

// Returns a line for each value that trains: all but those of [output], which the first process
// alone uses.
std::string LinesOf(const RunConfig& config) {
  std::string lines;
  for (const ResolvedValue& value : AllValues(config)) {
    if (value.section == "output") continue;
    lines += value.section + "." + value.name + " = " + ToString(value.value) + "\n";
  }
  return lines;
}

class ProcessTeam final : public DeviceTeam {
 public:
  ProcessTeam(const PlannedTraining& planned, const LaunchedRanks& launched)
      : launched_(launched),
        device_(static_cast<std::size_t>(launched.ranks->rank())),
        groups_(*launched.ranks, planned.devices[device_].stage->stage) {
    CheckConfiguration(planned.config);
  }

  bool IsHere(std::size_t device) const override { return device == device_; }
  void Run(std::size_t count, const Body& body) override {
    if (device_ >= count) return;
    try {
      body(device_, groups_.links());
    } catch (const LostRankError&) {
      throw;
    } catch (const std::exception& error) {
      launched_.fail(error.what());  // at once, whatever becomes of the error here
      failed_ = true;
      throw;
    }
  }
  void Share(const CommBuffer& buffer, std::size_t device, std::string_view what) override {
    PrepareFor(what);
    launched_.ranks->Broadcast(buffer, static_cast<int>(device), what);
  }
  void Sum(const CommBuffer& buffer, std::string_view what) override {
    PrepareFor(what);
    launched_.ranks->AllReduce(buffer, what);
  }

 private:
  void PrepareFor(std::string_view what) {
    if (failed_) {
      throw CommunicationError({.where = std::string(what),
                                .required = "all processes take part",
                                .given = "the others end with this one",
                                .advice = {}});
    }
    launched_.ranks->set_step(groups_.pipeline->step());
  }
  // Holds this process's configuration against that of the first one.
  void CheckConfiguration(const RunConfig& config) {
    const std::string own = LinesOf(config);
    auto size = static_cast<std::int64_t>(own.size());
    Share({.data = &size, .count = 1, .dtype = DType::kI64}, 0, "the configuration");
    std::string first = device_ == 0 ? own : std::string(static_cast<std::size_t>(size), ' ');
    Share({.data = first.data(), .count = size, .dtype = DType::kU8}, 0, "the configuration");
    if (first == own) return;
    std::istringstream theirs(first), ours(own);
    std::string their_line, our_line;
    while (their_line == our_line && std::getline(theirs, their_line)) {
      std::getline(ours, our_line);
    }
    throw CommunicationError({.where = "rank " + std::to_string(device_) + ", configuration",
                              .required = "all ranks have one configuration",
                              .given = "rank 0 has " + their_line + ", this one " + our_line,
                              .advice = "start all with the same file and options"});
  }

  const LaunchedRanks& launched_;
  std::size_t device_;
  MeshGroups groups_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<DeviceTeam> MakeDeviceTeam(const PlannedTraining& planned) {
  if (const LaunchedRanks* launched = Launched()) {
    return std::make_unique<ProcessTeam>(planned, *launched);
  }
  return std::make_unique<ThreadTeam>(planned);
}

}  // namespace frugal
