#include <utility>

#include "grammar/notation.h"
#include "grammar/schema/document.h"

namespace wick::grammar {

namespace {

void append_in_json(unsigned char byte, std::string& json) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (byte == '"' || byte == '\\') {
    json += '\\';
    json += static_cast<char>(byte);
  } else if (byte == '\n') {
    json += "\\n";
  } else if (byte < 0x20) {
    json += "\\u00";
    json += kHex[byte / 16];
    json += kHex[byte % 16];
  } else {
    json += static_cast<char>(byte);
  }
}

// The content of a JSON string from somewhere within it, up to its quote; `json` becomes the rest
// behind the quote.
std::optional<std::string> take_text(std::string_view& json) {
  std::string out;
  // The end of a character that was begun.
  while (!json.empty() && (static_cast<unsigned char>(json[0]) & 0xC0U) == 0x80) {
    out += json[0];
    json.remove_prefix(1);
  }
  std::size_t end = 0;
  while (end < json.size() && json[end] != '"')
    end += json[end] == '\\' ? 2 : 1;
  if (end >= json.size()) return std::nullopt;
  const auto text = read_document('"' + std::string(json.substr(0, end + 1)));
  if (!text || !text->root.is(Json::Kind::kString)) return std::nullopt;
  json.remove_prefix(end + 1);
  return out.append(text->root.text);
}

// Mode: how many bytes of `end` the text ends with.
class RawText final : public Notation {
 public:
  explicit RawText(std::string end) : end_(std::move(end)), falls_(end_.size() + 1) {
    for (std::size_t i = 1, k = 0; i < end_.size(); ++i) {
      while (k > 0 && end_[i] != end_[k])
        k = falls_[k];
      if (end_[i] == end_[k]) ++k;
      falls_[i + 1] = k;
    }
  }

  std::string_view before() const noexcept override { return "\""; }

  std::string_view behind() const noexcept override { return "\""; }

  bool read(Mode& mode, unsigned char byte, std::string& json) const override {
    std::size_t k = mode;
    while (k > 0 && static_cast<unsigned char>(end_[k]) != byte)
      k = falls_[k];
    if (!end_.empty() && static_cast<unsigned char>(end_[k]) == byte) ++k;
    if (!end_.empty() && k == end_.size()) return false;
    mode = k;
    append_in_json(byte, json);
    return true;
  }

  bool may_end(Mode /*mode*/) const noexcept override { return true; }

  std::optional<std::string> write(Mode /*mode*/, std::string_view json) const override {
    auto text = take_text(json);
    const bool is_good = text && (end_.empty() || text->find(end_) == std::string::npos);
    return is_good ? text : std::nullopt;
  }

 private:
  std::string end_;
  std::vector<std::size_t> falls_;  // by matched bytes
};

class PythonValue final : public Notation {
 public:
  bool read(Mode& mode, unsigned char byte, std::string& json) const override {
    const char c = static_cast<char>(byte);
    if (mode == kText || mode == kEscape) {
      json += c;
      mode = mode == kEscape ? kText : c == '\\' ? kEscape : c == '"' ? kPlain : kText;
      return true;
    }
    if (mode >= kNone) {  // n·o·n·e is spelled as n·u·l·l is
      constexpr std::string_view kPython = "one", kJson = "ull";
      const std::size_t at = mode - kNone;
      if (c != kPython[at]) return false;
      json += kJson[at];
      mode = at + 1 == kPython.size() ? kPlain : mode + 1;
      return true;
    }
    if (c == 'n' || c == 't' || c == 'f') {
      if (mode != kWord) return false;
    } else if (c == 'N') {
      json += 'n';
      mode = kNone;
      return true;
    } else if (c == 'T' || c == 'F') {
      json += c == 'T' ? 't' : 'f';
      mode = kWord;
      return true;
    }
    json += c;
    if (c == '"') mode = kText;
    if (c == ',' || c == ']' || c == '}' || c == ' ') mode = kPlain;
    return true;
  }

  bool may_end(Mode mode) const noexcept override { return mode == kPlain || mode == kWord; }

