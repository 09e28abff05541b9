"""Names for the arrays that everything passes around."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Labels = NDArray[np.int32]
