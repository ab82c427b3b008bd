"""Checks, while the adapter for Octave is set up, that there is an Octave: it is no package of Python."""
import shutil
import sys

if not shutil.which("octave-cli"):
    sys.exit("found no octave-cli on the PATH, expected GNU Octave: install it, on Debian with `apt-get install octave`")
