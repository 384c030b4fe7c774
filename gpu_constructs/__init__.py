"""AWS CDK constructs for GPU training clusters and inference tiers on EC2."""
