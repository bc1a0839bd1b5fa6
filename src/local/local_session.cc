// A session file: the conversation as JSON, and its part of the KV cache.
#include "base/sha256.h"
#include "base/strings.h"
#include "local/local.h"
#include "provider/conversation.h"
#include "provider/messages.h"

namespace wick {

// The keys and values of a text depend on the adapters that computed them.
Result<SessionKind> LocalModel::session_kind(std::span<const AdapterUse> uses) {
  WICK_DO(load_sha256());
  std::call_once(kind_once_, [this] {
    kind_.model = model_fingerprint(file_);
    kind_.least_block_bytes = engine_->least_block_bytes();
  });
  SessionKind kind = kind_;
  if (uses.empty()) return kind;
  std::vector<std::byte> all(kind.model.begin(), kind.model.end());
  for (const AdapterUse& use : uses) {
    const Adapter& adapter = adapters_->all()[static_cast<std::size_t>(use.adapter)];
    const Fingerprint own = model_fingerprint(adapter.file());
    all.insert(all.end(), own.begin(), own.end());
    const auto scale = std::as_bytes(std::span(&use.scale, 1));
    all.insert(all.end(), scale.begin(), scale.end());
  }
  kind.model = fingerprint_of(all);
  return kind;
}

std::vector<FileId> LocalModel::files() const {
  std::vector<FileId> all = file_.files();
  all.insert(all.end(), inputs_.begin(), inputs_.end());
  for (const Adapter& adapter : adapters_->all()) {
    const std::vector<FileId> own = adapter.file().files();
    all.insert(all.end(), own.begin(), own.end());
  }
  if (draft_file_) {
    const std::vector<FileId> draft = draft_file_->files();
    all.insert(all.end(), draft.begin(), draft.end());
  }
  return all;
}

Result<void> LocalModel::save_session(const std::string& path, std::span<const Message> messages) {
  WICK_DO(check_caller());
  WICK_TRY(Object context, template_context(messages, {}));
  context["add_generation_prompt"] = false;
  WICK_TRY(const MarkedText prompt, render(std::move(context)));
  std::vector<TokenId> tokens;
  WICK_DO(tokenizer().encode(prompt, tokens));
  Conversation conversation;
  conversation.set_messages({messages.begin(), messages.end()});
  WICK_TRY(const std::vector<AdapterUse> uses, adapters_->uses({}));
  WICK_TRY(const SessionKind kind, session_kind(uses));
  SavedSession session{.conversation = conversation.to_json(),
                       .prefix = engine_->save_prefix({0, key_of(uses)}, std::move(tokens))};
  return write_session(path, kind, session, files());
}

Result<std::vector<Message>> LocalModel::load_session(const std::string& path) {
  WICK_DO(check_caller());
  WICK_TRY(const std::vector<AdapterUse> uses, adapters_->uses({}));
  WICK_TRY(const SessionKind kind, session_kind(uses));
  WICK_TRY(const SavedSession session, read_session(path, kind));
  Conversation conversation;
  if (const auto parsed = conversation.read_json(session.conversation); !parsed) {
    return bad_session_file(path, parsed.error().message);
  }
  const Result<int> restored = engine_->restore_prefix({0, key_of(uses)}, session.prefix);
  if (!restored) return bad_session_file(path, restored.error().message);
  return conversation.messages();
}

}  // namespace wick
