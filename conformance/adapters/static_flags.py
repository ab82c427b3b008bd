"""Shared by the adapters of Theano and its descendants: a graph over variables whose axes have flags. The package's Python
linker runs it, so that nothing is compiled as C: without rewrites, so that its Elemwise makes the check at run time, or with the optimiser
on after the rewrites of `fast_run`.

This module imports none of those packages. An adapter passes the package, its tensor module and its Mode, and how the package
writes an axis's flag. A gradient with a cotangent is the package's `Lop`. For `declared`: a function whose inputs have the declared
lengths as static shapes.
"""
import protocol
from programs import ARRAYS_OF_NUMPY, Writer, dtypes, shape_text

# Functions that are kept: all ways to declare one request, and more.
KEPT = 100
# An assertion that fails refuses a request only if it says so: the optimiser adds such assertions to a graph.
OTHER_ASSERTION = "^AssertionError(?!: Could not broadcast dimensions)"


def functions(tensor):
    """The package's functions. Its logical functions are bitwise, which is the same for bool."""
    return {
        "add": tensor.add, "subtract": tensor.sub, "multiply": tensor.mul, "divide": tensor.true_div, "power": tensor.pow,
        "maximum": tensor.maximum, "minimum": tensor.minimum, "negate": tensor.neg, "abs": abs, "sqrt": tensor.sqrt,
        "exp": tensor.exp, "log": tensor.log, "tanh": tensor.tanh, "select": tensor.switch, "equal": tensor.eq,
        "not_equal": tensor.neq, "less": tensor.lt, "less_equal": tensor.le, "greater": tensor.gt, "greater_equal": tensor.ge,
        "logical_and": tensor.and_, "logical_or": tensor.or_, "logical_not": tensor.invert,
    }


# How the functions are written. The last three are those of `functions` above.
NAMES = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "true_div", "power": "pow", "maximum": "maximum", "minimum": "minimum",
    "negate": "neg", "sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh", "select": "switch", "equal": "eq", "not_equal": "neq",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "logical_and": "and_", "logical_or": "or_",
    "logical_not": "invert",
}


class StaticFlagsWriter(Writer):
    """`module` is the name of the package and `tensor` what its tensor module is called in a program."""

    def __init__(self, module, tensor, mode, flag):
        self.module, self.tensor, self.flag = module, tensor, flag
        super().__init__(
            [f"import numpy as np, {module}, {module}.tensor as {tensor}", f"from {mode} import Mode"],
            {**{function: f"{tensor}.{name}" for function, name in NAMES.items()}, "abs": "abs"}, dtypes("np"), **ARRAYS_OF_NUMPY,
        )

    def computed(self, request, names):
        """The lines that make a variable for each operand, and a function of them."""
        variables = {name: f"v_{text}" for name, text in names.items()}
        lines = [f"{variables[o.name]} = {self.variable(o, names[o.name])}" for o in request.operands]
        before, root = self.value(request, variables)
        lines += before
        options = ""
        if request.operation == "gradient":
            options = ', on_unused_input="ignore"'
            wrt, cotangent = variables[request.wrt], variables.get(request.cotangent)
            root = f"{self.module}.gradient.grad(({root}).sum(), {wrt})" if cotangent is None else \
                f"{self.module}.gradient.Lop({root}, {wrt}, {cotangent})"
        parameters = [operand.name for operand in request.operands if not operand.constant]
        inputs = ", ".join(variables[name] for name in parameters)
        lines.append(f'function = {self.module}.function([{inputs}], {root}, mode=Mode(linker="py", optimizer=None){options})')
        return [*lines, f"result = function({', '.join(names[name] for name in parameters)})"]

    def variable(self, operand, name):
        flags = shape_text([self.flag(flag) for flag in operand.broadcastable or [False] * len(operand.shape)])
        kind = f'{self.tensor}.TensorType("{protocol.dtype(operand.dtype).name}", {flags})'
        return f"{kind}.make_constant({name})" if operand.constant else f'{kind}("{operand.name}")'


