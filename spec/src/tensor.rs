//! Values in memory: a flat buffer of one dtype, and a dense row-major tensor over it.

use crate::{DType, Scalar, Shape};
use half::{bf16, f16};

/// A Rust type that holds the elements of one dtype.
pub trait Element: Copy + Send + Sync + 'static {
    /// The dtype that this type holds.
    const DTYPE: DType;
    /// The elements of a buffer of this dtype; `None` for any other buffer.
    fn slice(data: &Data) -> Option<&[Self]>;
    /// The elements of a buffer of this dtype, mutable; `None` for any other buffer.
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]>;
    /// A buffer of these elements.
    fn into_data(values: Vec<Self>) -> Data;
    /// One value with its dtype.
    fn scalar(self) -> Scalar;
    /// The value of a scalar of this dtype; `None` for any other scalar.
    fn from_scalar(scalar: Scalar) -> Option<Self>;
}

macro_rules! elements {
    ($($variant:ident $type:ty;)*) => {
        /// A flat buffer of values of one dtype. Equality is that of [`Scalar`] (clause V-1).
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each variant holds values of the dtype of that name")]
        pub enum Data { $($variant(Vec<$type>),)* }

        impl Data {
            /// The dtype of the values.
            pub fn dtype(&self) -> DType {
                match self { $(Data::$variant(_) => DType::$variant,)* }
            }

            /// The number of values in the buffer.
            pub fn len(&self) -> usize {
                match self { $(Data::$variant(values) => values.len(),)* }
            }

            /// The value at `position`, or `None` if it is out of range.
            pub fn get(&self, position: usize) -> Option<Scalar> {
                match self { $(Data::$variant(values) => values.get(position).map(|&v| Scalar::$variant(v)),)* }
            }

            /// Equality by elements, one loop for each dtype.
            fn equals(&self, other: &Data) -> bool {
                match (self, other) {
                    $((Data::$variant(values), Data::$variant(others)) => {
                        let mut pairs = values.iter().zip(others);
                        values.len() == others.len()
                            && pairs.all(|(&one, &other)| Scalar::$variant(one) == Scalar::$variant(other))
                    })*
                    _ => false,
                }
            }

            /// An empty buffer of a dtype.
            pub fn empty(dtype: DType) -> Data {
                match dtype { $(DType::$variant => Data::$variant(Vec::new()),)* }
            }

            /// Appends a value.
            ///
            /// # Errors
            /// The scalar itself, if its dtype is not the buffer's.
            pub fn push(&mut self, scalar: Scalar) -> Result<(), Scalar> {
                match (self, scalar) {
                    $((Data::$variant(values), Scalar::$variant(value)) => values.push(value),)*
                    (_, other) => return Err(other),
                }
                Ok(())
            }
        }

        $(impl Element for $type {
            const DTYPE: DType = DType::$variant;
            fn slice(data: &Data) -> Option<&[Self]> {
                match data { Data::$variant(values) => Some(values), _ => None }
            }
            fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
                match data { Data::$variant(values) => Some(values), _ => None }
            }
            fn into_data(values: Vec<Self>) -> Data {
                Data::$variant(values)
            }
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            fn from_scalar(scalar: Scalar) -> Option<Self> {
                match scalar { Scalar::$variant(value) => Some(value), _ => None }
            }
        }

        impl From<Vec<$type>> for Data {
            fn from(values: Vec<$type>) -> Data {
                Data::$variant(values)
            }
        })*
    };
}

elements! {
    F64 f64; F32 f32; F16 f16; Bf16 bf16;
    I64 i64; I32 i32; I16 i16; I8 i8;
    U64 u64; U32 u32; U16 u16; U8 u8;
    Bool bool;
}

impl Data {
    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Scalar> + '_ {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// A buffer of these values.
    ///
    /// # Errors
    /// The first scalar whose dtype is not `dtype`.
    pub fn from_scalars(dtype: DType, scalars: impl IntoIterator<Item = Scalar>) -> Result<Data, Scalar> {
        let mut data = Data::empty(dtype);
        for scalar in scalars {
            data.push(scalar)?;
        }
        Ok(data)
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        self.equals(other)
    }
}

impl Eq for Data {}

/// A dense tensor: `values` are row-major, one per element of `shape`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    shape: Shape,
    values: Data,
}

impl Tensor {
    /// A tensor of this shape over these values, row-major.
    ///
    /// # Errors
    /// A message with both counts, if there is not one value per element.
    pub fn new(shape: impl Into<Shape>, values: impl Into<Data>) -> Result<Tensor, String> {
        let (shape, values) = (shape.into(), values.into());
        match shape.count() {
            Some(count) if count == values.len() => Ok(Tensor { shape, values }),
            Some(count) => {
                Err(format!("{} values for shape {shape}: expected {count}, one per element", values.len()))
            }
            None => {
                Err(format!("shape {shape}: its lengths other than 0 multiply to more than 2^63-1 elements"))
            }
        }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The values, row-major.
    pub fn values(&self) -> &Data {
        &self.values
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// Splits the tensor into its shape and values.
    pub fn into_parts(self) -> (Shape, Data) {
        (self.shape, self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_per_element() {
        assert!(Tensor::new([2, 3], vec![1i32; 6]).is_ok());
        assert!(Tensor::new(Shape::scalar(), vec![1i32]).is_ok());
        assert!(Tensor::new([0, 3], Vec::<i32>::new()).is_ok());
        let error = Tensor::new([2, 3], vec![1i32; 5]).unwrap_err();
        assert_eq!(error, "5 values for shape (2,3): expected 6, one per element");
    }

    #[test]
    fn a_buffer_takes_values_of_its_dtype_only() {
        let mut data = Data::empty(DType::F32);
        assert!(data.push(Scalar::F32(1.0)).is_ok());
        assert_eq!(data.push(Scalar::F64(1.0)), Err(Scalar::F64(1.0)));
        assert_eq!(data.get(0), Some(Scalar::F32(1.0)));
        assert_eq!(data.get(1), None);
    }

    #[test]
    fn nan_equals_nan_and_the_zeros_differ() {
        assert_eq!(Data::from(vec![f32::NAN]), Data::from(vec![-f32::NAN]));
        assert_ne!(Data::from(vec![0.0f32]), Data::from(vec![-0.0f32]));
    }
}
