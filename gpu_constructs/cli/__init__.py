"""The `gpu-constructs` command."""
