"""What is asked: where scenarios lie, how they are read, what they can say."""
