// The parts that the filter tables of filters.cc are put together from, and what they share.
#pragma once

#include "chat/builtin.h"
#include "chat/run.h"

namespace wick::jinja {

using Args = std::span<const Val>;

// Reading arguments: `out` keeps its value if the argument was not given; false and failed() if it
// is of another kind.
bool take_int(Run& run, const Val& arg, std::string_view what, std::int64_t& out);
bool take_bool(Run& run, const Val& arg, bool& out);  // anything has a truth value
// As Python's sorted() takes `reverse`, and splitlines() its argument: an integer or a truth value.
bool take_flag(Run& run, const Val& arg, bool& out);
bool take_text(Run& run, const Val& arg, std::string_view what, const Text*& out);

// soft_str: text stays as it is, anything else becomes str(value).
const Text* soft_text(Run& run, const Val& value);

namespace filters {

// filters_text.cc
Val capitalize(Run& run, const Val& value, Args args);
Val center(Run& run, const Val& value, Args args);
Val escape(Run& run, const Val& value, Args args);
Val force_escape(Run& run, const Val& value, Args args);
Val format(Run& run, const Val& value, const Arguments& args);
Val indent(Run& run, const Val& value, Args args);
Val lower(Run& run, const Val& value, Args args);
Val replace(Run& run, const Val& value, Args args);
Val safe(Run& run, const Val& value, Args args);
Val string(Run& run, const Val& value, Args args);
Val striptags(Run& run, const Val& value, Args args);
Val title(Run& run, const Val& value, Args args);
Val tojson(Run& run, const Val& value, Args args);
Val trim(Run& run, const Val& value, Args args);
Val truncate(Run& run, const Val& value, Args args);
Val upper(Run& run, const Val& value, Args args);
Val urlencode(Run& run, const Val& value, Args args);
Val wordcount(Run& run, const Val& value, Args args);

// filters_list.cc
Val batch(Run& run, const Val& value, Args args);
Val first(Run& run, const Val& value, Args args);
Val items(Run& run, const Val& value, Args args);
Val join(Run& run, const Val& value, Args args);
Val last(Run& run, const Val& value, Args args);
Val length(Run& run, const Val& value, Args args);
Val list(Run& run, const Val& value, Args args);
Val map(Run& run, const Val& value, const Arguments& args);
Val reject(Run& run, const Val& value, const Arguments& args);
Val rejectattr(Run& run, const Val& value, const Arguments& args);
Val reverse(Run& run, const Val& value, Args args);
Val select(Run& run, const Val& value, const Arguments& args);
Val selectattr(Run& run, const Val& value, const Arguments& args);
Val slice(Run& run, const Val& value, Args args);

// filters_order.cc
Val dictsort(Run& run, const Val& value, Args args);
Val groupby(Run& run, const Val& value, Args args);
Val max(Run& run, const Val& value, Args args);
Val min(Run& run, const Val& value, Args args);
Val sort(Run& run, const Val& value, Args args);
Val sum(Run& run, const Val& value, Args args);
Val unique(Run& run, const Val& value, Args args);

// filters.cc, filters_number.cc
Val abs(Run& run, const Val& value, Args args);
Val attr(Run& run, const Val& value, Args args);
Val default_value(Run& run, const Val& value, Args args);
Val filesizeformat(Run& run, const Val& value, Args args);
Val real(Run& run, const Val& value, Args args);
Val integer(Run& run, const Val& value, Args args);
Val round(Run& run, const Val& value, Args args);

// What a generator does in Python: `filter`, which gives a sequence, runs when the first item is
// asked for.
Val late(Run& run, Native filter, const Val& value, Args args);

}  // namespace filters

// "a.b.0" as jinja2 takes it apart for attribute=…: kept as one argument, looked up item by item.
// An attribute that is missing everywhere (null) is the item itself.
class AttributePath {
 public:
  // `attribute` is text, a number, none or missing; false and failed() otherwise.
  bool parse(Run& run, const Val& attribute);

  // The attribute of `item`; `otherwise`, if given, for each part that is undefined.
  Val get(Run& run, const Val& item, const Val& otherwise = {}) const;

 private:
  std::span<const Val> parts_;  // in the run's arena
};

// Text in lower case, anything else as it is.
Val ignore_case(Run& run, const Val& value);

}  // namespace wick::jinja
