#pragma once

#include <functional>
#include <string>
#include <vector>

namespace frugal::gallery {

// One wrong input, and the code that must refuse it with an Error.
struct Case {
  std::string title;
  std::string input;  // what the user wrote, a few lines
  std::function<void()> action;
};

// A configuration file "run.toml" that begins with `text`; where that does not already fail to be
// read, a training is planned from it. Layers that end in the ten classes follow the text.
Case FromToml(const std::string& title, const std::string& text);
// The text is the whole file.
Case FromWholeToml(const std::string& title, const std::string& text);

// Chapters of the gallery. They expect to run in an empty directory and write files into it.
struct Chapter {
  std::string title;
  std::vector<Case> cases;
};
Chapter TomlTypos();
Chapter TomlValues();
Chapter Contradictions();
Chapter ShapesThatDoNotChain();
Chapter WeightFiles();
Chapter Data();
Chapter Misuse();
Chapter Diffusion();
Chapter Registered();
Chapter Snapshots();
Chapter Captures();

}  // namespace frugal::gallery
