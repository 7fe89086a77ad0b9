"""What all workloads of the stack use."""
