#pragma once

#include <string>

#include "builders/config/run_config.h"
#include "sdk/core/error.h"

namespace frugal {

// Returns the place in the configuration's file of what an error is about, by the name in its
// brackets: a key or section ("training.threads", "loss"), a size of a named architecture
// ("gpt2.n_head"), a layer by its path ("2.weight", "model.layers.2"). Where the name says nothing,
// the file alone is returned; nothing is where no file says anything of it.
SourceLocation PlaceOf(const RunConfig& config, const std::string& where);

// Runs `work` and returns what it returns; an error of it gets its place in the configuration.
template <class Work>
auto WithPlaceIn(const RunConfig& config, Work work) {
  try {
    return work();
  } catch (Error& error) {
    error.PlaceAt(PlaceOf(config, error.diagnostic().where));
    throw;
  }
}

}  // namespace frugal
