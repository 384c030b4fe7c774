"""gRPC beside REST."""
