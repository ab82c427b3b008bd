"""PyTensor, which kept Theano's static broadcasting. The flag True is a static length of 1; False is an unknown length."""
import os

os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")

import protocol  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from static_flags import StaticFlags  # noqa: E402

protocol.serve(StaticFlags(pytensor, pytensor.tensor, Mode, lambda flag: 1 if flag else None, infers=True))
