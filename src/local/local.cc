#include "local/local.h"

#include <algorithm>

#include "base/catch_bad_alloc.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "engine/load_engine.h"
#include "local/local_answer.h"

namespace wick {

namespace {

// Until here all but the tokenizer is address space: nothing has been touched.
Result<void> check_limit(const ModelMemory& memory, std::uint64_t limit) {
  if (limit == 0 || memory.total() <= limit) return {};
  std::string parts =
      cat("weights ", human_bytes(memory.weight_bytes), ", cache ", human_bytes(memory.cache_bytes),
          ", scratch ", human_bytes(memory.scratch_bytes));
  if (memory.draft_bytes() > 0) parts += cat(", draft model ", human_bytes(memory.draft_bytes()));
  return Error{.code = ErrorCode::kNoMemory,
               .id = "memory_limit",
               .message = cat("the model may take ", human_bytes(memory.total()), " (", parts,
                              "), the limit is ", human_bytes(limit)),
               .hint =
                   "shorten the context (-c), lower --kv-limit, take --kv-type q8_0, or raise "
                   "the limit"};
}

// Before a tensor is touched: weights that memory cannot hold would be read from the disk for every
// token. A limit of the user's own takes this one's place.
Result<void> check_fits(const ModelFile& file, std::span<const DeviceShare> devices) {
  std::uint64_t weights = 0, memory = 0;
  for (const TensorView& tensor : file.tensors())
    weights += tensor.bytes.size();
  for (const DeviceShare& one : devices) {
    const std::uint64_t own = one.device->info().memory_bytes;
    if (own == 0) return {};  // unknown
    memory += own;
  }
  if (weights <= memory) return {};
  return Error{.code = ErrorCode::kNoMemory,
               .id = "memory_limit",
               .message = cat(file.path().string(), ": its weights take ", human_bytes(weights),
                              ", there are ", human_bytes(memory), " of memory"),
               .hint =
                   "take a smaller quantization, or set --memory-limit above that to read "
                   "weights from the disk all the same"};
}

LoadProgress loading(const ProgressSink& sink, const ModelFile& file) {
  if (!sink) return nullptr;
  return [&sink, what = file.path().string()](std::uint64_t done, std::uint64_t all) {
    return sink({.phase = OpenPhase::kLoad, .what = what, .done = done, .total = all});
  };
}

}  // namespace

LocalModel::~LocalModel() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

// The engine thread cannot join itself: another thread does.
void LocalModel::release(LocalModel* model) noexcept {
  if (model->process_ != ::getpid()) return;  // to join a thread that is not there takes for ever
  if (model->thread_.get_id() != std::this_thread::get_id()) {
    delete model;
    return;
  }
  model->thread_.request_stop();
  auto other = start_thread([model] { delete model; });
  if (other) other->detach();  // else the model stays, stopped: nothing can wait for it
}

// Calls that the engine thread serves would deadlock on that thread (a hook), or in a forked child,
// which has none.
Result<void> LocalModel::check_caller() const {
  if (process_ != ::getpid()) return model_of_other_process(process_);
  if (thread_.get_id() != std::this_thread::get_id()) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "called_in_hook",
               .message = "a logits hook cannot ask the model that calls it",
               .hint = "ask from another thread, without waiting for it in the hook"};
}

// The mapping was changed after it was checked; reading it could kill the process.
Result<void> LocalModel::check_files() const {
  WICK_DO(file_.check_untouched());
  for (const Adapter& adapter : adapters_->all())
    WICK_DO(adapter.file().check_untouched());
  return draft_file_ ? draft_file_->check_untouched() : Result<void>();
}

Result<std::shared_ptr<LocalModel>> LocalModel::open(const std::filesystem::path& path,
                                                     const LocalOptions& options) {
  return catch_bad_alloc([&]() -> Result<std::shared_ptr<LocalModel>> {
    WICK_TRY(ModelFile file, open_model(path));
    DeviceRegistry& devices = options.devices != nullptr ? *options.devices : process_devices();
    WICK_TRY(OpenDevices open, devices.open_all(options.device, options.tensor_split));
    if (!open.warning.empty()) log_message(LogLevel::kWarning, open.warning);
    const std::shared_ptr<LocalModel> model(new LocalModel(std::move(file)), release);
    WICK_DO(model->load_parts(options, std::move(open.devices)));
    log_message(LogLevel::kInfo,
                cat(printable(path.string()), " is loaded: ", human_bytes(model->memory_.total()),
                    " at most, context ", model->context()));
    return model;
  });
}

Result<void> LocalModel::load_parts(const LocalOptions& options, std::vector<DeviceShare> devices) {
  inputs_ = options.inputs;
  if (options.memory_limit_bytes == 0) WICK_DO(check_fits(file_, devices));
  EngineSources sources{.devices = std::move(devices),
                        .threads = options.threads,
                        .progress = loading(options.progress, file_)};
  if (!options.draft_model.empty()) {
    WICK_TRY(draft_file_, open_model(options.draft_model));
    sources.draft = &*draft_file_;
    sources.draft_progress = loading(options.progress, *draft_file_);
  }
  WICK_TRY(adapters_, Adapters::open(options.adapters));
  sources.adapters = adapters_->all();
  WICK_TRY(engine_, load_engine(file_, options.engine, std::move(sources)));
  memory_ = engine_->memory();
  WICK_DO(check_limit(memory_, options.memory_limit_bytes));
  kind_.k_type = options.engine.k_type;
  kind_.v_type = options.engine.v_type;
  templates_ = options.chat_template.empty()
                   ? std::make_unique<const ChatTemplates>(file_.metadata())
                   : std::make_unique<const ChatTemplates>(options.chat_template);
  WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { engine_->run(stop); }));
  return {};
}

Result<std::vector<ModelInfo>> LocalModel::models() {
  return std::vector<ModelInfo>{info()};
}

ModelInfo LocalModel::info() const {
  const Metadata& meta = metadata();
  const auto title = meta.string("general.name");
  return {.name = title ? std::string(*title) : file_.path().stem().string(),
          .architecture = std::string(meta.string("general.architecture").value_or("")),
          .source = file_.path().string(),
          .context = engine_->context(),
          .vocabulary = tokenizer().size(),
          .memory = memory_};
}

Result<std::vector<AdapterInfo>> LocalModel::adapters(const std::string& /*model*/) {
  return adapters_->list();
}

Result<void> LocalModel::set_adapters(const std::string& /*model*/,
                                      std::span<const std::string> wanted) {
  return adapters_->set(wanted);
}

Result<std::vector<TokenId>> LocalModel::tokenize(const std::string& /*model*/,
                                                  std::string_view text) {
  return tokenizer().encode_plain(text);
}

Result<std::string> LocalModel::detokenize(const std::string& /*model*/,
                                           std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer().size()) continue;
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "bad_token",
        .message = cat("token ", id, " is outside the vocabulary of ", tokenizer().size())};
  }
  return tokenizer().decode(ids);
}

Result<Statistics> LocalModel::statistics(const std::string& /*model*/) {
  WICK_DO(check_caller());
  Statistics all = counters_->read();
  const EngineLoad load = engine_->load();
  all.running = load.running;
  all.waiting = load.waiting;
  all.slots = load.slots;
  all.cache_blocks = load.cache_blocks;
  all.free_blocks = load.free_blocks;
  return all;
}

Result<int> LocalModel::close_tenant(std::uint64_t tenant, bool wipe) {
  WICK_DO(check_caller());
  return engine_->close_tenant(tenant, wipe);
}

}  // namespace wick
