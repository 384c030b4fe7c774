"""What is measured, and under which names and dimensions it is published."""
