// The mathematics of one pair of views and one hypothesis, as in depth/kernels/scalar.py.

__device__ inline float nothing() { return __int_as_float(0x7fc00000); }  // NaN

// --- geometry ------------------------------------------------------------------------------------------------------

// 0 or 1: whether lens (k, l) stands in an even or an odd row (column, where the array is aligned by columns).
__device__ inline int parity_of(const Views& views, int k, int l) { return (views.by_column ? k : l) & 1; }

__device__ inline bool in_array(const Views& views, int k, int l) {
  return !(k < 0 || l < 0 || k >= views.columns || l >= views.rows);
}

// Disparity per baseline at 1/v: 1 − λ + λ/v, λ the ratio of the pitches.
__device__ inline float disparity_gain(float inverse_depth, float pitch_ratio) {
  return (1.0f - pitch_ratio) + pitch_ratio * inverse_depth;
}

// Way in the image per way from lens to lens, of a point at v.
__device__ inline float image_step_gain(float depth, float pitch_ratio) { return pitch_ratio * (1.0f - 1.0f / depth); }

// 1/v from the one found among tiles that were resampled for the hypothesis `plane`.
__device__ inline float unstretched(float inverse_depth, float plane, float stretch, float pitch_ratio) {
  if (stretch == 0.0f) return inverse_depth;
  float rest = (1.0f - pitch_ratio) / pitch_ratio;
  return ((inverse_depth + rest) * (1.0f - stretch * plane) - rest) / (1.0f - stretch * (inverse_depth + rest));
}

// --- interpolation -------------------------------------------------------------------------------------------------

__device__ inline int floor_of(float value) { return __float2int_rd(value); }

// A shift's fraction; 0 or 1 where only rounding keeps it from that: a missing pixel beside must not count.
__device__ inline float snapped(float fraction) {
  return fraction < SNAP ? 0.0f : (fraction > 1.0f - SNAP ? 1.0f : fraction);
}

// Variance, px², by which interpolation at fractions (wx, wy) blurs.
__device__ inline float interpolation_variance(float wx, float wy) {
  return 0.5f * (wx * (1.0f - wx) + wy * (1.0f - wy));
}

// The value of a table between an entry and the next one.
__device__ inline float looked_up(const float* table, int entry, float part) {
  return table[entry] + part * (table[entry + 1] - table[entry]);
}

// The pixel left of (above) a position, such that the next one is in the tile, too; and the fraction beyond it.
__device__ inline int corner_of(float position, int side, float& fraction) {
  int at = min(max(static_cast<int>(position + SNAP), 0), side - 2);
  float beyond = position - static_cast<float>(at);
  fraction = beyond >= SNAP ? fminf(beyond, 1.0f - SNAP) : 0.0f;
  return at;
}

// The value at a place between four pixels.
__device__ inline float between_four(float v00, float v10, float v01, float v11, float right, float down) {
  float above = v00 + right * (v10 - v00), below = v01 + right * (v11 - v01);
  return above + down * (below - above);
}

__device__ inline float interpolated(const float* values, int first, int side, float right, float down) {
  const float* at = values + first;
  return between_four(at[0], at[1], at[side], at[side + 1], right, down);
}

// --- blur and noise ------------------------------------------------------------------------------------------------

// Variance, px² per axis, by which lens type `one` is blurrier than `other` at 1/v; negative: it is sharper.
__device__ inline float relative_blur_variance(const Views& views, int pair_of_types, float inverse_depth) {
  return views.blur_intercept[pair_of_types] +
         inverse_depth * (views.blur_slope[pair_of_types] + inverse_depth * views.blur_square[pair_of_types]);
}

// How much noise a pair lacks compared with one that is neither shifted nor blurred, in units of its variance.
__device__ inline float noise_deficit(const NoiseGain& noise, float wx, float wy, float blur) {
  float blurred = 1.0f + fabsf(blur) * (noise.blur[0] + fabsf(blur) * noise.blur[1]);
  float along_x = 1.0f - wx * (1.0f - wx) * noise.between, along_y = 1.0f - wy * (1.0f - wy) * noise.between;
  return 2.0f - (blur < 0.0f ? blurred + along_x * along_y : 1.0f + blurred * along_x * along_y);
}

// A mean absolute difference as if interpolation and blur had left all noise in it.
__device__ inline float noise_corrected(float cost, float deficit, float noise) {
  return sqrtf(fmaxf(cost * cost + deficit * noise, 0.0f));
}

// --- which pixels are compared -------------------------------------------------------------------------------------

// x² + y²; written out, because compilers may leave out the rounding of either square, and whether a pixel right on the
// rim counts would depend on that.
__device__ inline float squared_length(float x, float y) { return fmaf(x, x, y * y); }

// Weight of a comparison of two pixels, given their squared distances (px²) from the centre of their light.
__device__ inline float similarity(float here, float there, float dissimilarity) {
  return fmaxf(1.0f - dissimilarity * fabsf(here - there), 0.0f);
}

// --- the minimum of a cost curve -----------------------------------------------------------------------------------

struct Minimum {
  float place;   // from the middle cost, in units of the costs' spacing; NaN where there is none
  float spread;  // its standard deviation
};

// The minimum between three neighbouring costs; see scalar.py.
__device__ inline Minimum parabola_minimum(float low, float lowest, float high, float bend, float pixels, float floor) {
  float before = low * low, here = lowest * lowest, after = high * high;
  float curvature = before - 2.0f * here + after;
  if (!(low < UNUSABLE && high < UNUSABLE && curvature > 0.0f && bend > 0.0f)) return {nothing(), nothing()};
  float shift = 0.5f * (before - after) / curvature;
  if (fabsf(shift) > 1.0f) return {nothing(), nothing()};
  float noisy = (MEAN_ABSOLUTE * MEAN_ABSOLUTE) * fmaxf(pixels, 1.0f) * bend;
  float spread = SIGMA_FACTOR * sqrtf(lowest / noisy);
  return {shift, sqrtf(spread * spread + floor * floor)};
}

// The minimum of five neighbouring costs.
__device__ inline Minimum five_point_minimum(float before, float left, float lowest, float right, float after,
                                             float pixels, float floor) {
  if (left < lowest && left <= right) {
    Minimum found = parabola_minimum(before, left, lowest, before - 2.0f * left + lowest, pixels, floor);
    return {found.place - 1.0f, found.spread};
  }
  if (right < lowest) {
    Minimum found = parabola_minimum(lowest, right, after, lowest - 2.0f * right + after, pixels, floor);
    return {found.place + 1.0f, found.spread};
  }
  return parabola_minimum(left, lowest, right, 0.25f * (before - 2.0f * lowest + after), pixels, floor);
}
