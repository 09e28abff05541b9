"""Methods x data sets x parameters x seeds, as one tidy table; and the papers' tables and figures made from such."""

from jointclust.experiments.experiment import Experiment
from jointclust.experiments.journal import Journal
from jointclust.experiments.selection import scores, summary

__all__ = ["Experiment", "Journal", "scores", "summary"]
