// A std::variant that stays valid if copying it throws std::bad_alloc: Variant copies the value and
// moves the copy in. (In libstdc++ 12 a std::variant of numbers, strings and vectors destroys an
// object that was never constructed, if the copy throws.)
#pragma once

#include <utility>
#include <variant>

namespace wick {

template <class... Ts>
class Variant : public std::variant<Ts...> {
 public:
  using Base = std::variant<Ts...>;
  using Base::Base;
  using Base::operator=;
  Variant() = default;

  Variant(const Variant& other) : Base(copy(other)) {}

  Variant(Variant&&) noexcept = default;
  Variant& operator=(Variant&&) noexcept = default;
  ~Variant() = default;

  Variant& operator=(const Variant& other) {
    Base::operator=(copy(other));
    return *this;
  }

 private:
  static Base copy(const Base& from) {
    return std::visit(
        [](const auto& value) {
          auto made = value;
          return Base(std::in_place_type<decltype(made)>, std::move(made));
        },
        from);
  }
};

}  // namespace wick
