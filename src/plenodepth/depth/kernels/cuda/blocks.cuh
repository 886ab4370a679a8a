// Work that the threads of a warp or of a block do together. Every sum is taken in one order, whatever runs first.

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

__device__ inline int lane_of() { return threadIdx.x & (WARP - 1); }
__device__ inline int warp_of() { return threadIdx.x / WARP; }
__device__ inline int warps() { return blockDim.x / WARP; }

template <typename Number>
__device__ inline Number warp_sum(Number value) {
  for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL, value, step);
  return value;
}

// Three sums over the block, which all threads get; `room` is for 3 numbers of each of up to 32 warps.
__device__ inline void block_sums(double& one, double& two, double& three, double* room) {
  one = warp_sum(one);
  two = warp_sum(two);
  three = warp_sum(three);
  if (lane_of() == 0) {
    room[3 * warp_of()] = one;
    room[3 * warp_of() + 1] = two;
    room[3 * warp_of() + 2] = three;
  }
  __syncthreads();
  one = two = three = 0.0;
  for (int n = 0; n < warps(); n++) {
    one += room[3 * n];
    two += room[3 * n + 1];
    three += room[3 * n + 2];
  }
  __syncthreads();
}

// Standard deviation of gray in a tile's disc, for all threads of the block.
__device__ inline float contrast_of(const Tiles& tiles, int lens, double* room) {
  int side = tiles.side, size = side * side;
  float cx = tiles.center[2 * lens], cy = tiles.center[2 * lens + 1], limit = tiles.radius * tiles.radius;
  double total = 0.0, squares = 0.0, count = 0.0;
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    int row = p / side;
    float value = tiles.gray[lens * size + p], x = static_cast<float>(p - row * side) - cx;
    float y = static_cast<float>(row) - cy;
    if (x * x + y * y <= limit && value < UNUSABLE) {
      total += value;
      squares += value * value;
      count += 1.0;
    }
  }
  block_sums(total, squares, count, room);
  if (count == 0.0) return 0.0f;
  double mean = total / count;
  return static_cast<float>(sqrt(fmax(squares / count - mean * mean, 0.0)));
}

// The numbers p < size for which flags[p] has a bit, in ascending order, into `list`; by one warp, which gets how many.
__device__ inline int listed_by_warp(const unsigned char* flags, unsigned char bit, int size, unsigned short* list) {
  int count = 0;
  for (int from = 0; from < size; from += WARP) {
    int p = from + lane_of();
    bool there = p < size && (flags[p] & bit) != 0;
    unsigned all = __ballot_sync(ALL, there);
    if (there) list[count + __popc(all & ((1u << lane_of()) - 1u))] = static_cast<unsigned short>(p);
    count += __popc(all);
  }
  return count;
}
