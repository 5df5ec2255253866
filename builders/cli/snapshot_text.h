#pragma once

#include <string>

#include "builders/snapshot/snapshot.h"

namespace frugal::cli {

// Tells what a snapshot holds: where its training stands, its files, and how many bytes of what.
std::string SnapshotText(const Snapshot& snapshot);

}  // namespace frugal::cli
