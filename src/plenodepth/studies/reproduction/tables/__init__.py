"""Tables and checks of each experiment: ours, the paper's, the difference."""

from plenodepth.studies.reproduction.tables.absolute import absolute_tables
from plenodepth.studies.reproduction.tables.confidence import confidence_tables
from plenodepth.studies.reproduction.tables.distortion import distortion_tables
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks
from plenodepth.studies.reproduction.tables.relative import disparity_tables, relative_tables
from plenodepth.studies.reproduction.tables.scale import scale_tables
from plenodepth.studies.reproduction.tables.views import views_tables

__all__ = [
    "TablesAndChecks",
    "absolute_tables",
    "confidence_tables",
    "disparity_tables",
    "distortion_tables",
    "relative_tables",
    "scale_tables",
    "views_tables",
]
