"""Codes of scripts that are kept as they are (`config.triplane.native_script`)."""

from compiler.diagnostics.code import Code, Severity

NATIVE_ALONE = Code(
    "native-alone",
    Severity.ERROR,
    "A field has no place beside `config.triplane.native_script`.",
    "The script is run as it is, once and by its own interpreter; nothing else is.",
    "Remove the field, or put the script's text into `run` and drop `native_script`.",
    example="run: echo\nconfig: {triplane: {native_script: job.sh}}",
)
NATIVE_UNFIT = Code(
    "native-unfit",
    Severity.ERROR,
    "A script that should be kept as it is cannot be submitted.",
    "sbatch refuses a script without `#!`, with a NUL byte, or beyond the size limit.",
    "Mend the script.",
    example="config: {triplane: {native_script: notes.txt}}",
)
NATIVE_DIFFERS = Code(
    "native-differs",
    Severity.WARNING,
    "A #SBATCH line of a kept script says something that the task does not.",
    "The script is started by another one, whose directives come from the task; its own "
    "#SBATCH lines are comments there.",
    "Say it in the task (a field, or `config.slurm.sbatch_options`), or correct the line.",
    example="config: {triplane: {native_script: job.sh}}  # with --ntasks=4 in job.sh",
)
