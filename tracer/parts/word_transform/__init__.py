"""What lies between the last layer and the logits of BERT: W_M, an activation and a norm."""
