"""The command line: parses and prints, and calls compiler.workflow for everything else."""
