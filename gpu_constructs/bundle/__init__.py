"""What a node fetches when it starts, and the user data that fetches it. Imports no aws_cdk."""
