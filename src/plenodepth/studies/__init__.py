"""Experiments made of all rooms: `reproduction`, the paper's experiments done again; `optics`, real lenses."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.studies.optics.run import study_optics as study_optics
    from plenodepth.studies.reproduction.guard import check_expectations as check_expectations
    from plenodepth.studies.reproduction.results import ReproductionResult as ReproductionResult
    from plenodepth.studies.reproduction.run import reproduce as reproduce
    from plenodepth.studies.reproduction.study import Study as Study

__getattr__, __dir__, __all__ = lazy_exports(__name__)
