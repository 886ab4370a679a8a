// Tiles cut out of the image, smoothed, and their detail, as in depth/kernels/cpu/cut.py: a block for each tile.

// Usable second differences of one row or column of a tile, `step` pixels apart, about the pixel p at place `at`.
__device__ inline float second_difference(const float* usable, const float* values, int p, int at, int side, int step,
                                          int stride) {
  if (at < step || at >= side - step) return 0.0f;
  int before = p - step * stride, after = p + step * stride;
  float all_three = usable[before] * usable[p] * usable[after];
  return all_three * (values[before] - 2.0f * values[p] + values[after]);
}

// out = values (side²,) blurred along both axes, pairs of usable pixels at a time; `rows` (side²,) is a buffer.
__device__ inline void smooth(const float* usable, const float* values, int side, const float* kernel, int length,
                              float* rows, float* out) {
  for (int p = threadIdx.x; p < side * side; p += blockDim.x) {
    float value = values[p];
    for (int step = 1; step <= length; step++)
      value += kernel[step - 1] * second_difference(usable, values, p, p / side, side, step, side);
    rows[p] = value;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < side * side; p += blockDim.x) {
    float value = rows[p];
    for (int step = 1; step <= length; step++)
      value += kernel[step - 1] * second_difference(usable, rows, p, p % side, side, step, 1);
    out[p] = value;
  }
  __syncthreads();
}

// Sets gray and detail of all tiles from an image (height, width). The kernels' weights are of so many distances; no
// weights of a mixture: the detail is the Laplacian. Dynamic shared memory: 4 tiles of float.
extern "C" __global__ void __launch_bounds__(256)
    cut_tiles(const float* image, int width, int height, Tiles tiles, float reach, const float* smoothing,
              int smoothing_length, const float* mixture, int mixture_length, float* gray, float* detail) {
  extern __shared__ float room[];
  int side = tiles.side, size = side * side, lens = blockIdx.x;
  float *usable = room, *values = room + size, *rows = room + 2 * size, *blurred = room + 3 * size;
  int left = tiles.origin[2 * lens], top = tiles.origin[2 * lens + 1];
  float cx = tiles.center[2 * lens], cy = tiles.center[2 * lens + 1];
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    int row = p / side, column = p - row * side, u = left + column, v = top + row;
    float x = static_cast<float>(column) - cx, y = static_cast<float>(row) - cy, value = 0.0f;
    bool there = u >= 0 && v >= 0 && u < width && v < height && y * y + x * x <= reach * reach;
    if (there) value = image[static_cast<size_t>(v) * width + u];
    there = there && isfinite(value);
    usable[p] = there ? 1.0f : 0.0f;
    values[p] = there ? value : 0.0f;
  }
  __syncthreads();
  if (smoothing_length > 0) {
    smooth(usable, values, side, smoothing, smoothing_length, rows, blurred);
    float* sharp = values;
    values = blurred;
    blurred = sharp;
  }
  if (mixture_length > 0) {
    smooth(usable, values, side, mixture, mixture_length, rows, blurred);
  } else {
    for (int p = threadIdx.x; p < size; p += blockDim.x)
      blurred[p] = values[p] + second_difference(usable, values, p, p / side, side, 1, side) +
                   second_difference(usable, values, p, p % side, side, 1, 1);
    __syncthreads();
  }
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    gray[lens * size + p] = usable[p] > 0.0f ? values[p] : MISSING;
    detail[lens * size + p] = blurred[p] - values[p];
  }
}
