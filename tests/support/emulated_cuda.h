// What CUDA C++ has and C++ has not, so that g++ compiles the kernels: a block's threads are coroutines that take turns
// at barriers. Blocks run one after the other. For tests only: a thousand times slower than a GPU.
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
#define __align__(bytes) alignas(bytes)

using std::isfinite;
using std::isnan;
using std::max;
using std::min;

struct Index {
  unsigned x;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

constexpr size_t STACK = 256 * 1024, CANARY = 256;

struct Barrier {
  unsigned arrived = 0, round = 0;
};
struct Thread {
  ucontext_t context;
  bool done = false;
};

static unsigned char* shared = nullptr;
static std::vector<Thread> threads;
static std::vector<Barrier> warps;
static std::vector<uint64_t> slots;
static Barrier block;
static unsigned alive = 0;
static ucontext_t scheduler;
static std::function<void()> body;
static std::vector<unsigned char> stacks;

inline void yield() {
  unsigned mine = threadIdx.x;
  swapcontext(&threads[mine].context, &scheduler);
}
inline void wait(Barrier& barrier, const unsigned& needed) {
  unsigned round = barrier.round;
  barrier.arrived++;
  while (barrier.round == round) {
    if (barrier.arrived >= needed) {  // `needed` falls when threads return
      barrier.arrived = 0;
      barrier.round++;
    } else {
      yield();
    }
  }
}
static const unsigned WARP_SIZE = 32;
inline void wait_for_warp() { wait(warps[threadIdx.x / 32], WARP_SIZE); }

template <typename Number>
Number exchanged(Number value, int mask) {
  static_assert(sizeof(Number) <= 8, "");
  std::memcpy(&slots[threadIdx.x], &value, sizeof(Number));
  wait_for_warp();
  Number other;
  std::memcpy(&other, &slots[threadIdx.x ^ mask], sizeof(Number));
  wait_for_warp();
  return other;
}

inline void run_thread() {
  body();
  threads[threadIdx.x].done = true;
  alive--;
  swapcontext(&threads[threadIdx.x].context, &scheduler);
}

template <typename... Kinds, size_t... Numbers>
void call(void (*kernel)(Kinds...), void** arguments, std::index_sequence<Numbers...>) {
  kernel(*static_cast<std::remove_const_t<Kinds>*>(arguments[Numbers])...);
}

template <typename... Kinds>
int launch(void (*kernel)(Kinds...), unsigned blocks, unsigned count, size_t bytes, void** arguments, int backwards) {
  gridDim.x = blocks;
  blockDim.x = count;
  std::vector<unsigned char> room(bytes + CANARY + 16);
  shared = room.data() + (16 - reinterpret_cast<uintptr_t>(room.data()) % 16);
  stacks.resize(STACK * count);
  body = [=] { call(kernel, arguments, std::index_sequence_for<Kinds...>{}); };
  for (unsigned n = 0; n < blocks; n++) {
    blockIdx.x = backwards ? blocks - 1 - n : n;
    std::memset(shared, 0xFF, bytes);  // NaN: nothing may be read before it is written
    std::memset(shared + bytes, 0xA5, CANARY - 16);
    threads.assign(count, Thread());
    warps.assign((count + 31) / 32, Barrier());
    slots.assign(count, 0);
    block = Barrier();
    alive = count;
    for (unsigned t = 0; t < count; t++) {
      getcontext(&threads[t].context);
      threads[t].context.uc_stack.ss_sp = stacks.data() + t * STACK;
      threads[t].context.uc_stack.ss_size = STACK;
      threads[t].context.uc_link = &scheduler;
      makecontext(&threads[t].context, run_thread, 0);
    }
    while (alive > 0) {
      for (unsigned t = 0; t < count; t++) {
        unsigned at = backwards ? count - 1 - t : t;
        if (threads[at].done) continue;
        threadIdx.x = at;
        swapcontext(&scheduler, &threads[at].context);
      }
    }
    for (size_t at = bytes; at < bytes + CANARY - 16; at++)
      if (shared[at] != 0xA5) return 1;
  }
  return 0;
}

}  // namespace emulated

inline void __syncthreads() { emulated::wait(emulated::block, emulated::alive); }
template <typename Number>
Number __shfl_xor_sync(unsigned, Number value, int mask) {
  return emulated::exchanged(value, mask);
}
inline unsigned __ballot_sync(unsigned, bool value) {
  unsigned all = 0, first = threadIdx.x & ~31u;
  emulated::slots[threadIdx.x] = value;
  emulated::wait_for_warp();
  for (unsigned lane = 0; lane < 32; lane++) all |= static_cast<unsigned>(emulated::slots[first + lane] != 0) << lane;
  emulated::wait_for_warp();
  return all;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __float2int_rd(float value) { return static_cast<int>(std::floor(value)); }
inline float __int_as_float(int bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename Number>
Number __ldg(const Number* place) {
  return *place;
}