  std::optional<std::string> write(Mode mode, std::string_view json) const override {
    std::string out;
    if (mode >= kNone) {
      const std::size_t at = mode - kNone;
      out = std::string_view("one").substr(at);
      json.remove_prefix(std::min(json.size(), 3 - at));
      mode = kPlain;
    }
    bool is_word = mode == kWord;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const char c = json[i];
      const bool is_text = mode == kText || mode == kEscape;
      if (is_text) {
        mode = mode == kEscape ? kText : c == '\\' ? kEscape : c == '"' ? kPlain : kText;
      } else if (c == '"') {
        mode = kText;
      } else if (!is_word && (c == 't' || c == 'f')) {
        out += c == 't' ? 'T' : 'F';
        is_word = true;
        continue;
      } else if (!is_word && c == 'n') {
        out += "None";
        i += 3;
        continue;
      }
      if (c < 'a' || c > 'z') is_word = false;
      out += c;
    }
    return out;
  }

 private:
  static constexpr Mode kPlain = 0, kText = 1, kEscape = 2, kWord = 3, kNone = 4;
};

}  // namespace

std::unique_ptr<Notation> raw_text(std::string end) {
  return std::make_unique<RawText>(std::move(end));
}

std::unique_ptr<Notation> python_value() {
  return std::make_unique<PythonValue>();
}

// ---- Gemma

namespace {

// Mode: the place (4 bits), bytes of the quote (8 bits), depth (6 bits), and for each open bracket
// whether it is one of an object.
class GemmaObject final : public Notation {
 public:
  explicit GemmaObject(std::string quote) : quote_(std::move(quote)) {}

  bool read(Mode& mode, unsigned char byte, std::string& json) const override {
    At at = unpack(mode);
    if (!read_at(at, byte, json)) return false;
    mode = pack(at);
    return true;
  }

  bool may_end(Mode mode) const noexcept override {
    const At at = unpack(mode);
    return at.place == kNext && at.depth == 0;
  }

  std::optional<std::string> write(Mode mode, std::string_view json) const override;

 private:
  enum Place : std::uint8_t {
    kValue,
    kFirstValue,
    kKey,
    kFirstKey,
    kNextKey,
    kWord,
    kOpening,
    kText,
    kClosing,
    kNext
  };

  static constexpr unsigned kMaxDepth = 40;

  struct At {
    Place place = kValue;
    unsigned n_quote = 0, depth = 0;
    std::uint64_t objects = 0;

    bool is_object() const noexcept { return depth > 0 && ((objects >> (depth - 1)) & 1U) != 0; }

    bool open(bool is_object_now) noexcept {
      if (depth == kMaxDepth) return false;
      objects &= ~(std::uint64_t{1} << depth);
      if (is_object_now) objects |= std::uint64_t{1} << depth;
      ++depth;
      place = is_object_now ? kFirstKey : kFirstValue;
      return true;
    }

    bool close(bool is_object_now) noexcept {
      if (depth == 0 || is_object() != is_object_now) return false;
      --depth;
      objects &= (std::uint64_t{1} << depth) - 1;
      place = kNext;
      return true;
    }
  };

  static At unpack(Mode mode) noexcept {
    return {static_cast<Place>(mode & 15U), static_cast<unsigned>((mode >> 4U) & 255U),
            static_cast<unsigned>((mode >> 12U) & 63U), mode >> 18U};
  }

  static Mode pack(const At& at) noexcept {
    return static_cast<Mode>(at.place) | (Mode{at.n_quote} << 4U) | (Mode{at.depth} << 12U) |
           (at.objects << 18U);
  }

  bool is_quote(unsigned char byte, std::size_t i) const noexcept {
    return static_cast<unsigned char>(quote_[i]) == byte;
  }

  bool read_at(At& at, unsigned char byte, std::string& json) const;
  bool read_value(At& at, unsigned char byte, std::string& json) const;
  bool read_key(At& at, unsigned char byte, std::string& json) const;
  bool read_quote(At& at, unsigned char byte, Place next) const;
  static bool read_next(At& at, unsigned char byte, std::string& json);

