"""`python -m agent`: the command line, which the script `touchstone` runs."""

import sys

from agent.cli.main import main

sys.exit(main(sys.argv[1:]))
