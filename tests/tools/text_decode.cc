// Decodes token ids for tools/parity/decoders_diff.py: the argument is a tokenizer.json; each line
// of standard input is a list of ids separated by blanks, each line of output a JSON array of the
// text that Tokenizer::decode returns and the one that a TextStream shows.
#include <iostream>
#include <sstream>
#include <string>

#include "format/metadata.h"
#include "text/tokenizer.h"

namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto tokenizer = wick::Tokenizer::open(argv[1]);
  if (!tokenizer) {
    std::cerr << wick::to_string(tokenizer.error()) << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<wick::TokenId> ids;
    std::istringstream numbers(line);
    for (wick::TokenId id = 0; numbers >> id;)
      ids.push_back(id);
    wick::TextStream stream(**tokenizer);
    std::string shown;
    for (const wick::TokenId id : ids)
      shown += stream.push(id);
    shown += stream.finish();
    std::cout << "[" << json_text((*tokenizer)->decode(ids, false)) << ", " << json_text(shown)
              << "]\n";
  }
  return 0;
}
