"""``python -m discriminant.cli``: the command where its script is not on the path."""

import sys

from discriminant.cli import main

sys.exit(main())
