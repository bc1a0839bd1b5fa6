// The list of a WakeSet: an intrusive lock-free stack of Wakes, taken all at once. A Wake in the
// list holds a reference to itself (`self_`), so reader and writer may go away; the destructor of a
// set closes the list, or its nodes would leak.
#include "base/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace wick {

struct Wake::Ready {
  explicit Ready(int event_fd) : fd(event_fd) {}

  ~Ready() { ::close(fd); }

  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  void notify() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(fd, &one, sizeof(one)) == sizeof(one));
  }

  const int fd;
  std::atomic<Wake*> head = nullptr;
  std::atomic<bool> has_attention = false;
  Wake closed;  // as `head`: the set was destroyed
};

Wake::Wake(std::shared_ptr<Ready> ready, std::uint64_t key) noexcept
    : ready_(std::move(ready)), key_(key) {}

void Wake::list() noexcept {
  Ready& ready = *ready_;
  self_ = shared_from_this();
  Wake* head = ready.head.load(std::memory_order_acquire);
  do {
    if (head == &ready.closed) {
      self_.reset();  // the caller holds it, too
      return;
    }
    next_ = head;
  } while (!ready.head.compare_exchange_weak(head, this, std::memory_order_seq_cst,
                                             std::memory_order_acquire));
  // Whoever came first has written. All of this and of ~Attention() has one order (seq_cst): either
  // the attention is seen to have ended, or its end sees the list.
  if (head == nullptr && !ready.has_attention.load(std::memory_order_seq_cst)) ready.notify();
}

WakeSet::WakeSet(std::shared_ptr<Wake::Ready> ready) noexcept : ready_(std::move(ready)) {}

Result<std::unique_ptr<WakeSet>> WakeSet::create() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) {
    return Error{.code = ErrorCode::kIo,
                 .id = "no_eventfd",
                 .message = cat("an eventfd cannot be made: ", std::strerror(errno)),
                 .hint = "raise the limit of open files: ulimit -n"};
  }
  return std::unique_ptr<WakeSet>(new WakeSet(std::make_shared<Wake::Ready>(fd)));
}

WakeSet::~WakeSet() {
  for (Wake* wake = ready_->head.exchange(&ready_->closed, std::memory_order_acq_rel);
       wake != nullptr;) {
    const std::shared_ptr<Wake> gone = std::move(wake->self_);
    wake = wake->next_;
  }
}

int WakeSet::fd() const noexcept {
  return ready_->fd;
}

WakeSet::Attention::Attention(WakeSet& set) noexcept : set_(set) {
  set_.ready_->has_attention.store(true, std::memory_order_seq_cst);
}

WakeSet::Attention::~Attention() {
  set_.ready_->has_attention.store(false, std::memory_order_seq_cst);
  if (set_.ready_->head.load(std::memory_order_seq_cst) != nullptr) set_.ready_->notify();
}

std::shared_ptr<Wake> WakeSet::add(std::uint64_t key) {
  return std::make_shared<Wake>(ready_, key);
}

// The fd first: a later set() writes to it again.
std::shared_ptr<Wake> WakeSet::take_all() noexcept {
  std::uint64_t count = 0;
  if (!ready_->has_attention.load(std::memory_order_relaxed))
    static_cast<void>(::read(ready_->fd, &count, sizeof(count)) == sizeof(count));
  Wake* newest = ready_->head.exchange(nullptr, std::memory_order_acq_rel);
  Wake* oldest = nullptr;
  while (newest != nullptr)
    oldest = std::exchange(newest, std::exchange(newest->next_, oldest));
  return oldest == nullptr ? nullptr : std::move(oldest->self_);
}

// From here on set() lists it again; what was made before is there to be read.
std::shared_ptr<Wake> WakeSet::unlist(Wake& wake) noexcept {
  std::shared_ptr<Wake> next = wake.next_ == nullptr ? nullptr : std::move(wake.next_->self_);
  wake.next_ = nullptr;
  wake.is_listed_.exchange(false, std::memory_order_acq_rel);
  return next;
}

}  // namespace wick
