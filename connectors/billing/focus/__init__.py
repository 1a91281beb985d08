"""What it takes to read a FOCUS file: its layout, its text, its providers' habits."""
