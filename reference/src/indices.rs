//! The indices of a shape in row-major order: the last axis varies fastest.

use broadcheck_spec::Shape;

/// Every index of a shape, once. A scalar has one, the empty index; a shape with a length of 0 has none.
pub(crate) struct Indices<'a> {
    shape: &'a Shape,
    next: Option<Vec<usize>>,
}

impl<'a> Indices<'a> {
    pub(crate) fn new(shape: &'a Shape) -> Self {
        let next = if shape.contains(&0) { None } else { Some(vec![0; shape.rank()]) };
        Indices { shape, next }
    }
}

impl Iterator for Indices<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for axis in (0..following.len()).rev() {
            following[axis] += 1;
            if following[axis] < self.shape[axis] {
                self.next = Some(following);
                break;
            }
            following[axis] = 0;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(shape: impl Into<Shape>) -> Vec<Vec<usize>> {
        Indices::new(&shape.into()).collect()
    }

    #[test]
    fn the_last_axis_varies_fastest() {
        assert_eq!(indices([2, 3]), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn a_scalar_has_one_index_and_an_empty_shape_none() {
        assert_eq!(indices([]), [Vec::<usize>::new()]);
        assert!(indices([3, 0]).is_empty());
        assert!(indices([0, usize::MAX]).is_empty());
    }
}
