#include "tests/support/disk_changes.h"

#include <algorithm>
#include <fstream>
#include <functional>

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Kind = DiskCall::Kind;
using Change = DiskChange::Kind;

// Returns true where the call makes the change durable, given that it comes later.
bool Syncs(const DiskCall& sync, const DiskCall& changed) {
  switch (changed.kind) {
    case Kind::kWrite:
    case Kind::kTruncate:
      return sync.kind == Kind::kSync && sync.node == changed.node;
    case Kind::kLink:
    case Kind::kUnlink:
      return sync.kind == Kind::kSyncDirectory && sync.node == changed.at.directory;
    default:
      return false;
  }
}

bool IsDurable(const Recording& recording, std::size_t call, std::size_t calls) {
  const DiskCall& changed = recording.calls[call];
  bool first = false;  // of a rename's two directories
  bool second = false;
  for (std::size_t i = call + 1; i < calls; ++i) {
    const DiskCall& sync = recording.calls[i];
    if (Syncs(sync, changed)) return true;
    if (changed.kind != Kind::kRename || sync.kind != Kind::kSyncDirectory) continue;
    first = first || sync.node == changed.at.directory;
    second = second || sync.node == changed.to.directory;
    if (first && second) return true;
  }
  return false;
}

void AddWrite(const DiskCall& write, DiskChange change, std::int64_t block, std::int64_t& size,
              std::vector<DiskChange>& changes) {
  const std::int64_t end = write.offset + std::ssize(write.bytes);
  for (std::int64_t at = write.offset; at < end; at = change.end) {
    change.kind = Change::kBytes;
    change.begin = at;
    change.end = std::min(end, (at / block + 1) * block);
    changes.push_back(change);
    if (change.end <= size) continue;
    change.kind = Change::kLength;
    changes.push_back(change);
    size = change.end;
  }
}

void PutBytes(DiskNode& node, std::vector<std::int64_t>& sizes, std::size_t place,
              const DiskCall& call, const DiskChange& change) {
  const auto end = static_cast<std::size_t>(change.end);
  switch (change.kind) {
    case Change::kBytes:
      if (node.bytes.size() < end) node.bytes.resize(end, '\0');
      std::copy_n(call.bytes.begin() + (change.begin - call.offset), change.end - change.begin,
                  node.bytes.begin() + change.begin);
      return;
    case Change::kLength:
      sizes[place] = std::max(sizes[place], change.end);
      return;
    case Change::kCut:
      sizes[place] = change.end;
      node.bytes.resize(end, '\0');
      return;
    case Change::kName:
      return;
  }
}

void PutName(Disk& disk, const DiskCall& call) {
  if (call.kind == Kind::kLink || call.kind == Kind::kUnlink || call.kind == Kind::kRename) {
    auto& names = disk[call.at.directory].names;
    const auto found = names.find(call.at.name);
    if (call.kind == Kind::kLink) {
      names[call.at.name] = call.node;
    } else if (found != names.end() && found->second == call.node) {
      names.erase(found);
    }
  }
  if (call.kind == Kind::kRename) disk[call.to.directory].names[call.to.name] = call.node;
}

// Returns the recording's disk with a node for each file and directory that it makes.
Disk WithNewNodes(const Recording& recording) {
  Disk disk = recording.before;
  for (const DiskCall& call : recording.calls) {
    if (call.kind != Kind::kLink) continue;
    disk.resize(std::max(disk.size(), call.node + 1));
    disk[call.node].is_directory = call.makes_directory;
  }
  return disk;
}

}  // namespace

std::vector<DiskChange> ChangesOf(const Recording& recording, std::size_t calls,
                                  std::int64_t block) {
  std::vector<std::int64_t> sizes;
  for (const DiskNode& node : WithNewNodes(recording)) sizes.push_back(std::ssize(node.bytes));
  std::vector<DiskChange> changes;
  for (std::size_t i = 0; i < calls; ++i) {
    const DiskCall& call = recording.calls[i];
    DiskChange change = {.call = i, .is_durable = IsDurable(recording, i, calls)};
    if (call.kind == Kind::kWrite) {
      AddWrite(call, change, block, sizes[call.node], changes);
    } else if (call.kind == Kind::kTruncate) {
      change.kind = Change::kCut;
      change.end = sizes[call.node] = call.offset;
      changes.push_back(change);
    } else if (call.kind == Kind::kLink || call.kind == Kind::kUnlink ||
               call.kind == Kind::kRename) {
      changes.push_back(change);
    }
  }
  return changes;
}

Disk DiskWith(const Recording& recording, const std::vector<DiskChange>& changes) {
  Disk disk = WithNewNodes(recording);
  std::vector<std::int64_t> sizes;
  for (const DiskNode& node : disk) sizes.push_back(std::ssize(node.bytes));
  for (const DiskChange& change : changes) {
    const DiskCall& call = recording.calls[change.call];
    if (change.kind == Change::kName) {
      PutName(disk, call);
    } else {
      PutBytes(disk[call.node], sizes, call.node, call, change);
    }
  }
  for (std::size_t i = 0; i < disk.size(); ++i) {
    disk[i].bytes.resize(static_cast<std::size_t>(sizes[i]), '\0');
  }
  return disk;
}

std::string ContentOf(const Disk& disk) {
  std::string text;
  const std::function<void(std::size_t)> add = [&](std::size_t place) {
    const DiskNode& node = disk[place];
    text += node.is_directory ? "{" : std::to_string(node.bytes.size()) + ":" + node.bytes;
    for (const auto& [name, below] : node.names) {
      text += name + '\0';
      add(below);
    }
    if (node.is_directory) text += "}";
  };
  add(0);
  return text;
}

void WriteDisk(const Disk& disk, const fs::path& root) {
  const std::function<void(std::size_t, const fs::path&)> write = [&](std::size_t place,
                                                                      const fs::path& path) {
    const DiskNode& node = disk[place];
    if (!node.is_directory) {
      std::ofstream(path, std::ios::binary) << node.bytes;
      return;
    }
    fs::create_directory(path);
    for (const auto& [name, below] : node.names) write(below, path / name);
  };
  write(0, root);
}

std::string TextOf(const Recording& recording, const DiskChange& change) {
  const std::string& call = recording.calls[change.call].text;
  switch (change.kind) {
    case Change::kBytes:
      return call + ": bytes [" + std::to_string(change.begin) + ", " + std::to_string(change.end) +
             ")";
    case Change::kLength:
      return call + ": length " + std::to_string(change.end);
    case Change::kCut:
    case Change::kName:
      return call;
  }
  return call;
}

}  // namespace frugal::testing
