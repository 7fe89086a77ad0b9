"""One module a volume."""
