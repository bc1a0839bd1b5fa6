// Converts Python's literals to JSON, byte by byte: 'a' or "a", True, None, [1, (2,)], {'k': 1.5}.
// JSON's own words and strings are understood, too. One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wick {

class PythonLiteral {
 public:
  // False: `c` is not part of the literal, which ends before it (or is bad).
  bool push(char c, std::string& json);

  // The text ends here: whether the literal is whole.
  bool finish(std::string& json);

  bool is_bad() const noexcept { return is_bad_; }

 private:
  enum class Want { kValue, kValueOrEnd, kKeyOrEnd, kColon, kNext };

  bool push_string(char c, std::string& json);
  void push_escape(char c, std::string& json);
  void put(char32_t code, std::string& json);
  bool open(char c, std::string& json);
  bool close(char c, std::string& json);
  void end_value();
  bool end_word(std::string& json);
  bool fail();

  Want want_ = Want::kValue;
  std::string open_ = {};  // the brackets that are open
  std::string word_ = {}, escape_ = {};
  char quote_ = 0;
  bool is_bad_ = false, is_key_ = false, has_comma_ = false, is_over_ = false;
};

// The JSON of a literal; nullopt if the text is none.
std::optional<std::string> json_of_python(std::string_view text);

}  // namespace wick
