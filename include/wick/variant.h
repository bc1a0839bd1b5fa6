// std::variant whose copies survive std::bad_alloc. libstdc++ 12 takes a variant of numbers, texts
// and vectors to be never valueless, and destroys what a copy that threw has not made. Here the
// copy is made before the variant is.
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
