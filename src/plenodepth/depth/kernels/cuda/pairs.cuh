// Two views compared at one hypothesis, as in depth/kernels/cpu/pairs.py.
#include "scalar.cuh"

// What it takes to compare a lens (the reference) with another (the target) at one hypothesis: five words of 16 bytes,
// which all threads of a warp read at once.
struct __align__(16) Pair {
  int other;  // index of the target; −1 where there is nothing to compare
  int base;   // where the reference's tile begins in the compared tiles
  int shift;  // from a pixel's number in the reference's tile to the first of four pixels in the compared tiles
  float deficit;  // of noise, see `noise_deficit`
  int low, high;  // first and last row of the reference's tile that can have anything in common
  int first, last;  // first and last such column
  float w00, w10, w01, w11;  // bilinear weights: first row, then second
  float disparity_x, disparity_y;  // px, from offset to offset from the micro-images' centres
  float blur;    // by which the reference is blurrier than the target, in units of adding the detail once
  float weight;  // of the view
  float squared_radius, other_squared_radius;  // px²: of the reference's disc and of the target's
  float dissimilarity;  // per px²: see `similarity`
  float light_offset;   // px²: what is added to |x|² − |x'|² because the light's centre is not the micro-image's
};

// Where the tile of a lens for a plane begins in the compared tiles. (With several planes the compared tiles are those
// of some rows of lenses.)
__device__ inline int tile_start(const Compared& compared, const Views& views, int size, int lens, int plane) {
  if (compared.planes == 1) return lens * size;
  return ((lens - compared.first_row * views.columns) * compared.planes + plane) * size;
}

// First and last row (column) of the reference's tile, centred in `middle`, that the target may show, too.
__device__ inline void common_span(float radius, float middle, float along, float across, int& from, int& to) {
  float low = fmaxf(-radius, -radius - along), high = fminf(radius, radius - along);
  float rest = radius - fabsf(along);
  if (across * across + rest * rest > radius * radius) {
    // Neither disc holds the other's first or last point: the tips of what they share bound it.
    float squared = across * across + along * along;
    float tips = fabsf(across) * sqrtf(fmaxf(radius * radius / squared - 0.25f, 0.0f));
    low = -0.5f * along - tips;
    high = -0.5f * along + tips;
  }
  from = -floor_of(-middle - low);
  to = floor_of(middle + high);
}

// The pair of a lens and its n-th neighbour at 1/v, in the tiles of a plane.
//
// There is nothing to compare without another lens, with one of another type though only the same is wanted, or with
// too little in common at the hypothesis `widest`.
__device__ inline Pair find_pair(const Tiles& tiles, const Views& views, const ResamplingTables& tables,
                                 const Compared& compared, const Shapes& shapes, int lens, int n, float inverse_depth,
                                 float widest, int plane, bool same_type) {
  Pair pair = {};
  pair.other = -1;
  int l = lens / views.columns, k = lens - l * views.columns;
  int parity = parity_of(views, k, l), way = parity * shapes.neighbours + n;
  int ok = k + views.step_k[way], ol = l + views.step_l[way], other = ol * views.columns + ok;
  if (!in_array(views, ok, ol)) return pair;
  int type = views.lens_type[lens], other_type = views.lens_type[other];
  if (same_type && type != other_type) return pair;
  plane = min(plane, compared.planes - 1);
  float radius = tables.radius[tables.kind[lens] * compared.planes + plane];
  float other_radius = tables.radius[tables.kind[other] * compared.planes + plane];
  float ratio = views.pitch_ratio[lens], x = views.baseline[2 * way], y = views.baseline[2 * way + 1];
  float most = disparity_gain(widest, ratio), farthest = fmaxf(radius + other_radius - LEAST_COMMON_WIDTH, 0.0f);
  if (most * most * (x * x + y * y) >= farthest * farthest) return pair;
  int side = tiles.side, size = side * side;
  float gain = disparity_gain(inverse_depth, ratio), larger = fmaxf(radius, other_radius);
  float disparity_x = gain * x, disparity_y = gain * y;
  float center_x = tiles.center[2 * lens], center_y = tiles.center[2 * lens + 1];
  common_span(larger, center_y, disparity_y, disparity_x, pair.low, pair.high);
  common_span(larger, center_x, disparity_x, disparity_y, pair.first, pair.last);
  float shift_x = tiles.center[2 * other] - center_x + disparity_x;
  float shift_y = tiles.center[2 * other + 1] - center_y + disparity_y;
  int column_shift = floor_of(shift_x), row_shift = floor_of(shift_y);
  float wx = shift_x - static_cast<float>(column_shift), wy = shift_y - static_cast<float>(row_shift);
  float right = snapped(wx), down = snapped(wy);
  pair.w11 = right * down;
  pair.w00 = 1.0f - right - down + pair.w11;
  pair.w10 = right - pair.w11;
  pair.w01 = down - pair.w11;
  // Both rows that are interpolated between must be in the target's tile.
  pair.low = max(max(pair.low, -row_shift), 0);
  pair.high = min(min(pair.high, side - 1), side - 2 - row_shift);
  pair.first = max(max(pair.first, -column_shift), 0);
  float variance = relative_blur_variance(views, type * shapes.types + other_type, inverse_depth);
  pair.blur = (variance - interpolation_variance(wx, wy)) / tables.blur_unit[plane];
  pair.deficit = noise_deficit(tiles.noise, wx, wy, pair.blur);
  pair.weight = views.weight[way];
  pair.dissimilarity = tables.dissimilarity[plane];
  float aside_x = tables.light_center[2 * lens] - center_x, aside_y = tables.light_center[2 * lens + 1] - center_y;
  pair.light_offset = 2.0f * (aside_x * disparity_x + aside_y * disparity_y);
  pair.disparity_x = disparity_x;
  pair.disparity_y = disparity_y;
  pair.squared_radius = radius * radius;
  pair.other_squared_radius = other_radius * other_radius;
  pair.base = tile_start(compared, views, size, lens, plane);
  pair.shift = tile_start(compared, views, size, other, plane) + row_shift * side + column_shift;
  pair.other = other;
  return pair;
}

// The target between four pixels, the first of them at `at`, blurred if the reference is blurrier.
__device__ inline float target_value(const Compared& compared, const Pair& pair, int at, int side) {
  const float* gray = compared.gray + at;
  float value = pair.w00 * __ldg(gray) + pair.w10 * __ldg(gray + 1) + pair.w01 * __ldg(gray + side) +
                pair.w11 * __ldg(gray + side + 1);
  if (pair.blur > 0.0f) {
    const float* detail = compared.detail + at;
    value += pair.blur * (pair.w00 * __ldg(detail) + pair.w10 * __ldg(detail + 1) + pair.w01 * __ldg(detail + side) +
                          pair.w11 * __ldg(detail + side + 1));
  }
  return value;
}
