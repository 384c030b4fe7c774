"""`python -m gpu_constructs.on_node` is the `gpu-node` command."""

import sys

from gpu_constructs.on_node.command import main

sys.exit(main())
