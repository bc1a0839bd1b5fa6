// Sessions of the local model to and from a file: the conversation as JSON beside what the cache
// holds of its text.
#include "base/strings.h"
#include "provider/local.h"

namespace wick {

const SessionKind& LocalModel::session_kind() {
  std::call_once(kind_once_, [this] {
    kind_.model = model_fingerprint(file_);
    kind_.block_bytes = engine_->block_bytes();
  });
  return kind_;
}

Result<void> LocalModel::save_session(const std::filesystem::path& path, const Array& messages) {
  Object context;
  context["messages"] = messages;
  context["add_generation_prompt"] = false;
  WICK_TRY(std::vector<TokenId> tokens, render(std::move(context)));
  Object root;
  root["messages"] = messages;
  SavedSession session{.conversation = to_json(Value(std::move(root))),
                       .prefix = engine_->save_prefix(0, std::move(tokens))};
  return write_session(path, session_kind(), session);
}

Result<Array> LocalModel::load_session(const std::filesystem::path& path) {
  WICK_TRY(const SavedSession session, read_session(path, session_kind()));
  WICK_TRY(const Value root, parse_json(session.conversation));
  const Value* messages = root.object() == nullptr ? nullptr : root.object()->find("messages");
  if (messages == nullptr || messages->array() == nullptr) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "bad_session_file",
                 .message = cat(printable(path.string()), ": holds no array \"messages\"")};
  }
  engine_->restore_prefix(0, session.prefix);
  return *messages->array();
}

}  // namespace wick
