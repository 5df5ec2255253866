// Prints where the time of the last build went: seconds of compiler time by room, and the slowest
// files, or sources that were compiled as one. Reads the log that ninja keeps in the build
// directory; what ccache had counts as short as it was.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sdk/core/error.h"

namespace {

struct Compiled {
  std::string file;
  double seconds = 0;
  std::size_t sources = 1;
};

// "layers/CMakeFiles/frugal_layers.dir/blocks/parts.cpp.o" -> "layers/blocks/parts.cpp"
std::string SourceOf(const std::string& object) {
  const std::size_t begin = object.find("CMakeFiles/");
  const std::size_t end = object.find(".dir/");
  if (begin == std::string::npos || end == std::string::npos) return object;
  return object.substr(0, begin) + object.substr(end + 5, object.size() - end - 7);
}

// Several sources that were compiled as one are named by the first of those that CMake's source for
// them includes.
Compiled Named(const std::filesystem::path& build, const std::string& object, double seconds) {
  std::ifstream joined(build / object.substr(0, object.size() - 2));
  std::string first;
  std::size_t sources = 0;
  for (std::string line; std::getline(joined, line);) {
    if (!line.starts_with("#include \"")) continue;
    if (sources++ == 0) first = line.substr(10, line.size() - 11);
  }
  if (sources == 0) return {SourceOf(object), seconds};
  const std::string below = "/" + object.substr(0, object.find("CMakeFiles/"));
  return {first.substr(first.rfind(below) + 1), seconds, sources};
}

// Returns the latest time of each object file that there still is; a line of the log is "start end
// time-stamp output hash", in ms.
std::vector<Compiled> ReadLog(const std::string& path) {
  std::ifstream log(path);
  if (!log) {
    throw frugal::ConfigError({.where = path,
                               .required = "the log of a build by ninja",
                               .given = "it cannot be read",
                               .advice = "build first: ./run build"});
  }
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::map<std::string, Compiled> compiled;
  for (std::string line; std::getline(log, line);) {
    std::istringstream fields(line);
    double start = 0, end = 0;
    std::string stamp, output;
    if (!(fields >> start >> end >> stamp >> output)) continue;
    if (!output.ends_with(".cpp.o") && !output.ends_with("_cxx.cxx.o")) continue;
    if (!std::filesystem::exists(directory / output)) continue;
    compiled[output] = Named(directory, output, (end - start) / 1000);
  }
  std::vector<Compiled> files;
  files.reserve(compiled.size());
  for (auto& [output, file] : compiled) files.push_back(std::move(file));
  return files;
}

std::string RoomOf(const std::string& file) {
  return std::filesystem::path(file).parent_path().generic_string();
}

void Print(const std::string& name, double seconds, std::size_t count) {
  std::cout << std::left << std::setw(44) << name << std::right << std::fixed
            << std::setprecision(1) << std::setw(8) << seconds << std::setw(7) << count
            << std::setw(8) << std::setprecision(2) << seconds / static_cast<double>(count) << "\n";
}

int Run(const std::string& log) {
  std::vector<Compiled> files = ReadLog(log);
  struct Room {
    double seconds = 0;
    std::size_t count = 0;
  };
  std::map<std::string, Room> rooms;
  Room all;
  for (const Compiled& file : files) {
    for (Room* room : {&rooms[RoomOf(file.file)], &all}) {
      room->seconds += file.seconds;
      room->count += file.sources;
    }
  }
  std::cout << std::left << std::setw(44) << "room" << std::right << std::setw(8) << "seconds"
            << std::setw(7) << "files" << std::setw(8) << "each"
            << "\n";
  for (const auto& [name, room] : rooms) Print(name, room.seconds, room.count);
  Print("all", all.seconds, all.count);
  std::ranges::sort(files, std::greater(), &Compiled::seconds);
  std::cout << "\nslowest\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(12, files.size()); ++i) {
    Print(files[i].file, files[i].seconds, files[i].sources);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return Run(count > 1 ? arguments[1] : FRUGAL_BUILD_LOG);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
