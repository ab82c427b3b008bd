"""Aesara. The flag True is a static length of 1; False is an unknown length, which Aesara stretches at run time if it is 1."""
import os

os.environ.setdefault("AESARA_FLAGS", "cxx=")

import protocol  # noqa: E402
import aesara  # noqa: E402
import aesara.tensor  # noqa: E402
from aesara.compile.mode import Mode  # noqa: E402
from static_flags import StaticFlags  # noqa: E402

protocol.serve(StaticFlags(aesara, aesara.tensor, Mode, lambda flag: 1 if flag else None, infers=True))
