// Custom constraints on answers: a byte recognizer, a text constraint, and a predicate combined
// with a response format.
//
//   custom_constraint MODEL
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "wick/model.h"

namespace {

// Accepts lists of rising numbers: "3, 17, 240". The stack has one state per byte.
class Rising final : public wick::ByteRecognizer {
 public:
  bool push(unsigned char byte) override {
    State next = states_.back();
    const bool is_digit = byte >= '0' && byte <= '9';
    if (is_digit && next.digits < 4 && (next.digits == 0 || next.number > 0)) {
      next.number = next.number * 10 + (byte - '0');
      ++next.digits;
    } else if (byte == ',' && next.is_rising() && next.number < 999) {
      next = {.before = next.number, .has_comma = true};
    } else if (byte == ' ' && next.has_comma && next.digits == 0) {
      next.has_comma = false;
    } else {
      return false;
    }
    const bool is_too_small = next.digits == 4 && !next.is_rising();
    if (is_too_small || (is_digit && next.number == 0)) return false;
    states_.push_back(next);
    return true;
  }

  void pop() override { states_.pop_back(); }

  bool accepting() override { return states_.back().is_rising(); }

 private:
  struct State {
    int before = 0, number = 0, digits = 0;
    bool has_comma = false;

    bool is_rising() const { return digits > 0 && number > before; }
  };

  std::vector<State> states_ = {{}};
};

// The state of an e-mail address (name, "@", host, ".", country) that is being written.
enum class Address { kWrong, kBegun, kWhole };

Address judge(std::string_view text) {
  const auto letters = [](std::string_view part, std::size_t most) {
    for (const char c : part)
      if (std::islower(static_cast<unsigned char>(c)) == 0) return false;
    return part.size() <= most;
  };
  const std::size_t at = text.find('@');
  const std::string_view name = text.substr(0, at);
  if (!letters(name, 12)) return Address::kWrong;
  if (at == std::string_view::npos) return text.empty() ? Address::kWrong : Address::kBegun;
  const std::string_view host = text.substr(at + 1);
  const std::size_t dot = host.find('.');
  if (name.empty() || !letters(host.substr(0, dot), 12)) return Address::kWrong;
  if (dot == std::string_view::npos) return Address::kBegun;
  const std::string_view country = host.substr(dot + 1);
  if (dot == 0 || !letters(country, 3)) return Address::kWrong;
  return country.size() >= 2 ? Address::kWhole : Address::kBegun;
}

int fail(const wick::Error& error) {
  std::cerr << wick::to_string(error) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: custom_constraint MODEL\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 1});
  if (!model) return fail(model.error());

  const auto numbers =
      model->complete("Prime numbers: ",
                      {.temperature = 0, .max_tokens = 24, .recognizer = std::make_unique<Rising>});
  if (!numbers) return fail(numbers.error());
  std::cout << numbers->text << "\n";

  const wick::TextConstraint address = {
      .is_valid_next_token =
          [](std::string_view text, std::string_view token) {
            return judge(std::string(text) + std::string(token)) != Address::kWrong;
          },
      .is_complete = [](std::string_view text) { return judge(text) == Address::kWhole; }};
  const auto mail = model->complete("Her address is ",
                                    {.temperature = 0, .token_mask = wick::to_token_mask(address)});
  if (!mail) return fail(mail.error());
  std::cout << mail->text << "\n";

  // The sum of a number's digits is a multiple of seven.
  const auto is_lucky = [](std::string_view text) {
    int sum = 0;
    for (const char c : text)
      sum += c - '0';
    return sum % 7 == 0;
  };
  const auto lucky =
      model->complete("A number: ", {.temperature = 0,
                                     .response_format = {.type = "regex", .schema = "[0-9]{4,6}"},
                                     .predicate = is_lucky});
  if (!lucky) return fail(lucky.error());
  std::cout << lucky->text << "\n";
  return 0;
}
