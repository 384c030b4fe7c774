"""What a node does before it is ready: steps, as data, from its configuration and what it found out about itself.

Each module has one subject and returns the steps of it; `plan` puts them in order.
"""

from gpu_constructs.on_node.boot.plan import plan

__all__ = ["plan"]
