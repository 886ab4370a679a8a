// How many neighbouring views tell the same depth, as in depth/kernels/cpu/agreement.py: on finished maps.
#include "scalar.cuh"

// Whether two depths are the same; none is NaN.
__device__ inline bool same_depth(float v, float other) {
  return fabsf(v - other) <= AGREEMENT * fabsf(other) && v * other > 0.0f;
}

__device__ inline float share_of(float agreeing, float present) {
  return agreeing / fmaxf(present, static_cast<float>(LEAST_COMPARED));
}

// Multiplies the confidences (J,) of all micro-images, a thread each; `ring` nearest neighbours are asked.
extern "C" __global__ void agree_coarse(Views views, Shapes shapes, int ring, const float* depth, float* confidence) {
  int lens = blockIdx.x * blockDim.x + threadIdx.x;
  if (lens >= views.columns * views.rows) return;
  int l = lens / views.columns, k = lens - l * views.columns, parity = parity_of(views, k, l);
  float v = depth[lens], agreeing = 0.0f, present = 0.0f;
  for (int n = 0; n < ring; n++) {
    int way = parity * shapes.neighbours + n, ok = k + views.step_k[way], ol = l + views.step_l[way];
    if (!in_array(views, ok, ol)) continue;
    float other = depth[ol * views.columns + ok];
    if (isnan(other)) continue;
    present += 1.0f;
    if (same_depth(v, other)) agreeing += 1.0f;
  }
  confidence[lens] *= share_of(agreeing, present);
}

// The same for each pixel of maps (height, width), a block for each micro-image: at the pixel where its depth says that
// a neighbour sees the same point.
extern "C" __global__ void __launch_bounds__(256)
    agree_refined(Tiles tiles, Views views, Shapes shapes, int ring, int width, int height, const float* depth,
                  float* confidence) {
  int lens = blockIdx.x, l = lens / views.columns, k = lens - l * views.columns, parity = parity_of(views, k, l);
  float radius = tiles.radius, limit = radius * radius, ratio = views.pitch_ratio[lens];
  float cx = static_cast<float>(tiles.origin[2 * lens]) + tiles.center[2 * lens];
  float cy = static_cast<float>(tiles.origin[2 * lens + 1]) + tiles.center[2 * lens + 1];
  int top = max(-floor_of(radius - cy), 0), bottom = min(floor_of(cy + radius) + 1, height);
  int left = max(-floor_of(radius - cx), 0), right = min(floor_of(cx + radius) + 1, width), across = right - left;
  for (int at = threadIdx.x; at < across * (bottom - top); at += blockDim.x) {
    int row = top + at / across, column = left + at % across;
    float y = static_cast<float>(row) - cy, half = sqrtf(fmaxf(limit - y * y, 0.0f));
    if (column < -floor_of(half - cx) || column > floor_of(cx + half)) continue;
    size_t pixel = static_cast<size_t>(row) * width + column;
    float v = depth[pixel];
    if (isnan(v)) continue;
    float gain = image_step_gain(v, ratio), agreeing = 0.0f, present = 0.0f;
    for (int n = 0; n < ring; n++) {
      int way = parity * shapes.neighbours + n, ok = k + views.step_k[way], ol = l + views.step_l[way];
      if (!in_array(views, ok, ol)) continue;
      int other = ol * views.columns + ok;
      int u = floor_of(static_cast<float>(column) + gain * -views.baseline[2 * way] + 0.5f);
      int w = floor_of(static_cast<float>(row) + gain * -views.baseline[2 * way + 1] + 0.5f);
      float dx = static_cast<float>(u) - (static_cast<float>(tiles.origin[2 * other]) + tiles.center[2 * other]);
      float dy = static_cast<float>(w) - (static_cast<float>(tiles.origin[2 * other + 1]) + tiles.center[2 * other + 1]);
      if (dx * dx + dy * dy > limit || u < 0 || w < 0 || u >= width || w >= height) continue;
      float seen = depth[static_cast<size_t>(w) * width + u];
      if (isnan(seen)) continue;
      present += 1.0f;
      if (same_depth(v, seen)) agreeing += 1.0f;
    }
    confidence[pixel] *= share_of(agreeing, present);
  }
}
