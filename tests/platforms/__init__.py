"""Several platforms at once, each the real one, or the one that stands in for it elsewhere."""
