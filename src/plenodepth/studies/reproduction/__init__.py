"""The experiments of the paper, done again on simulated twins of its datasets or on photographed data.

`reproduce` runs them; `Study` says with what. The order of reading: `plan` (the experiments), `datasets` (images and
calibration), `experiments/` (jobs and their results), `tables/` (ours beside the paper's), `run` (all of it).
"""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.studies.reproduction.guard import Expectations as Expectations
    from plenodepth.studies.reproduction.guard import check_expectations as check_expectations
    from plenodepth.studies.reproduction.guard import expectations_of as expectations_of
    from plenodepth.studies.reproduction.guard import load_expectations as load_expectations
    from plenodepth.studies.reproduction.guard import save_expectations as save_expectations
    from plenodepth.studies.reproduction.plan import EXPERIMENTS as EXPERIMENTS
    from plenodepth.studies.reproduction.plan import chosen_experiments as chosen_experiments
    from plenodepth.studies.reproduction.plan import plan_stages as plan_stages
    from plenodepth.studies.reproduction.results import ReproductionResult as ReproductionResult
    from plenodepth.studies.reproduction.results import Stage as Stage
    from plenodepth.studies.reproduction.results import load_results as load_results
    from plenodepth.studies.reproduction.results import save_results as save_results
    from plenodepth.studies.reproduction.run import check_inputs as check_inputs
    from plenodepth.studies.reproduction.run import reproduce as reproduce
    from plenodepth.studies.reproduction.study import Study as Study

__getattr__, __dir__, __all__ = lazy_exports(__name__)
