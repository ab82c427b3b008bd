// A small library for the test of the package: views {shape, strides, offset, data} of f64, and functions that write into one.
import { ShapeError } from "./small.mjs";
export { ShapeError, broadcastShapes } from "./small.mjs";

/** A new dense array. */
export function zeros(shape) {
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((all, length) => all * length, 1));
    return { shape, strides, offset: 0, data: new Float64Array(shape.reduce((all, length) => all * length, 1)) };
}

/** The indices of a shape, in row-major order. */
function indicesOf(shape) {
    return shape.reduce((all, length) => all.flatMap((index) => Array.from({ length }, (_, last) => [...index, last])), [[]]);
}

/** The place of the element at an index of a shape to which a view is broadcast. */
function placeOf({ shape, strides, offset }, index) {
    const own = index.slice(index.length - shape.length);
    return shape.reduce((place, length, axis) => place + (length === 1 ? 0 : own[axis] * strides[axis]), offset);
}

/** The elements of a view, in row-major order. */
export const elements = (view) => indicesOf(view.shape).map((index) => view.data[placeOf(view, index)]);

function checkFits({ shape }, destination) {
    const own = destination.slice(destination.length - shape.length);
    if (shape.length > destination.length || shape.some((length, axis) => length !== 1 && length !== own[axis])) {
        throw new ShapeError(`(${shape}) does not fit into (${destination})`);
    }
}

/** Writes f of the operands into the destination, as if every operand had been read before. */
export function assign(destination, f, ...operands) {
    for (const operand of operands) checkFits(operand, destination.shape);
    const indices = indicesOf(destination.shape);
    const valueAt = (index) => f(...operands.map((operand) => operand.data[placeOf(operand, index)]));
    const values = indices.map(valueAt);
    indices.forEach((index, element) => (destination.data[placeOf(destination, index)] = values[element]));
}

export const copy = (x) => x;
export const add = (x, y) => x + y;
export const subtract = (x, y) => x - y;
export const multiply = (x, y) => x * y;
export const negate = (x) => -x;
