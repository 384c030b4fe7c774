"""What AWS sells: the GPU instance types and their facts. Imports no aws_cdk."""
