// Tiles with the aperture's effect undone, as in depth/kernels/cpu/resample.py: a block for each tile, one plane after
// the other. What all planes have in common, the tile and its blur correction, stays in shared memory.
#include "pairs.cuh"

struct Place {  // in a table over squared radii
  int entry;
  float part;
};

__device__ inline Place place_in(const ResamplingTables& tables, const Shapes& shapes, float squared) {
  float at = fminf(squared * (1.0f / tables.spacing), static_cast<float>(shapes.entries) - TABLE_END);
  int entry = static_cast<int>(at);
  return {entry, at - static_cast<float>(entry)};
}

__device__ inline float value_at(const float* values, int side, float x, float y) {
  float right, down;
  int column = corner_of(x, side, right), row = corner_of(y, side, down);
  return interpolated(values, row * side + column, side, right, down);
}

// What makes the blur of a tile's pixel (column, row) the same as everywhere once added; 0 where a pixel is missing.
__device__ inline float blur_correction(const Tiles& tiles, const ResamplingTables& tables, const Shapes& shapes,
                                        int lens, const float* gray, const float* detail, int column, int row) {
  int side = tiles.side, p = row * side + column;
  const float* steps = tables.uniform_blur + 3 * tables.kind[lens] * shapes.entries;
  const float *weights = steps + shapes.entries, *details = weights + shapes.entries;
  float middle_x = tiles.center[2 * lens], from_middle = static_cast<float>(row) - tiles.center[2 * lens + 1];
  float half = sqrtf(fmaxf(tiles.reach * tiles.reach - from_middle * from_middle, 0.0f)) + 1.0f;
  int first = max(static_cast<int>(middle_x - half), 0), end = min(static_cast<int>(middle_x + half) + 1, side);
  if (column < first || column >= end) return 0.0f;  // beyond the reach all pixels are missing
  float x = static_cast<float>(column) - tables.light_center[2 * lens];
  float y = static_cast<float>(row) - tables.light_center[2 * lens + 1];
  float squared = x * x + y * y, here = gray[p];
  Place place = place_in(tables, shapes, squared);
  float ends = looked_up(weights, place.entry, place.part);
  if (ends <= 0.0f || squared == 0.0f || here >= UNUSABLE) return 0.0f;
  float scale = looked_up(steps, place.entry, place.part) / sqrtf(squared), dx = scale * x, dy = scale * y;
  float outside = value_at(gray, side, static_cast<float>(column) + dx, static_cast<float>(row) + dy);
  float inside = value_at(gray, side, static_cast<float>(column) - dx, static_cast<float>(row) - dy);
  if (!(here + inside + outside < UNUSABLE)) return 0.0f;
  return ends * (inside + outside - here - here) + looked_up(details, place.entry, place.part) * detail[p];
}

// Whether a pixel at (x, y) px from the centre of the light is within the reach, as the CPU's rows of pixels are.
__device__ inline bool within(float cx, float cy, int column, int row, float reach) {
  float y = static_cast<float>(row) - cy;
  float half = sqrtf(fmaxf(reach * reach - y * y, 0.0f));
  return row > floor_of(cy - reach) && row <= floor_of(cy + reach) && column > floor_of(cx - half) &&
         column <= floor_of(cx + half);
}

// Resamples the tiles of lenses from `first` on, a block each, for the planes p with wanted[lens − first, p] = 1, which
// become 2. `gray` and `detail` are those of `compared`. Dynamic shared memory: 3 tiles of float.
extern "C" __global__ void __launch_bounds__(256)
    resample_tiles(Tiles tiles, Views views, ResamplingTables tables, Compared compared, Shapes shapes,
                   unsigned char* wanted, int first, float* out_gray, float* out_detail) {
  extern __shared__ float room[];
  int side = tiles.side, size = side * side, lens = first + blockIdx.x, planes = compared.planes;
  float *gray = room, *detail = room + size, *correction = room + 2 * size;
  wanted += blockIdx.x * planes;
  bool any = false;
  for (int plane = 0; plane < planes; plane++) any = any || wanted[plane] == 1;
  if (!any) return;  // the same for all threads
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    gray[p] = tiles.gray[lens * size + p];
    detail[p] = tiles.detail[lens * size + p];
  }
  __syncthreads();
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    int row = p / side;
    correction[p] = blur_correction(tiles, tables, shapes, lens, gray, detail, p - row * side, row);
  }
  __syncthreads();
  float cx = tables.light_center[2 * lens], cy = tables.light_center[2 * lens + 1], scale = 1.0f / tiles.blur_unit;
  int kind = tables.kind[lens];
  for (int plane = 0; plane < planes; plane++) {
    if (wanted[plane] != 1) continue;
    float reach = tables.radius[kind * planes + plane] + tables.largest_offset + INTERPOLATION_REACH;
    float share = tables.uniform_share[kind * planes + plane];
    const float* table = tables.pixel_from_ray + (kind * planes + plane) * shapes.entries;
    int start = tile_start(compared, views, size, lens, plane);
    for (int p = threadIdx.x; p < size; p += blockDim.x) {
      int row = p / side, column = p - row * side;
      float value = 0.0f, more = 0.0f;  // beyond: they count nothing, but 0 · NaN would be NaN
      if (within(cx, cy, column, row, reach)) {
        float x = static_cast<float>(column) - cx, y = static_cast<float>(row) - cy, right, down;
        Place place = place_in(tables, shapes, x * x + y * y);
        float factor = looked_up(table, place.entry, place.part);
        int from = corner_of(cx + factor * x, side, right);
        from += corner_of(cy + factor * y, side, down) * side;
        const float *g = gray + from, *c = correction + from;
        value = between_four(g[0] + share * c[0], g[1] + share * c[1], g[side] + share * c[side],
                             g[side + 1] + share * c[side + 1], right, down);
        more = interpolated(detail, from, side, right, down);
        // Interpolation blurs some pixels more than others; made up to the most it does, all are alike.
        value += (RESAMPLING_VARIANCE - interpolation_variance(right, down)) * scale * more;
        if (!(value < UNUSABLE)) value = MISSING;
      }
      out_gray[start + p] = value;
      out_detail[start + p] = more;
    }
  }
  __syncthreads();
  for (int plane = threadIdx.x; plane < planes; plane += blockDim.x)
    if (wanted[plane] == 1) wanted[plane] = 2;
}

// Which tiles the fine search of the lenses first … last − 1 compares: wanted[lens − compared.first_row · columns, p]
// becomes 1 for the lens and all its neighbours, p its best hypothesis, unless it is 2: resampled already.
extern "C" __global__ void want_planes(Views views, Compared compared, Shapes shapes, const int* best, int first,
                                       int last, unsigned char* wanted) {
  int per_lens = shapes.neighbours + 1, at = blockIdx.x * blockDim.x + threadIdx.x;
  int lens = first + at / per_lens, n = at % per_lens - 1;
  if (lens >= last || best[lens] < 0) return;
  int l = lens / views.columns, k = lens - l * views.columns;
  if (n >= 0) {
    int way = parity_of(views, k, l) * shapes.neighbours + n;
    k += views.step_k[way];
    l += views.step_l[way];
  }
  if (!in_array(views, k, l)) return;
  unsigned char* of_tile =
      wanted + ((l - compared.first_row) * views.columns + k) * compared.planes + min(best[lens], compared.planes - 1);
  if (*of_tile == 0) *of_tile = 1;  // of several threads all write the same
}
