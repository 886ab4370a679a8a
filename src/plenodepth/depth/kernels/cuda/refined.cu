// One depth per pixel, as in depth/kernels/cpu/sweep.py: a block for each micro-image, one after the other.
//
// A thread sums the differences of its pixels over all views; a pair is read once for two pixels. Some hypotheses are
// worked on between two barriers. Sums over windows are taken along rows first, then along columns.
#include "blocks.cuh"
#include "pairs.cuh"
#include "peaks.cuh"

constexpr int PIXELS = 2;  // of a thread at a time
constexpr unsigned char IN_DISC = 1, WANTED = 2;

// What a block computes in. Planes are of side² numbers.
struct Windows {
  Pair* pair;      // (TOGETHER, neighbours)
  float* sums;     // (2 · TOGETHER planes): differences of all views and their weights, of each hypothesis
  float* along;    // (2 · TOGETHER planes, at least 3): their sums along rows
  float* taken;    // (h,): the views
  float* deficit;  // (TOGETHER,): mean of the views, see `noise_deficit`
  int* order;      // (h,): the hypotheses of a pass
  int* tried;      // (h,)
  unsigned short *disc, *listed;  // (side²,): pixels that are compared, and those that get a depth
  unsigned char* flags;           // (side²,): IN_DISC, WANTED
};

__device__ inline Windows windows_in(unsigned char* memory, int size, const Shapes& shapes) {
  Windows room;
  room.pair = reinterpret_cast<Pair*>(memory);
  room.sums = reinterpret_cast<float*>(room.pair + TOGETHER * shapes.neighbours);
  room.along = room.sums + 2 * TOGETHER * size;
  room.taken = room.along + max(2 * TOGETHER, 3) * size;
  room.deficit = room.taken + shapes.hypotheses;
  room.order = reinterpret_cast<int*>(room.deficit + TOGETHER);
  room.tried = room.order + shapes.hypotheses;
  room.disc = reinterpret_cast<unsigned short*>(room.tried + shapes.hypotheses);
  room.listed = room.disc + size;
  room.flags = reinterpret_cast<unsigned char*>(room.listed + size);
  return room;
}

// The sum of a row's pixels within `half` of a column.
__device__ inline float along_row(const float* row, int column, int side, int half) {
  float sum = row[column];
  for (int step = 1; step <= half; step++) {
    if (column + step < side) sum += row[column + step];
    if (column - step >= 0) sum += row[column - step];
  }
  return sum;
}

// The sum over the window about the pixel p, from sums along rows.
__device__ inline float over_window(const float* along, int p, int size, int side, int half) {
  float sum = along[p];
  for (int step = side; step <= half * side; step += side) {
    if (p + step < size) sum += along[p + step];
    if (p - step >= 0) sum += along[p - step];
  }
  return sum;
}

// Flags pixels of the tile that are compared, and those that get a depth: with enough contrast about them.
__device__ inline void find_wanted(const Tiles& tiles, const Views& views, int lens, const Windows& room) {
  int side = tiles.side, size = side * side, half = views.window / 2;
  float cx = tiles.center[2 * lens], cy = tiles.center[2 * lens + 1], limit = tiles.radius * tiles.radius;
  float *usable = room.sums, *values = room.sums + size;
  float *number = room.along, *means = room.along + size, *squares = room.along + 2 * size;
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    int row = p / side;
    float x = static_cast<float>(p - row * side) - cx, y = static_cast<float>(row) - cy;
    float value = tiles.gray[lens * size + p];
    bool in_disc = squared_length(x, y) <= limit, there = in_disc && value < UNUSABLE;
    usable[p] = there ? 1.0f : 0.0f;
    values[p] = there ? value : 0.0f;
    room.flags[p] = in_disc ? IN_DISC : 0;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    int row = p / side * side, column = p - row;
    number[p] = along_row(usable + row, column, side, half);
    means[p] = along_row(values + row, column, side, half);
    float sum = 0.0f;
    for (int at = max(column - half, 0); at <= min(column + half, side - 1); at++) sum += values[row + at] * values[row + at];
    squares[p] = sum;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < size; p += blockDim.x) {
    float n = fmaxf(over_window(number, p, size, side, half), 1.0f), mean = over_window(means, p, size, side, half) / n;
    float contrast = sqrtf(fmaxf(over_window(squares, p, size, side, half) / n - mean * mean, 0.0f));
    if (usable[p] > 0.0f && contrast >= views.least_contrast) room.flags[p] |= WANTED;
  }
  __syncthreads();
}

