#include "cli/json_out.h"

#include "cli/out.h"

namespace wick {

Value json_object(std::initializer_list<Field> fields) {
  Object object;
  for (const auto& [key, value] : fields)
    object[key] = value;
  return Value(std::move(object));
}

void print_json(const Value& value) {
  print({printable_json(to_json(value)), "\n"});
  flush_output();
}

}  // namespace wick
