// Makes the mistakes that people make and prints the exact message that each gets. Fails if one of
// them goes unnoticed. tests/samples/error_gallery.txt is this program's output; to renew it:
//   build/release/bin/sample_020_error_gallery > tests/samples/error_gallery.txt

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "builders/main_guard.h"
#include "samples/020_error_gallery/case.h"
#include "sdk/core/error.h"

namespace frugal::gallery {
namespace {

namespace fs = std::filesystem;

// An empty directory to work in, so that files have the same names in messages on every machine.
class Workspace {
 public:
  Workspace() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "frugal_gallery_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
    fs::current_path(path_);
  }
  ~Workspace() {
    std::error_code error;
    fs::current_path(before_, error);
    fs::remove_all(path_, error);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

 private:
  fs::path before_;
  fs::path path_;
};

// The lines of a text behind a title, below each other.
void Print(const std::string& title, std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    at += 1;
    if (at < text.size() && text[at] != '\n') text.insert(at, 8, ' ');
  }
  std::cout << title << text << "\n";
}

// True where the mistake got a message.
bool Show(int number, const Case& mistake) {
  std::cout << "\n" << number << ". " << mistake.title << "\n";
  Print("  input ", mistake.input);
  try {
    mistake.action();
  } catch (const Error& error) {
    Print("  error ", error.what());
    return true;
  } catch (const std::exception& error) {
    Print("  NOT AN ERROR OF FRUGAL: ", error.what());
    return false;
  }
  std::cout << "  NOT NOTICED\n";
  return false;
}

void ShowAll() {
  const Workspace workspace;
  int number = 0;
  int unnoticed = 0;
  for (const Chapter& chapter :
       {TomlTypos(), TomlValues(), Contradictions(), ShapesThatDoNotChain(), WeightFiles(), Data(),
        Misuse(), Diffusion(), Registered(), Snapshots(), Captures()}) {
    std::cout << (number == 0 ? "" : "\n") << "== " << chapter.title << "\n";
    for (const Case& mistake : chapter.cases) unnoticed += Show(++number, mistake) ? 0 : 1;
  }
  std::cout << "\n" << number << " mistakes, " << number - unnoticed << " messages\n";
  if (unnoticed == 0) return;
  throw Error({.where = "gallery",
               .required = "every mistake gets a message",
               .given = std::to_string(unnoticed) + " did not",
               .advice = "look for NOT in the output"});
}

}  // namespace
}  // namespace frugal::gallery

int main() { return frugal::RunProgram(frugal::gallery::ShowAll); }
