"""triplane: compiles SkyPilot-dialect task YAML to Kubernetes, Slurm and Pulumi artifacts."""

__version__ = "0.1.0"
