#include "sdk/core/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace frugal {
namespace {

// Bytes after the first of a character; -1 for a byte that begins none.
int FollowersOf(unsigned char lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead <= 0xDF) return 1;
  if (lead >= 0xE0 && lead <= 0xEF) return 2;
  if (lead >= 0xF0 && lead <= 0xF4) return 3;
  return -1;
}

bool IsCodePoint(std::uint32_t code, int followers) {
  if (followers == 2) return code >= 0x800 && (code < 0xD800 || code > 0xDFFF);
  if (followers == 3) return code >= 0x10000 && code <= 0x10FFFF;
  return true;  // the lead byte already excludes overlong forms of two bytes
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    const int followers = FollowersOf(lead);
    if (followers < 0) return false;
    std::uint32_t code = followers == 0 ? lead : lead & (0x3Fu >> followers);
    for (int left = followers; left > 0; --left) {
      if (at == text.size()) return false;
      const auto next = static_cast<unsigned char>(text[at++]);
      if ((next & 0xC0) != 0x80) return false;
      code = (code << 6) | (next & 0x3Fu);
    }
    if (!IsCodePoint(code, followers)) return false;
  }
  return true;
}

std::string Shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::string_view kLeftOut = "...";
  std::size_t end = most > kLeftOut.size() ? most - kLeftOut.size() : 0;
  // Later bytes of a character have 10 as their highest bits.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + std::string(kLeftOut);
}

std::string WithoutControls(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char code) { return (code < 0x20 && code != '\n') || code == 0x7F; }, '?');
  return text;
}

std::string QuotedName(std::string_view name) {
  constexpr std::size_t kMostBytes = 120;
  std::string text = WithoutControls(Shortened(name, kMostBytes));
  std::ranges::replace(text, '\n', '?');  // which would look like the next message
  return "'" + text + "'";
}

}  // namespace frugal
