"""Theano itself, with its `broadcastable` flags."""
import os

os.environ.setdefault("THEANO_FLAGS", "cxx=")

import protocol  # noqa: E402
import theano  # noqa: E402
import theano.tensor  # noqa: E402
from static_flags import StaticFlags  # noqa: E402
from theano.compile.mode import Mode  # noqa: E402

protocol.serve(StaticFlags(theano, theano.tensor, Mode, bool))
