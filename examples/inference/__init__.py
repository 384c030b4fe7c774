"""An inference tier."""
