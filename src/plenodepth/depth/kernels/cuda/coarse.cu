// One depth per micro-image, as in depth/kernels/cpu/sweep.py: a block for each. The costs of all hypotheses and views
// are tasks, a warp each: they are independent until all are summed, in the order of the views.
#include "blocks.cuh"
#include "pairs.cuh"
#include "peaks.cuh"

// Costs of hypotheses and what they are made of, (h,) each.
struct Costs {
  float *cost, *views, *pixels;
};

// What view_costs computes in.
struct TaskRoom {
  Pair* pair;  // (threads,)
  float *total, *number, *deficit;  // (tasks,)
};

// Sum of weighted |reference + amount · detail − target| over the pixels that both views show, and the sum of weights;
// by one warp, whose lanes all get them.
__device__ inline void sum_differences(const Tiles& tiles, const Compared& compared, const Pair& pair, float center_x,
                                       float center_y, float& total, float& weights) {
  int side = tiles.side, width = pair.last - pair.first + 1, count = width * (pair.high - pair.low + 1);
  float differences = 0.0f, sum = 0.0f, amount = fmaxf(-pair.blur, 0.0f);
  if (width > 0 && pair.high >= pair.low) {
    float per_width = 1.0f / static_cast<float>(width);
    for (int n = lane_of(); n < count; n += WARP) {
      int down = static_cast<int>((static_cast<float>(n) + 0.5f) * per_width);
      int row = pair.low + down, column = pair.first + n - down * width, p = row * side + column;
      float x = static_cast<float>(column) - center_x, y = static_cast<float>(row) - center_y;
      float other_x = x + pair.disparity_x, other_y = y + pair.disparity_y;
      float here = squared_length(x, y), there = squared_length(other_x, other_y);
      if (here <= pair.squared_radius && there <= pair.other_squared_radius) {
        float value = target_value(compared, pair, pair.shift + p, side), here_value = __ldg(compared.gray + pair.base + p);
        if (here_value + value <= UNUSABLE) {
          if (amount > 0.0f) here_value += amount * __ldg(compared.detail + pair.base + p);
          float weight = RESAMPLED ? similarity(here + pair.light_offset, there, pair.dissimilarity) : 1.0f;
          differences += weight * fabsf(here_value - value);
          sum += weight;
        }
      }
    }
  }
  total = warp_sum(differences);
  weights = warp_sum(sum);
}

// Costs of the hypotheses first, first + step, … (`many` of them) of the 1/v (h,) for one micro-image with its first
// `count` neighbours, into `out`; see cpu/costs.py. `widest` 0: each hypothesis' own; `plane` −1: likewise.
__device__ inline void view_costs(const Tiles& tiles, const Views& views, const ResamplingTables& tables,
                                  const Compared& compared, const Shapes& shapes, int lens,
                                  const float* inverse_depths, int first, int step, int many, float widest, int plane,
                                  int count, bool same_type, TaskRoom room, Costs out) {
  float center_x = tiles.center[2 * lens], center_y = tiles.center[2 * lens + 1];
  int tasks = many * count;
  for (int from = 0; from < tasks; from += blockDim.x) {
    int task = from + threadIdx.x;
    if (task < tasks) {
      int h = first + task / count * step;
      float inverse_depth = inverse_depths[h], farthest = widest != 0.0f ? widest : inverse_depth;
      int own_plane = plane >= 0 ? plane : tables.plane_of_hypothesis[h];
      Pair pair = find_pair(tiles, views, tables, compared, shapes, lens, task % count, inverse_depth, farthest,
                            own_plane, same_type);
      room.pair[threadIdx.x] = pair;
      room.deficit[task] = pair.deficit;
    }
    __syncthreads();
    for (int n = warp_of(); n < min(static_cast<int>(blockDim.x), tasks - from); n += warps()) {
      float total = 0.0f, number = 0.0f;
      if (room.pair[n].other >= 0)
        sum_differences(tiles, compared, room.pair[n], center_x, center_y, total, number);
      if (lane_of() == 0) {
        room.total[from + n] = total;
        room.number[from + n] = number;
      }
    }
    __syncthreads();
  }
  int l = lens / views.columns, parity = parity_of(views, lens - l * views.columns, l);
  for (int i = threadIdx.x; i < many; i += blockDim.x) {
    float cost = 0.0f, deficit = 0.0f, weights = 0.0f, taken = 0.0f, pixels = 0.0f;
    for (int n = 0; n < count; n++) {
      float number = room.number[i * count + n];
      if (number > 0.0f && number >= views.least_overlap) {
        float weight = views.weight[parity * shapes.neighbours + n] * (views.by_pixels ? 1.0f : 1.0f / number);
        cost += weight * room.total[i * count + n];
        deficit += weight * number * room.deficit[i * count + n];
        weights += weight * number;
        taken += 1.0f;
        pixels += number;
      }
    }
    int h = first + i * step;
    out.cost[h] =
        taken >= views.least_views ? noise_corrected(cost / weights, deficit / weights, views.noise) : MISSING;
    out.views[h] = taken;
    out.pixels[h] = pixels;
  }
  __syncthreads();
}

