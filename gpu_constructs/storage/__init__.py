"""Where training data and checkpoints live: a Lustre file system and a bucket."""
