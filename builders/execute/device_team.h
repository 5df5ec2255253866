#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "builders/plan/planned_training.h"
#include "sdk/comm/communicator.h"
#include "sdk/train/stage.h"

namespace frugal {

// Runs the devices of a training: all of them in this process, each a thread, or one here and each
// other one in a process of its own, where this one was started in company (Launched). Processes
// call everything in the same order.
class DeviceTeam {
 public:
  // body(device, links) works with the others over the links.
  using Body = std::function<void(std::size_t device, const StageLinks& links)>;

  DeviceTeam() = default;
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;
  virtual ~DeviceTeam() = default;

  virtual bool IsHere(std::size_t device) const = 0;
  // Runs body for each device that is here and among the first `count`, at the same time.
  virtual void Run(std::size_t count, const Body& body) = 0;
  // Brings every process what the one with the device has in its buffer.
  virtual void Share(const CommBuffer& buffer, std::size_t device, std::string_view what) = 0;
  // Leaves the sums over all processes in the buffer of each.
  virtual void Sum(const CommBuffer& buffer, std::string_view what) = 0;
};

// The planned training must outlive it. Throws CommunicationError where another process has another
// configuration.
std::unique_ptr<DeviceTeam> MakeDeviceTeam(const PlannedTraining& planned);

}  // namespace frugal
