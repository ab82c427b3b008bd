// A small library for the test of the package: infers the shape of a result under NumPy's rules, with unknown lengths "?".
export class ShapeError extends Error {}

/** The length on an axis where these meet, and whether no run is refused there. */
function inferLength(lengths) {
    const stretching = lengths.filter((length) => length !== 1);
    const numbers = new Set(stretching.filter((length) => length !== "?"));
    if (numbers.size > 1) throw new ShapeError(`lengths ${lengths}`);
    const always = stretching.length < 2 || !stretching.includes("?");
    return { length: [...numbers, ...stretching, 1][0], always };
}

export function inferShape(...shapes) {
    const rank = Math.max(...shapes.map((shape) => shape.length));
    const axes = Array.from({ length: rank }, (_, axis) => inferLength(shapes.map((shape) => shape[axis - rank + shape.length] ?? 1)));
    return { shape: axes.map(({ length }) => length), accepts: axes.every(({ always }) => always) ? "always" : "depends" };
}
