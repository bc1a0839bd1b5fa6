// The parts that the filter tables of filters.cc are put together from, and what they share.
#pragma once

#include "chat/builtin.h"
#include "chat/run.h"

namespace wick::jinja {

using Args = std::span<const Value>;

// Reading arguments: `out` keeps its value if the argument was not given; false and failed() if it
// is of another kind.
bool take_int(Run& run, const Value& arg, std::string_view what, std::int64_t& out);
bool take_bool(Run& run, const Value& arg, bool& out);  // anything has a truth value
// As Python's sorted() takes `reverse`, and splitlines() its argument: an integer or a truth value.
bool take_flag(Run& run, const Value& arg, bool& out);
bool take_text(Run& run, const Value& arg, std::string_view what, const Text*& out);

// soft_str: text stays as it is, anything else becomes str(value).
const Text* soft_text(Run& run, const Value& value);

namespace filters {

// filters_text.cc
Value capitalize(Run& run, const Value& value, Args args);
Value center(Run& run, const Value& value, Args args);
Value escape(Run& run, const Value& value, Args args);
Value force_escape(Run& run, const Value& value, Args args);
Value format(Run& run, const Value& value, const Arguments& args);
Value indent(Run& run, const Value& value, Args args);
Value lower(Run& run, const Value& value, Args args);
Value replace(Run& run, const Value& value, Args args);
Value safe(Run& run, const Value& value, Args args);
Value string(Run& run, const Value& value, Args args);
Value striptags(Run& run, const Value& value, Args args);
Value title(Run& run, const Value& value, Args args);
Value tojson(Run& run, const Value& value, Args args);
Value trim(Run& run, const Value& value, Args args);
Value truncate(Run& run, const Value& value, Args args);
Value upper(Run& run, const Value& value, Args args);
Value urlencode(Run& run, const Value& value, Args args);
Value wordcount(Run& run, const Value& value, Args args);

// filters_list.cc
Value batch(Run& run, const Value& value, Args args);
Value first(Run& run, const Value& value, Args args);
Value items(Run& run, const Value& value, Args args);
Value join(Run& run, const Value& value, Args args);
Value last(Run& run, const Value& value, Args args);
Value length(Run& run, const Value& value, Args args);
Value list(Run& run, const Value& value, Args args);
Value map(Run& run, const Value& value, const Arguments& args);
Value reject(Run& run, const Value& value, const Arguments& args);
Value rejectattr(Run& run, const Value& value, const Arguments& args);
Value reverse(Run& run, const Value& value, Args args);
Value select(Run& run, const Value& value, const Arguments& args);
Value selectattr(Run& run, const Value& value, const Arguments& args);
Value slice(Run& run, const Value& value, Args args);

// filters_order.cc
Value dictsort(Run& run, const Value& value, Args args);
Value groupby(Run& run, const Value& value, Args args);
Value max(Run& run, const Value& value, Args args);
Value min(Run& run, const Value& value, Args args);
Value sort(Run& run, const Value& value, Args args);
Value sum(Run& run, const Value& value, Args args);
Value unique(Run& run, const Value& value, Args args);

// filters.cc, filters_number.cc
Value abs(Run& run, const Value& value, Args args);
Value attr(Run& run, const Value& value, Args args);
Value default_value(Run& run, const Value& value, Args args);
Value filesizeformat(Run& run, const Value& value, Args args);
Value real(Run& run, const Value& value, Args args);
Value integer(Run& run, const Value& value, Args args);
Value round(Run& run, const Value& value, Args args);

// What a generator does in Python: `filter`, which gives a sequence, runs when the first item is
// asked for.
Value late(Run& run, Native filter, const Value& value, Args args);

}  // namespace filters

// "a.b.0" as jinja2 takes it apart for attribute=…: kept as one argument, looked up item by item.
// An attribute that is missing everywhere (null) is the item itself.
class AttributePath {
 public:
  // `attribute` is text, a number, none or missing; false and failed() otherwise.
  bool parse(Run& run, const Value& attribute);

  // The attribute of `item`; `otherwise`, if given, for each part that is undefined.
  Value get(Run& run, const Value& item, const Value& otherwise = {}) const;

 private:
  std::span<const Value> parts_;  // in the run's arena
};

// Text in lower case, anything else as it is.
Value ignore_case(Run& run, const Value& value);

}  // namespace wick::jinja