class StaticFlags:
    """Theano, Aesara or PyTensor. Theano infers no lengths: its types have flags alone."""

    optimiser = "off"
    rules = ["theano"]
    operations = ["elementwise", "gradient", "cotangent", "strided", "constants", "same"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    unused_operands = False  # a graph contains none
    static_flags = True  # the flag True and a static length of 1 are one thing
    # Operands and results are NumPy arrays, which are limited in bytes even if they are empty.
    large_sizes = False

    def __init__(self, package, tensor, mode, flag, infers=False):
        """`flag` turns an axis's flag into what the package uses: Theano uses the flag itself, the others a length. `infers`
        says whether its types have lengths."""
        self.name, self.version = package.__name__, package.__version__
        self.package, self.tensor, self.flag = package, tensor, flag
        self.mode_module = mode.__module__
        self.modes = {"off": mode(linker="py", optimizer=None), "on": mode(linker="py", optimizer="fast_run")}
        self.calls = functions(tensor)
        self.kept = protocol.Kept(KEPT, self.built)
        # Aesara before 2.4 had Theano's flags.
        if infers and hasattr(tensor.TensorType("float64", ()), "shape"):
            self.operations = [*self.operations, "infer", "declared"]

    def run(self, request):
        made = request.arrays(protocol.Operand.array)
        arrays = [made[operand.name] for operand in request.operands if not operand.constant]
        if request.signature is not None:
            with self.refusals():
                function, flags = self.kept.get(request.signature.key(), request.signature)
                return protocol.Result(function(*arrays), broadcastable=flags)
        with self.refusals():
            shapes = [map(self.flag, o.broadcastable or [False] * len(o.shape)) for o in request.operands]
            function, flags = self.function(request, shapes)
            return protocol.Result(function(*arrays), broadcastable=flags)

    def refusals(self):
        refusals = (ValueError, TypeError, NotImplementedError, AssertionError, self.package.gradient.DisconnectedInputError)
        return protocol.refusals(*refusals, unless=OTHER_ASSERTION)

    def variables(self, request, shapes):
        """A variable or a constant for each operand, of these static shapes."""
        kinds = [self.tensor.TensorType(protocol.dtype(o.dtype).name, tuple(s)) for o, s in zip(request.operands, shapes)]
        given = zip(request.operands, kinds)
        return {o.name: kind.make_constant(o.array()) if o.constant else kind(o.name) for o, kind in given}

    def function(self, request, shapes):
        """The function of a request or a signature, and the flags of its result; a gradient reports none."""
        variables = self.variables(request, shapes)
        root = protocol.evaluate(request.expression, variables, self.calls)
        if request.operation == "gradient":
            # A derivative need not depend on every operand.
            wrt = variables[request.wrt]
            if request.cotangent is None:
                gradient = self.package.gradient.grad(root.sum(), wrt)
            else:
                gradient = self.package.gradient.Lop(root, wrt, variables[request.cotangent])
            return self.compiled(variables, gradient, on_unused_input="ignore"), None
        return self.compiled(variables, root), root.type.broadcastable

    def built(self, signature):
        # A length of 1 is the flag True.
        return self.function(signature, [protocol.numbers(operand.shape) for operand in signature.operands])

    def program(self, request):
        tensor = {"pytensor": "pt", "aesara": "at", "theano": "tt"}[self.name]
        return StaticFlagsWriter(self.name, tensor, self.mode_module, self.flag).write(request)

    def infer(self, signature):
        with protocol.refusals(ValueError, TypeError, NotImplementedError, AssertionError):
            # A length of 1 is the flag True.
            variables = self.variables(signature, [protocol.numbers(operand.shape) for operand in signature.operands])
            kind = protocol.evaluate(signature.expression, variables, self.calls).type
        return protocol.Inferred(kind.dtype, kind.shape, kind.broadcastable)

    def compiled(self, variables, root, **options):
        # A constant is not among the inputs; every other variable has no value yet.
        inputs = [variable for variable in variables.values() if not hasattr(variable, "data")]
        return self.package.function(inputs, root, mode=self.modes[self.optimiser], **options)
