// A small array library for the test of the package: f64, dense, in row-major order.
export class ShapeError extends Error {}

/** The shape to which these shapes are broadcast. */
export function broadcastShapes(...shapes) {
    const rank = Math.max(...shapes.map((shape) => shape.length));
    return Array.from({ length: rank }, (_, axis) => {
        const lengths = shapes.map((shape) => shape[axis - rank + shape.length] ?? 1).filter((length) => length !== 1);
        if (new Set(lengths).size > 1) throw new ShapeError(`lengths ${lengths} on axis ${axis}`);
        return lengths[0] ?? 1;
    });
}

/** Applies a function to the elements of arrays that are broadcast. */
function elementwise(f, ...arrays) {
    const shape = broadcastShapes(...arrays.map((array) => array.shape));
    const size = shape.reduce((all, length) => all * length, 1);
    const data = Array.from({ length: size }, (_, place) => f(...arrays.map((array) => array.data[position(place, shape, array.shape)])));
    return { shape, data };
}

/** The place of an operand's element that belongs to a place of the result. */
function position(place, shape, own) {
    let position = 0, stride = 1;
    for (let axis = shape.length - 1, o = own.length - 1; o >= 0; axis--, o--) {
        if (own[o] !== 1) position += (place % shape[axis]) * stride;
        place = Math.floor(place / shape[axis]);
        stride *= own[o];
    }
    return position;
}

export function broadcastTo(array, shape) {
    const common = broadcastShapes(array.shape, shape);
    if (String(common) !== String(shape)) throw new ShapeError(`(${array.shape}) does not broadcast to (${shape})`);
    return elementwise((x) => x, array, { shape, data: [] });
}

export const add = (a, b) => elementwise((x, y) => x + y, a, b);
export const subtract = (a, b) => elementwise((x, y) => x - y, a, b);
export const multiply = (a, b) => elementwise((x, y) => x * y, a, b);
export const divide = (a, b) => elementwise((x, y) => x / y, a, b);
export const maximum = (a, b) => elementwise(Math.max, a, b);
export const minimum = (a, b) => elementwise(Math.min, a, b);
export const negate = (a) => elementwise((x) => -x, a);
export const abs = (a) => elementwise(Math.abs, a);
export const sqrt = (a) => elementwise(Math.sqrt, a);
export const exp = (a) => elementwise(Math.exp, a);
export const log = (a) => elementwise(Math.log, a);
export const tanh = (a) => elementwise(Math.tanh, a);
