"""Methods x data sets x parameters x seeds, as one tidy table; and the papers' tables and figures made from such."""

from jointclust_papers.experiments.experiment import Experiment
from jointclust_papers.experiments.journal import Journal
from jointclust_papers.experiments.selection import scores, summary

__all__ = ["Experiment", "Journal", "scores", "summary"]
