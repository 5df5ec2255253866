#include "sdk/comm/launched_ranks.h"

namespace frugal {
namespace {

const LaunchedRanks* launched = nullptr;

}  // namespace

const LaunchedRanks* Launched() { return launched; }

bool IsFirstProcess() { return launched == nullptr || launched->ranks->rank() == 0; }

LaunchedScope::LaunchedScope(const LaunchedRanks& ranks) : ranks_(ranks) { launched = &ranks_; }

LaunchedScope::~LaunchedScope() { launched = nullptr; }

}  // namespace frugal
