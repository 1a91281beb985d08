"""`python -m optimizer` is `earnkeep`."""

from optimizer.cli import main

if __name__ == "__main__":
    main()
