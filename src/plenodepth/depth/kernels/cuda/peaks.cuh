// Which hypothesis of a cost curve is the best one, as in depth/kernels/cpu/peaks.py: one thread, one curve.

struct Best {
  int hypothesis;   // −1: none
  float lowest;     // its cost
  float sharpness;  // in [0, 1]: how much lower that is than others
};

// The lowest of every second n < count of a curve cost[n · stride].
__device__ inline Best lowest_at_first(const float* cost, int count, int stride) {
  Best best = {0, MISSING, 0.0f};
  for (int n = 0; n < count; n += FIRST_STEP) {
    float value = cost[n * stride];
    if (value < best.lowest) {
      best.hypothesis = n;
      best.lowest = value;
    }
  }
  return best;
}

// The lowest hypothesis of a curve that is known at every second one, and beside the lowest of these, `best`.
//
// A minimum at either end of the range is none, since the curve may go on falling beyond.
__device__ inline Best best_hypothesis(const float* cost, int count, int stride, Best best) {
  float total = 0.0f, number = 0.0f, rival = MISSING;
  int last = (count - 1) / FIRST_STEP * FIRST_STEP, first = best.hypothesis;
  for (int n = 0; n < count; n += FIRST_STEP) {
    int before = max(n - FIRST_STEP, 0), after = min(n + FIRST_STEP, last);
    float value = cost[n * stride];
    if (value < UNUSABLE) {
      total += value;
      number += 1.0f;
    }
    bool far = fabsf(static_cast<float>(n - first)) > RIVAL_DISTANCE;
    bool minimum = value <= cost[before * stride] && value <= cost[after * stride];
    if (before < n && n < after && minimum && far && value < rival) rival = value;
  }
  for (int side = 0; side < 2; side++) {
    int n = side == 0 ? max(first - 1, 0) : min(first + 1, count - 1);
    float value = cost[n * stride];
    if (value < best.lowest) {
      best.hypothesis = n;
      best.lowest = value;
    }
  }
  float other = rival < UNUSABLE ? rival : total / fmaxf(number, 1.0f);
  float ratio = 1.0f - best.lowest / fmaxf(other, SMALLEST_COST);
  bool inside = best.hypothesis > 0 && best.hypothesis < count - 1 && best.lowest < UNUSABLE;
  best.hypothesis = inside ? best.hypothesis : -1;
  best.sharpness = inside ? fmaxf(0.0f, ratio) : 0.0f;
  return best;
}

// The place of a fine search about 1/v at which disparities are largest; `step` is that of the sweep.
__device__ inline float widest_fine_place(float inverse_depth, float step) {
  return inverse_depth + copysignf((FINE_PLACES / 2) * FINE_STEP, inverse_depth) * step;
}

// Index of the lowest of the costs of a fine search. The ends do not count.
__device__ inline int best_fine_place(const float* costs) {
  int best = 1;
  for (int n = 2; n < FINE_PLACES - 1; n++)
    if (costs[n] < costs[best]) best = n;
  return best;
}
