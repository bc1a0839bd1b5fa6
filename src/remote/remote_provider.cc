#include "remote/remote_provider.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "remote/dialect.h"
#include "remote/json_read.h"
#include "remote/limits.h"
#include "remote/remote_answer.h"

namespace wick::remote {

namespace {

class RemoteProvider final : public Provider {
 public:
  RemoteProvider(Endpoint endpoint, std::shared_ptr<Transfers> transfers)
      : endpoint_(std::make_shared<const Endpoint>(std::move(endpoint))),
        addresses_(address_kind(*endpoint_)),
        transfers_(std::move(transfers)) {}

  std::string_view name() const noexcept override { return endpoint_->name; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override {
    WICK_TRY(std::string model, model_of(request.model));
    if (request.hops >= kMaxHops) return loop(request.hops);
    const Request* asked = &request;
    std::optional<Request> named;  // a copy of the prompt only where the name is another
    if (model != request.model) {
      named = request;
      named->model = model;
      asked = &*named;
    }
    auto call = dialect().chat(*endpoint_, *asked);
    if (!call) return std::move(call).error();
    AnswerSetup setup{
        .endpoint = endpoint_,
        .model = std::move(model),
        .request = to_send(*std::move(call)),
        .ignored = ignored_settings(*endpoint_->kind, request)};
    const std::int64_t limit = request.generation.time_limit_ms;
    TransferRequest& sent = setup.request;
    count_hop(request.hops, sent);
    sent.first_ms = endpoint_->first_token_ms;
    sent.idle_ms = endpoint_->idle_ms;
    setup.has_time_limit = limit > 0 && (sent.total_ms == 0 || limit <= sent.total_ms);
    if (setup.has_time_limit) sent.total_ms = limit;
    return start_answer(std::move(setup), *transfers_, std::move(wake));
  }

  bool starts_at_once(const std::string& /*model*/) const override { return true; }

  Result<std::vector<ModelInfo>> models() override {
    std::vector<ModelInfo> infos;
    const auto add = [&](std::string name) {
      infos.push_back({.name = std::move(name), .source = endpoint_->name});
    };
    for (const std::string& model : endpoint_->models)
      add(model);
    if (!infos.empty()) return infos;
    if (dialect().models_path.empty()) return refusal("list of models");
    WICK_DO(check_key());
    AnswerReport report;
    WICK_TRY(const JsonValue answer,
             fetch_json(*endpoint_, to_send({.path = std::string(dialect().models_path)}),
                        *transfers_, {}, report));
    for (const JsonValue& item : items_of(&answer, dialect().models_array)) {
      std::string name = text_of(&item, dialect().models_field);
      if (name.starts_with(dialect().models_prefix)) name.erase(0, dialect().models_prefix.size());
      if (!name.empty()) add(std::move(name));
    }
    return infos;
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    AnswerReport report{.provider = endpoint_->name, .model = request.model};
    auto embedded = embed(request, report);
    report.ignored = ignored_of(request);
    if (request.report != nullptr) *request.report = std::move(report);
    return embedded;
  }

 private:
  const Dialect& dialect() const { return *endpoint_->kind->dialect; }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request, AnswerReport& report) const {
    if (dialect().embed == nullptr) return refusal("embeddings");
    if (!request.options.query.empty()) return refusal("reranking");
    WICK_TRY(const std::string name, model_of(request.model));
    if (request.hops >= kMaxHops) return loop(request.hops);
    const std::span<const std::string> texts = request.texts;
    std::vector<Embedding> embeddings;
    EmbedTexts some = request;
    some.model = name;
    for (std::size_t at = 0; at < texts.size(); at += dialect().max_texts) {
      some.texts = texts.subspan(at, std::min(dialect().max_texts, texts.size() - at));
      auto found = embed_some(some, report);
      if (!found && at > 0) may_be_billed(report);
      if (!found) return found;
      embeddings.insert(embeddings.end(), std::make_move_iterator(found->begin()),
                        std::make_move_iterator(found->end()));
    }
    const bool is_whole =
        embeddings.size() == texts.size() &&
        std::all_of(embeddings.begin(), embeddings.end(), [&](const Embedding& one) {
          return !one.values.empty() && one.values.size() == embeddings.front().values.size();
        });
    if (is_whole) return embeddings;
    report.failure = Failure::kBadAnswer;
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "bad_answer",
                 .message = cat(endpoint_->name, ": ", texts.size(), " texts gave ",
                                embeddings.size(), " embeddings, or some of another length")};
  }