  std::string quote_;
};

bool GemmaObject::read_quote(At& at, unsigned char byte, Place next) const {
  if (!is_quote(byte, at.n_quote)) return false;
  ++at.n_quote;
  if (at.n_quote == quote_.size()) {
    at.n_quote = 0;
    at.place = next;
  }
  return true;
}

bool GemmaObject::read_at(At& at, unsigned char byte, std::string& json) const {
  switch (at.place) {
    case kValue:
    case kFirstValue:
      return read_value(at, byte, json);
    case kKey:
    case kFirstKey:
    case kNextKey:
      return read_key(at, byte, json);
    case kWord:
      if (byte == ',' || byte == '}' || byte == ']') return read_next(at, byte, json);
      if (byte <= ' ') return false;
      json += static_cast<char>(byte);
      return true;
    case kOpening:
      return read_quote(at, byte, kText);
    case kClosing:
      return read_quote(at, byte, kNext);
    case kText:  // the first byte of a quote always begins one
      if (is_quote(byte, 0)) {
        json += '"';
        at.place = kClosing;
        return read_quote(at, byte, kNext);
      }
      append_in_json(byte, json);
      return true;
    case kNext:
      return read_next(at, byte, json);
  }
  return false;
}

bool GemmaObject::read_value(At& at, unsigned char byte, std::string& json) const {
  if (is_quote(byte, 0)) {
    json += '"';
    at.place = kOpening;
    return read_quote(at, byte, kText);
  }
  if (byte == ']' && at.place == kFirstValue) {
    json += ']';
    return at.close(false);
  }
  if (byte <= ' ' || byte == '"' || byte == ',' || byte == ']' || byte == '}') return false;
  json += static_cast<char>(byte);
  if (byte == '{' || byte == '[') return at.open(byte == '{');
  at.place = kWord;
  return at.depth > 0;
}

bool GemmaObject::read_key(At& at, unsigned char byte, std::string& json) const {
  if (byte == '}' && at.place == kFirstKey) {
    json += '}';
    return at.close(true);
  }
  const bool is_begun = at.place == kKey;
  if (byte == ':') {
    json += "\":";
    at.place = kValue;
    return is_begun;
  }
  const bool is_sign = byte <= ' ' || byte == '"' || byte == '\\' || byte == '{' || byte == '}' ||
                       byte == ',' || is_quote(byte, 0);
  if (is_sign) return false;
  if (!is_begun) json += '"';
  json += static_cast<char>(byte);
  at.place = kKey;
  return true;
}

bool GemmaObject::read_next(At& at, unsigned char byte, std::string& json) {
  json += static_cast<char>(byte);
  if (byte == '}' || byte == ']') return at.close(byte == '}');
  if (byte != ',' || at.depth == 0) return false;
  at.place = at.is_object() ? kNextKey : kValue;
  return true;
}

std::optional<std::string> GemmaObject::write(Mode mode, std::string_view json) const {
  At at = unpack(mode);
  std::string out;
  if (at.n_quote > 0) out = quote_.substr(at.n_quote);
  bool is_in_text = at.place == kOpening || at.place == kText, is_in_key = at.place == kKey;
  while (!json.empty() || is_in_text || is_in_key) {
    if (is_in_text || is_in_key) {
      const auto text = take_text(json);
      if (!text || text->find(is_in_key ? ':' : quote_[0]) != std::string::npos)
        return std::nullopt;
      if (is_in_key && text->empty() && at.place != kKey) return std::nullopt;
      out += *text;
      if (is_in_text) out += quote_;
      at.place = is_in_key ? kKey : kNext;
      is_in_text = is_in_key = false;
      continue;
    }
    const char c = json[0];
    json.remove_prefix(1);
    if (c == ' ') continue;
    const bool is_key = at.is_object() && (at.place == kFirstKey || at.place == kNextKey);
    if (c == '"') {
      if (!is_key) out += quote_;
      (is_key ? is_in_key : is_in_text) = true;
      continue;
    }
    out += c;
    if (c == '{' || c == '[') {
      if (!at.open(c == '{')) return std::nullopt;
    } else if (c == '}' || c == ']') {
      if (!at.close(c == '}')) return std::nullopt;
    } else if (c == ',') {
      at.place = at.is_object() ? kNextKey : kValue;
    } else if (c == ':') {
      at.place = kValue;
    } else {
      at.place = kWord;
    }
  }
  return out;
}

}  // namespace

std::unique_ptr<Notation> gemma_object(std::string quote) {
  return std::make_unique<GemmaObject>(std::move(quote));
}

}  // namespace wick::grammar
