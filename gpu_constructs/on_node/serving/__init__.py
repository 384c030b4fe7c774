"""What makes a node a model server: its image and its model, the container, and proof that it answers.

Each module has one subject; `plan` puts their steps in order. Nothing here knows the rest of the boot but by the names
of its steps, which `plan` is told.
"""

from gpu_constructs.on_node.serving.plan import plan

__all__ = ["plan"]
