"""`python -m vlk2`."""

from vlk2.cli import main

if __name__ == "__main__":
    main()
