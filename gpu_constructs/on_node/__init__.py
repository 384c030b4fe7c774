"""What runs on the instance, and what a training script imports there: the Checkpointer.

Shipped alone: it imports nothing else of gpu_constructs, and beyond the standard library only boto3; what is below
`checkpoint` imports PyTorch instead.
"""
