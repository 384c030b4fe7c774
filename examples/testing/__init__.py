"""Tests of a stack of your own; the snippets of docs/testing.md."""
