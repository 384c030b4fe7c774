"""How nodes are connected: interfaces, security group, placement group, VPC and subnets."""
