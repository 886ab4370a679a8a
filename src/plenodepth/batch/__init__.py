"""Many frames: on this machine or on a cluster, each made once, none lost."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.batch.engines.clients import Existing as Existing
    from plenodepth.batch.engines.clients import Slurm as Slurm
    from plenodepth.batch.engines.cluster import Cluster as Cluster
    from plenodepth.batch.engines.in_process import InProcess as InProcess
    from plenodepth.batch.engines.local import Local as Local
    from plenodepth.batch.frames import BatchFrame as BatchFrame
    from plenodepth.batch.frames import planned_frames as planned_frames
    from plenodepth.batch.manifest import Entry as Entry
    from plenodepth.batch.manifest import read_manifest as read_manifest
    from plenodepth.batch.recipe import Recipe as Recipe
    from plenodepth.batch.run import BatchSummary as BatchSummary
    from plenodepth.batch.run import run_batch as run_batch

__getattr__, __dir__, __all__ = lazy_exports(__name__)
