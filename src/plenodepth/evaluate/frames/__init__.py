"""Sequences of frames: relative depth error of a moving target, scale error of boards."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.evaluate.frames.comparison import RelativeComparison as RelativeComparison
    from plenodepth.evaluate.frames.comparison import compare_frame_depths as compare_frame_depths
    from plenodepth.evaluate.frames.depths import FrameDepth as FrameDepth
    from plenodepth.evaluate.frames.depths import FrameMatch as FrameMatch
    from plenodepth.evaluate.frames.depths import frame_depths as frame_depths
    from plenodepth.evaluate.frames.depths import match_frames as match_frames
    from plenodepth.evaluate.frames.relative import DisplacementError as DisplacementError
    from plenodepth.evaluate.frames.relative import RelativeDepthError as RelativeDepthError
    from plenodepth.evaluate.frames.relative import by_displacement as by_displacement
    from plenodepth.evaluate.frames.relative import median_depth as median_depth
    from plenodepth.evaluate.frames.relative import relative_depth_error as relative_depth_error
    from plenodepth.evaluate.frames.scale_error import FrameScaleError as FrameScaleError
    from plenodepth.evaluate.frames.scale_error import ScaleErrorSummary as ScaleErrorSummary
    from plenodepth.evaluate.frames.scale_error import reconstructed_corners as reconstructed_corners
    from plenodepth.evaluate.frames.scale_error import scale_error_summary as scale_error_summary


__getattr__, __dir__, __all__ = lazy_exports(__name__)
