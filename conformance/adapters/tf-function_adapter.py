"""TensorFlow's graphs on the CPU: one `tf.function` that has the results of a batch of requests as its outputs. Its functions, dtypes and
gradients are those of the adapter of TensorFlow, which asks TensorFlow eagerly. TensorFlow refuses some requests while it traces them, and
others when the graph runs.

With the optimiser on, Grappler rewrites the graph, as it does by default; with it off, it does not (`disable_meta_optimizer`).
"""
import contextlib

import protocol
import tensorflow_adapter as eager
import tensorflow as tf


class TfFunctionWriter(eager.TensorFlowWriter):
    """Every program is a traced function, also one without constants."""

    def is_traced(self, request):
        return True


class TfFunction(protocol.Batched, eager.TensorFlow):
    name = "tf-function"
    operations = [operation for operation in eager.TensorFlow.operations if operation not in ("infer", "declared")]
    batch = 40
    optimiser = "on"

    def __init__(self):
        self.optimiser = type(self).optimiser

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "optimiser":
            tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": value == "off"})

    def run_many(self, requests):
        answers = [None] * len(requests)
        # What fails when the graph runs is a refusal if the request is alone, and breaks the batch otherwise.
        with refusals() if len(requests) == 1 else contextlib.nullcontext():
            for place, result in self.results(requests, answers).items():
                answers[place] = result.numpy()
        return answers

    def results(self, requests, answers):
        """The results of what is not refused while it is traced. What is gets its answer here."""
        tensors = [list(request.arrays(lambda operand: tf.constant(operand.dense()), apart=tf.identity).values()) for request in requests]
        constants = [[operand.dense() if operand.constant else None for operand in request.operands] for request in requests]

        def together(parameters):
            results = {}
            for place, request in enumerate(requests):
                try:
                    with refusals():
                        given = [tensor if array is None else tf.constant(array)
                                 for tensor, array in zip(parameters[place], constants[place])]
                        target = None if request.target_shape is None else tf.constant(request.target_shape, dtype=tf.int64)
                        results[place] = eager.computed(request, given, target)
                except (protocol.Refused, protocol.Skipped) as error:
                    answers[place] = error
            return results

        return tf.function(together, autograph=False)(tensors)

    def program(self, request):
        return TfFunctionWriter().write(request)


def refusals():
    return protocol.refusals(*eager.ERRORS, kinds=eager.KINDS, lacks=eager.LACKS)


if __name__ == "__main__":
    protocol.serve(TfFunction())
