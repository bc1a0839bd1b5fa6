#include "cli/json_out.h"

#include <iostream>

#include "base/strings.h"

namespace wick {

Value json_object(std::initializer_list<Field> fields) {
  Object object;
  for (const auto& [key, value] : fields)
    object[key] = value;
  return Value(std::move(object));
}

void print_json(const Value& value) {
  std::cout << repair_utf8(to_json(value)) << std::endl;
}

}  // namespace wick
