"""Uses of the local AWS; the snippets of docs/local_aws.md."""