  // Some of its texts were embedded: the failure of the others is no refusal (route/bill.h).
  static void may_be_billed(AnswerReport& report) {
    report.status = 0;
    if (report.failure == Failure::kNetwork || report.failure == Failure::kNone)
      report.failure = Failure::kTimeout;
  }

  Result<std::vector<Embedding>> embed_some(const EmbedTexts& request,
                                            AnswerReport& report) const {
    WICK_TRY(Call call, dialect().embed(*endpoint_, request));
    add_remote_fields(*endpoint_->kind, request.remote_fields, call.body);
    TransferRequest sent = to_send(std::move(call));
    count_hop(request.hops, sent);
    const EmbedOptions& options = request.options;
    if (options.time_limit_ms > 0) sent.total_ms = options.time_limit_ms;
    WICK_TRY(const JsonValue answer,
             fetch_json(*endpoint_, std::move(sent), *transfers_, options.cancel, report));
    return dialect().read_embeddings(answer);
  }

  std::vector<std::string> ignored_of(const EmbedTexts& request) const {
    std::vector<std::string> names;
    if (!request.options.pooling.empty()) names.emplace_back("pooling");
    for (const auto& [name, json] : request.remote_fields) {
      if (!sends(*endpoint_->kind, name)) names.push_back(name);
    }
    return names;
  }

  // A service on the network at the URL that its kind knows is no gateway to here.
  void count_hop(int hops, TransferRequest& sent) const {
    if (endpoint_->url != endpoint_->kind->url || addresses_ != AddressKind::kPublic)
      sent.headers.push_back(cat(kHopsHeader, ": ", hops + 1));
  }

  Error loop(int hops) const {
    return {.code = ErrorCode::kInvalid,
            .id = "loop_detected",
            .message = cat(endpoint_->name, ": the request was passed on ", hops,
                           " times, allowed are ", kMaxHops),
            .hint = "look for a provider that leads back to here"};
  }

  Result<void> check_key() const {
    if (endpoint_->no_key.empty()) return {};
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "no_key",
                 .message = cat(endpoint_->name, ": ", endpoint_->no_key)};
  }

  // The model to ask for: the first one if nobody names one.
  Result<std::string> model_of(const std::string& name) const {
    WICK_DO(check_key());
    const std::vector<std::string>& models = endpoint_->models;
    if (name.empty() && !models.empty()) return models.front();
    const bool is_known =
        models.empty() || std::find(models.begin(), models.end(), name) != models.end();
    // A model's name may stand in a path, where dots alone would lead out of it.
    if (is_known && name.find_first_not_of('.') != std::string::npos) return name;
    return Error{.code = ErrorCode::kNotFound,
                 .id = "model_not_found",
                 .message = cat("the provider '", printable(endpoint_->name), "' has no model '",
                                printable(name), "'")};
  }

  static std::string json_of(Call& call) {
    if (call.body.empty()) return call.begin.empty() ? std::string() : std::move(call.begin += '}');
    std::string json = to_json(std::move(call.body));
    if (call.begin.empty()) return json;
    call.begin += ", ";
    return std::move(call.begin.append(json, 1));
  }

  TransferRequest to_send(Call&& call) const {
    std::string url;
    url.reserve(endpoint_->url.size() + call.path.size());
    url += endpoint_->url;
    url += call.path;
    return {.url = std::move(url),
            .body = json_of(call),
            .headers = request_headers(*endpoint_),
            .endpoint = addresses_,
            .unix_socket = endpoint_->unix_socket,
            .connect_ms = endpoint_->connect_ms,
            .total_ms = endpoint_->total_ms};
  }

  const std::shared_ptr<const Endpoint> endpoint_;
  const AddressKind addresses_;
  const std::shared_ptr<Transfers> transfers_;
};

}  // namespace

std::shared_ptr<Provider> make_remote_provider(Endpoint endpoint,
                                               std::shared_ptr<Transfers> transfers) {
  return std::make_shared<RemoteProvider>(std::move(endpoint), std::move(transfers));
}

}  // namespace wick::remote