// Adds up differences and weights of all views at a hypothesis, pixel by pixel of the disc.
__device__ inline void add_views(const Tiles& tiles, const Compared& compared, const Shapes& shapes, int lens, int base,
                                 const Pair* pairs, const unsigned short* disc, int count, float* differences,
                                 float* weights) {
  int side = tiles.side, part = (count + PIXELS - 1) / PIXELS;
  float cx = tiles.center[2 * lens], cy = tiles.center[2 * lens + 1];
  for (int i = threadIdx.x; i < part; i += blockDim.x) {
    int pixel[PIXELS], row[PIXELS], column[PIXELS];
    float x[PIXELS], y[PIXELS], here[PIXELS], value[PIXELS], detail[PIXELS], sum[PIXELS], number[PIXELS];
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
      pixel[j] = disc[min(i + j * part, count - 1)];
      row[j] = pixel[j] / side;
      column[j] = pixel[j] - row[j] * side;
      x[j] = static_cast<float>(column[j]) - cx;
      y[j] = static_cast<float>(row[j]) - cy;
      here[j] = squared_length(x[j], y[j]);
      float gray = __ldg(compared.gray + base + pixel[j]);
      // A missing pixel becomes minus the missing value: no difference from anything is small enough to count.
      value[j] = gray <= UNUSABLE ? gray : -MISSING;
      detail[j] = __ldg(compared.detail + base + pixel[j]);
      sum[j] = number[j] = 0.0f;
    }
    for (int n = 0; n < shapes.neighbours; n++) {
      const Pair pair = pairs[n];
      if (pair.other < 0) continue;
      float amount = fmaxf(-pair.blur, 0.0f);
#pragma unroll
      for (int j = 0; j < PIXELS; j++) {
        float other_x = x[j] + pair.disparity_x, other_y = y[j] + pair.disparity_y;
        float there = squared_length(other_x, other_y);
        bool both = there <= pair.other_squared_radius && row[j] >= pair.low && row[j] <= pair.high &&
                    column[j] >= pair.first;
        if (RESAMPLED) both = both && here[j] <= pair.squared_radius;
        if (both) {
          float target = target_value(compared, pair, pair.shift + pixel[j], side);
          float difference = fabsf(value[j] + amount * detail[j] - target), alike = pair.weight;
          if (RESAMPLED) alike *= similarity(here[j] + pair.light_offset, there, pair.dissimilarity);
          if (difference <= UNUSABLE) {
            sum[j] += alike * difference;
            number[j] += alike;
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
      if (i + j * part < count) {
        differences[pixel[j]] = sum[j];
        weights[pixel[j]] = number[j];
      }
    }
  }
}

// The number of views of a hypothesis and the mean deficit of their noise; by one warp.
__device__ inline void count_views(const Pair* pairs, int count, float& taken, float& deficit) {
  float views = 0.0f, total = 0.0f, weights = 0.0f;
  for (int n = lane_of(); n < count; n += WARP) {
    if (pairs[n].other >= 0) {
      views += 1.0f;
      total += pairs[n].weight * pairs[n].deficit;
      weights += pairs[n].weight;
    }
  }
  taken = warp_sum(views);
  total = warp_sum(total);
  weights = warp_sum(weights);
  deficit = total / fmaxf(weights, SMALLEST_NUMBER);
}

// The place in the sums of a plane that a pixel's window is read from: sums are at the chief rays.
struct Corner {
  int pixel;
  float right, down;
};

__device__ inline Corner corner_at(const Tiles& tiles, const ResamplingTables& tables, const Shapes& shapes,
                                   const Compared& compared, int lens, int plane, int pixel) {
  int side = tiles.side, row = pixel / side;
  float cx = tables.light_center[2 * lens], cy = tables.light_center[2 * lens + 1];
  float x = static_cast<float>(pixel - row * side) - cx, y = static_cast<float>(row) - cy;
  float at = fminf((x * x + y * y) * (1.0f / tables.spacing), static_cast<float>(shapes.entries) - TABLE_END);
  int entry = static_cast<int>(at);
  const float* table = tables.ray_from_pixel + (tables.kind[lens] * compared.planes + plane) * shapes.entries;
  float factor = looked_up(table, entry, at - static_cast<float>(entry));
  Corner corner;
  corner.pixel = corner_of(cx + factor * x, side, corner.right);
  corner.pixel += corner_of(cy + factor * y, side, corner.down) * side;
  return corner;
}

__device__ inline float window_at(const float* along, const Corner& at, int size, int side, int half) {
  float v00 = over_window(along, at.pixel, size, side, half);
  float v10 = over_window(along, at.pixel + 1, size, side, half);
  float v01 = over_window(along, at.pixel + side, size, side, half);
  float v11 = over_window(along, at.pixel + side + 1, size, side, half);
  return between_four(v00, v10, v01, v11, at.right, at.down);
}

// Costs of the `many` hypotheses in room.order for the window about each listed pixel, into volume[h · size + n], and
// the pixels behind each, into pixels[h · size + n].
__device__ inline void window_costs(const Tiles& tiles, const Views& views, const ResamplingTables& tables,
                                    const Compared& compared, const Shapes& shapes, int lens, const Windows& room,
                                    int many, int in_disc, int listed, float* volume, float* pixels) {
  int side = tiles.side, size = side * side, half = views.window / 2, neighbours = shapes.neighbours;
  for (int from = 0; from < many; from += TOGETHER) {
    int group = min(TOGETHER, many - from);
    for (int t = threadIdx.x; t < group * neighbours; t += blockDim.x) {
      int h = room.order[from + t / neighbours];
      float inverse_depth = tables.inverse_depths[h];
      room.pair[t] = find_pair(tiles, views, tables, compared, shapes, lens, t % neighbours, inverse_depth,
                               inverse_depth, tables.plane_of_hypothesis[h], views.same_type_first);
    }
    __syncthreads();
    for (int i = warp_of(); i < group; i += warps()) {
      float taken, deficit;
      count_views(room.pair + i * neighbours, neighbours, taken, deficit);
      if (lane_of() == 0) {
        room.taken[room.order[from + i]] = taken;
        room.deficit[i] = deficit;
      }
    }
    for (int i = 0; i < group; i++) {
      int base = tile_start(compared, views, size, lens, tables.plane_of_hypothesis[room.order[from + i]]);
      add_views(tiles, compared, shapes, lens, base, room.pair + i * neighbours, room.disc, in_disc,
                room.sums + 2 * i * size, room.sums + (2 * i + 1) * size);
    }
    __syncthreads();
    for (int t = threadIdx.x; t < 2 * group * size; t += blockDim.x) {
      int row = t / side * side;  // of all planes, one below the other
      room.along[t] = along_row(room.sums + row, t - row, side, half);
    }
    __syncthreads();
    for (int i = 0; i < group; i++) {
      int h = room.order[from + i];
      const float *differences = room.along + 2 * i * size, *weights = differences + size;
      float enough = room.taken[h] >= views.least_views ? views.least_overlap : MISSING;
      for (int n = threadIdx.x; n < listed; n += blockDim.x) {
        float total, number;
        if (RESAMPLED) {
          Corner at = corner_at(tiles, tables, shapes, compared, lens, tables.plane_of_hypothesis[h], room.listed[n]);
          total = window_at(differences, at, size, side, half);
          number = window_at(weights, at, size, side, half);
        } else {
          total = over_window(differences, room.listed[n], size, side, half);
          number = over_window(weights, room.listed[n], size, side, half);
        }
        float cost = noise_corrected(total / fmaxf(number, SMALLEST_NUMBER), room.deficit[i], views.noise);
        volume[h * size + n] = number >= enough ? cost : MISSING;
        pixels[h * size + n] = number;
      }
    }
  }
  __syncthreads();
}

// The minimum about the best hypothesis of the n-th listed pixel, into the maps.
__device__ inline void write_depth(const Tiles& tiles, const Views& views, const Shapes& shapes, int lens,
                                   const Windows& room, int n, const Best& best, const float* volume,
                                   const float* pixels, int image_width, const MapArrays& maps) {
  if (best.hypothesis < 0) return;
  int side = tiles.side, size = side * side, place = best.hypothesis * size + n;
  float step = views.inverse_depths[1] - views.inverse_depths[0];
  float low = volume[place - size], lowest = volume[place], high = volume[place + size];
  Minimum found =
      parabola_minimum(low, lowest, high, low - 2.0f * lowest + high, pixels[place], views.floor / step);
  if (isnan(found.place)) return;
  float inverse = views.inverse_depths[best.hypothesis] + found.place * step;
  if (inverse * views.inverse_depths[shapes.hypotheses / 2] <= 0.0f) return;  // beyond infinity
  int row = room.listed[n] / side, column = room.listed[n] - row * side;
  size_t out = static_cast<size_t>(tiles.origin[2 * lens + 1] + row) * image_width + tiles.origin[2 * lens] + column;
  float taken = room.taken[best.hypothesis];
  maps.virtual_depth[out] = 1.0f / inverse;
  maps.sigma[out] = found.spread * step / (inverse * inverse);
  maps.confidence[out] = best.sharpness * fminf(1.0f, taken / FULL_VIEWS);
  maps.cost[out] = lowest;
  maps.views[out] = static_cast<short>(taken);
}

// Depths of the pixels of the micro-images first … last − 1, into maps as wide as the image. `volumes` has room for
// 2 · hypotheses · side² floats of each block. Dynamic shared memory: see `Windows`.
extern "C" __global__ void __launch_bounds__(256)
    sweep_pixels(Tiles tiles, Views views, ResamplingTables tables, Compared compared, Shapes shapes, int first,
                 int last, int image_width, float* volumes, MapArrays maps) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double sums[3 * WARP];
  __shared__ int counts[3];  // pixels in the disc, listed pixels, hypotheses of the second pass
  int size = tiles.side * tiles.side, count = shapes.hypotheses;
  Windows room = windows_in(memory, size, shapes);
  float* volume = volumes + static_cast<size_t>(blockIdx.x) * 2 * count * size;
  float* pixels = volume + count * size;
  for (int lens = first + blockIdx.x; lens < last; lens += gridDim.x) {
    __syncthreads();  // the room is that of the lens before
    if (contrast_of(tiles, lens, sums) < views.least_contrast) continue;
    find_wanted(tiles, views, lens, room);
    if (warp_of() == 0) {
      int found = listed_by_warp(room.flags, IN_DISC, size, room.disc);
      if (lane_of() == 0) counts[0] = found;
    }
    if (warp_of() == 1) {
      int found = listed_by_warp(room.flags, WANTED, size, room.listed);
      if (lane_of() == 0) counts[1] = found;
    }
    for (int p = threadIdx.x; p < 2 * TOGETHER * size; p += blockDim.x) room.sums[p] = 0.0f;  // outside the disc
    for (int h = threadIdx.x; h < count; h += blockDim.x) {
      room.tried[h] = 0;
      if (h % FIRST_STEP == 0) room.order[h / FIRST_STEP] = h;
    }
    __syncthreads();
    int in_disc = counts[0], listed = counts[1];
    if (listed == 0) continue;
    window_costs(tiles, views, tables, compared, shapes, lens, room, (count + FIRST_STEP - 1) / FIRST_STEP, in_disc,
                 listed, volume, pixels);
    // A thread reads of the volume only what it has written itself: the same pixels n, here and in window_costs.
    for (int n = threadIdx.x; n < listed; n += blockDim.x) {
      int lowest = lowest_at_first(volume + n, count, size).hypothesis;
      room.tried[max(lowest - 1, 0)] = room.tried[min(lowest + 1, count - 1)] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int many = 0;
      for (int h = 1; h < count; h += FIRST_STEP)
        if (room.tried[h]) room.order[many++] = h;
      counts[2] = many;
    }
    __syncthreads();
    window_costs(tiles, views, tables, compared, shapes, lens, room, counts[2], in_disc, listed, volume, pixels);
    for (int n = threadIdx.x; n < listed; n += blockDim.x) {
      Best best = best_hypothesis(volume + n, count, size, lowest_at_first(volume + n, count, size));
      write_depth(tiles, views, shapes, lens, room, n, best, volume, pixels, image_width, maps);
    }
  }
}
