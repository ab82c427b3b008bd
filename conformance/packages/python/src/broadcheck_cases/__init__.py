"""Test cases for array broadcasting as NumPy, OpenVINO, Paddle, XLA and Theano specify it.

    from broadcheck_cases import cases, judge

    for case in cases(rules="numpy", dtypes=["f64", "bool"], conventions=()):
        verdict = judge(case, my_library(case))   # an array, a Result or a Refusal
        assert verdict, f"{case.id}: {verdict.reason}"

With pytest, `pytest --broadcheck my_module:adapter` runs one test per case.
"""
from ._adapters import Adapter, AdapterError, Refused, Skipped
from ._cases import (
    CONVENTIONS, FUNCTIONS, OPERATIONS, RULES, Admitted, Between, Case, Exactly, Intermediate, Kit, Operand, Refusal,
    Result, cases, evaluate, numpy_dtype,
)
from ._infer import UNKNOWN, Inference, InferenceCase, Length, OperandType, inference_cases
from ._judge import Verdict, judge, result_of
from ._numbers import DTYPES

__all__ = [
    "CONVENTIONS", "DTYPES", "FUNCTIONS", "OPERATIONS", "RULES", "UNKNOWN", "Adapter", "AdapterError", "Admitted",
    "Between", "Case", "Exactly", "Inference", "InferenceCase", "Intermediate", "Kit", "Length", "Operand",
    "OperandType", "Refusal", "Refused", "Result", "Skipped", "Verdict", "cases", "evaluate", "inference_cases", "judge",
    "numpy_dtype", "result_of",
]
