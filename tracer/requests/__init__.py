"""What a command asks for → its trace → the answer → text and files."""
