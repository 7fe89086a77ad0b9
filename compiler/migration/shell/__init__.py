"""A script's body as bash understands it: commands in their contexts, words, variables."""
