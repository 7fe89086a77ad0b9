"""Reading a script's directives exactly as sbatch reads them; what it would ignore or refuse."""
