"""Files as a whole: read within bounds, written all together or not at all."""
