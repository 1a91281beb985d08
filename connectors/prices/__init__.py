"""What GPUs would cost: price lists."""
