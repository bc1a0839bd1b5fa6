#include "grammar/captures.h"

#include <algorithm>
#include <utility>

#include "grammar/limits.h"

namespace wick::grammar {

using Kind = Program::Kind;

CaptureReader::CaptureReader(Program& program) : program_(&program) {
  for (const auto& one : program.documents)
    one->begin(kMaskFuel);
  seen_.resize(program.steps.size());
  round_ = 1;
  enter(program.start, {});
  readings_ = std::exchange(next_, {});
}

// A reading of the same place with a higher priority wins.
void CaptureReader::keep(Reading reading) {
  const bool is_known = std::any_of(next_.begin(), next_.end(), [&](const Reading& one) {
    return one.step == reading.step && one.place == reading.place &&
           one.bytes_left == reading.bytes_left;
  });
  if (!is_known) next_.push_back(std::move(reading));
}

// By priority: a step that was entered for this byte is not entered again.
void CaptureReader::enter(std::uint32_t first, std::vector<Mark> before) {
  std::vector<std::pair<std::uint32_t, std::vector<Mark>>> todo;
  todo.emplace_back(first, std::move(before));
  while (!todo.empty()) {
    auto [at, marks] = std::move(todo.back());
    todo.pop_back();
    if (at == Program::kNowhere || !program_->steps[at].can_end || seen_[at] == round_) continue;
    seen_[at] = round_;
    const Program::Step& step = program_->steps[at];
    switch (step.kind) {
      case Kind::kText:
      case Kind::kEnd:
        keep({at, 0, 0, std::move(marks)});
        break;
      case Kind::kDocument: {
        const Recognizer& language = *program_->documents[step.index];
        keep({at, language.start(), 0, marks});
        if (language.accepts(language.start())) todo.emplace_back(step.next, std::move(marks));
        break;
      }
      case Kind::kFree:
        keep({at, 0, program_->free_bytes(step), marks});
        if (step.until == Triggers::kNone) todo.emplace_back(step.next, std::move(marks));
        break;
      case Kind::kSplit:
        todo.emplace_back(step.other, marks);
        todo.emplace_back(step.next, std::move(marks));
        break;
      case Kind::kOpen:
      case Kind::kClose: {
        const bool is_open = step.kind == Kind::kOpen;
        marks.push_back(
            {is_open ? CaptureEvent::Kind::kOpen : CaptureEvent::Kind::kClose, step.index, 0});
        todo.emplace_back(step.next, std::move(marks));
        break;
      }
    }
  }
}

void CaptureReader::advance(Reading reading, char c) {
  const Program::Step& step = program_->steps[reading.step];
  const auto byte = static_cast<unsigned char>(c);
  reading.marks.push_back({CaptureEvent::Kind::kText, 0, c});
  if (step.kind == Kind::kText) {
    const std::string& text = program_->texts[step.index];
    if (text[reading.place] != c) return;
    if (++reading.place == text.size()) return enter(step.next, std::move(reading.marks));
    return keep(std::move(reading));
  }
  if (step.kind == Kind::kDocument) {
    Recognizer& language = *program_->documents[step.index];
    reading.place = language.step(reading.place, byte);
    if (reading.place == kDeadState || reading.place == kFailedState) return;
    const bool may_end = language.accepts(reading.place);
    auto marks = reading.marks;
    keep(std::move(reading));
    if (may_end) enter(step.next, std::move(marks));
    return;
  }
  if (step.kind != Kind::kFree) return;
  const Triggers& triggers = program_->frees[step.index];
  reading.place = triggers.step(reading.place, byte);
  const std::uint32_t found = triggers.found(reading.place);
  if (found != Triggers::kNone) {
    if (found == step.until) enter(step.next, std::move(reading.marks));
    return;
  }
  if (step.max_bytes != Program::kAnyLength && reading.bytes_left-- == 0) return;
  auto marks = reading.marks;
  keep(std::move(reading));
  if (step.until == Triggers::kNone) enter(step.next, std::move(marks));
}

void CaptureReader::tell(const Mark& mark, std::vector<CaptureEvent>& out) {
  if (mark.kind != CaptureEvent::Kind::kText) {
    const std::string& name = program_->captures[mark.capture];
    out.push_back({mark.kind, name, {}});
    if (mark.kind == CaptureEvent::Kind::kOpen) {
      open_.push_back(name);
    } else {
      open_.pop_back();
    }
    return;
  }
  const std::string name = open_.empty() ? std::string() : open_.back();
  const bool is_more = !out.empty() && out.back().kind == CaptureEvent::Kind::kText;
  if (!is_more) out.push_back({CaptureEvent::Kind::kText, name, {}});
  out.back().text += mark.byte;
}

// What all readings agree on.
void CaptureReader::tell_common(std::vector<CaptureEvent>& out) {
  if (readings_.empty()) return;
  std::size_t n = readings_[0].marks.size();
  for (const Reading& one : readings_) {
    const auto differs = std::mismatch(one.marks.begin(), one.marks.end(),
                                       readings_[0].marks.begin(), readings_[0].marks.end());
    n = std::min(n, static_cast<std::size_t>(differs.first - one.marks.begin()));
  }
  for (std::size_t i = 0; i < n; ++i)
    tell(readings_[0].marks[i], out);
  for (Reading& one : readings_)
    one.marks.erase(one.marks.begin(), one.marks.begin() + static_cast<std::ptrdiff_t>(n));
}

bool CaptureReader::push(std::string_view bytes, std::vector<CaptureEvent>& out) {
  for (const auto& one : program_->documents)
    one->begin(kMaskFuel + 10 * bytes.size());
  for (const char c : bytes) {
    if (is_bad_) return false;
    next_.clear();
    ++round_;
    std::vector<Reading> readings = std::exchange(readings_, {});
    for (Reading& reading : readings)
      advance(std::move(reading), c);
    readings_.swap(next_);
    is_bad_ = readings_.empty();
    tell_common(out);
  }
  return !is_bad_;
}

bool CaptureReader::finish(std::vector<CaptureEvent>& out) {
  const auto whole = std::find_if(readings_.begin(), readings_.end(), [&](const Reading& one) {
    return program_->steps[one.step].kind == Kind::kEnd;
  });
  if (whole == readings_.end()) return false;
  for (const Mark& mark : whole->marks)
    tell(mark, out);
  readings_.clear();
  return true;
}

}  // namespace wick::grammar
