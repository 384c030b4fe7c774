"""An inference tier on spot, with a base on demand."""
