#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace frugal {

// PyTorch, where a Python that has it is installed: the shell's first, else the system's own.
class Peer {
 public:
  Peer() {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      const std::string probe = std::string(python) + " -c 'import torch' >/dev/null 2>&1";
      if (std::system(probe.c_str()) != 0) continue;
      python_ = python;
      return;
    }
  }

  bool exists() const { return !python_.empty(); }

  // What peer.py prints: an object, or nothing where it failed, which has then said why.
  nlohmann::ordered_json Run(const std::string& workload, const std::string& precision) const {
    return RunScript("peer.py", workload + " " + precision);
  }
  // The same for another script of this directory.
  nlohmann::ordered_json RunScript(const std::string& script, const std::string& arguments) const {
    if (!exists()) return {};
    const std::string command =
        "OMP_NUM_THREADS=2 " + python_ + " " FRUGAL_BENCHMARK_DIR "/" + script + " " + arguments;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    if (pclose(pipe) != 0) return {};
    return nlohmann::ordered_json::parse(text, nullptr, false);
  }

 private:
  std::string python_;
};

}  // namespace frugal
