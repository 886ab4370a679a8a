"""How lenses, objects and lamps lie in arrays."""

from __future__ import annotations

import numpy as np

f4 = np.float32
u4 = np.uint32

RECTANGLE, CHECKERBOARD, SPHERE, BOX, MESH = range(5)
PLAIN, IMAGE, SOLID = range(3)

# Columns of the numbers of an object; the first 12 are the rows of local_from_cam (3 × 4)
SIZE = 12  # 4: half sizes, or square, margin, columns, rows of a board
COLOR = 16  # 3
DARK, LIGHT = 19, 22  # 3 each: the two colours of a solid texture, or of a board
SCALE = 25  # cells per mm of a solid texture
# Columns of the integers of an object
SHAPE, TEXTURE, FIRST, TEXTURE_WIDTH, TEXTURE_HEIGHT, EMITS = range(6)

# Columns of a lamp
LAMP_NEAR, LAMP_INTENSITY, LAMP_X, LAMP_Y, LAMP_Z = range(5)

# Columns of a lens (`RaySetup.lens`)
OFFSET_X, OFFSET_Y, INVERSE_D, INVERSE_F, NEAR_STEP, FAR_STEP, D, SLOPE_X, SLOPE_Y, CENTER_X, CENTER_Y = range(11)
