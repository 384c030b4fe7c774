"""What the local AWS adds to moto, one module a service: its CloudFormation types, its API operations, `install()`."""
