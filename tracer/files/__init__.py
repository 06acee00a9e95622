"""Read files within limits; write several files together or not at all."""
