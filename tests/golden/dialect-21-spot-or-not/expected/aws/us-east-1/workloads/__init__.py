"""One module a run."""