// Dynamic shared memory of both kernels: a pair for each thread, 3 floats for each task, 3 for each hypothesis.
__device__ inline TaskRoom task_room(void* memory, int tasks) {
  Pair* pair = static_cast<Pair*>(memory);
  float* numbers = reinterpret_cast<float*>(pair + blockDim.x);
  return {pair, numbers, numbers + tasks, numbers + 2 * tasks};
}

// The best hypothesis of each lens, a block each from `first` on, into best (J,), −1 without one, and how sharp its
// minimum is, into sharpness (J,). `tasks`: at most, of one call of view_costs.
extern "C" __global__ void __launch_bounds__(128)
    sweep_lenses(Tiles tiles, Views views, ResamplingTables tables, Compared compared, Shapes shapes, int first,
                 int tasks, int* best, float* sharpness) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double sums[3 * WARP];
  __shared__ int lowest;
  int lens = first + blockIdx.x, count = shapes.hypotheses;
  TaskRoom room = task_room(memory, tasks);
  float* numbers = room.deficit + tasks;
  Costs curve = {numbers, numbers + count, numbers + 2 * count};
  if (contrast_of(tiles, lens, sums) < views.least_contrast) {
    if (threadIdx.x == 0) {
      best[lens] = -1;
      sharpness[lens] = 0.0f;
    }
    return;
  }
  view_costs(tiles, views, tables, compared, shapes, lens, tables.inverse_depths, 0, FIRST_STEP,
             (count + FIRST_STEP - 1) / FIRST_STEP, 0.0f, -1, views.swept, views.same_type_first, room, curve);
  Best found = {0, MISSING, 0.0f};
  if (threadIdx.x == 0) {
    found = lowest_at_first(curve.cost, count, 1);
    lowest = found.hypothesis;
  }
  __syncthreads();
  int beside = max(lowest - 1, 1);  // the hypotheses on both sides; at an end of the range there is one
  int many = (min(lowest + 1, count - 1) - beside) / FIRST_STEP + 1;
  view_costs(tiles, views, tables, compared, shapes, lens, tables.inverse_depths, beside, FIRST_STEP, many, 0.0f, -1,
             views.swept, views.same_type_first, room, curve);
  if (threadIdx.x == 0) {
    found = best_hypothesis(curve.cost, count, 1, found);
    best[lens] = found.hypothesis;
    sharpness[lens] = found.sharpness;
  }
}

// The depth of each lens, a block each from `first` on: a search between the hypotheses about the best one.
extern "C" __global__ void __launch_bounds__(128)
    search_about_best(Tiles tiles, Views views, ResamplingTables tables, Compared compared, Shapes shapes, int first,
                      int tasks, const int* best, const float* sharpness, MapArrays maps) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ float places[FINE_PLACES + 2], costs[3 * (FINE_PLACES + 2)];
  int lens = first + blockIdx.x, plane = best[lens];
  if (plane < 0) return;
  TaskRoom room = task_room(memory, tasks);
  float *between = places, *beside = places + FINE_PLACES;
  Costs fine = {costs, costs + FINE_PLACES, costs + 2 * FINE_PLACES};
  Costs finest = {costs + 3 * FINE_PLACES, costs + 3 * FINE_PLACES + 2, costs + 3 * FINE_PLACES + 4};
  float step = views.inverse_depths[1] - views.inverse_depths[0], middle = views.inverse_depths[plane];
  float quarter = (0.5f * FINE_STEP) * step, widest = widest_fine_place(middle, step);
  if (threadIdx.x < FINE_PLACES)
    between[threadIdx.x] = middle + static_cast<float>(static_cast<int>(threadIdx.x) - FINE_PLACES / 2) * FINE_STEP * step;
  __syncthreads();
  view_costs(tiles, views, tables, compared, shapes, lens, between, 0, 1, FINE_PLACES, widest, plane,
             shapes.neighbours, false, room, fine);
  int n = best_fine_place(fine.cost);
  if (threadIdx.x < 2) beside[threadIdx.x] = between[n] + static_cast<float>(2 * static_cast<int>(threadIdx.x) - 1) * quarter;
  __syncthreads();
  view_costs(tiles, views, tables, compared, shapes, lens, beside, 0, 1, 2, widest, plane, shapes.neighbours, false,
             room, finest);
  if (threadIdx.x != 0) return;
  Minimum found = five_point_minimum(fine.cost[n - 1], finest.cost[0], fine.cost[n], finest.cost[1], fine.cost[n + 1],
                                     fine.pixels[n], views.floor / quarter);
  if (isnan(found.place)) return;
  float stretch = tables.stretch[min(plane, compared.planes - 1)];
  float inverse = unstretched(between[n] + found.place * quarter, middle, stretch, views.pitch_ratio[lens]);
  if (inverse * middle <= 0.0f) return;  // beyond infinity
  maps.virtual_depth[lens] = 1.0f / inverse;
  maps.sigma[lens] = found.spread * quarter / (inverse * inverse);
  maps.confidence[lens] = sharpness[lens] * fminf(1.0f, fine.views[n] / FULL_VIEWS);
  maps.cost[lens] = fine.cost[n];
  maps.views[lens] = static_cast<short>(fine.views[n]);
}
