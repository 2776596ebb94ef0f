"""`python -m agent …`: the command line."""

import sys

from agent.cli.main import main

sys.exit(main(sys.argv[1:]))
