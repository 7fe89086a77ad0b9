"""A stand-in for pulumi-aws under the real Pulumi engine: refuses what the provider refuses."""
