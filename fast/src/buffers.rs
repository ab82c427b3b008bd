//! What a plan reads and writes: borrowed slices of any dtype.

use crate::arch::Ahead;
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data, Element};

/// An element type in memory.
pub(crate) trait Stored: Element + Default + PartialEq {
    /// The slice.
    ///
    /// # Panics
    /// If the buffer is of another type. A plan checks the dtypes of its buffers before it runs.
    fn input<'a>(input: &Input<'a>) -> &'a [Self];
    /// The slice.
    ///
    /// # Panics
    /// As for [`Stored::input`].
    fn output<'b>(output: &'b mut Output<'_>) -> &'b mut [Self];
}

/// For a plan that reads or writes a buffer as another type than the one it has checked.
#[cold]
fn wrong_type(found: DType, expected: DType) -> ! {
    unreachable!("a {found} buffer is used as {expected}")
}

macro_rules! buffers {
    ($($variant:ident $type:ty;)*) => {
        /// The buffer of one operand, to which its strides and its offset refer.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "each variant holds values of the dtype of that name")]
        pub enum Input<'a> { $($variant(&'a [$type]),)* }

        /// The buffer of a result: one place per element, row-major.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant holds values of the dtype of that name")]
        pub enum Output<'a> { $($variant(&'a mut [$type]),)* }

        impl Input<'_> {
            /// A buffer without values.
            pub(crate) fn empty(dtype: DType) -> Input<'static> {
                match dtype { $(DType::$variant => Input::$variant(&[]),)* }
            }

            /// The dtype of the values.
            pub fn dtype(&self) -> DType {
                match self { $(Input::$variant(_) => DType::$variant,)* }
            }

            /// The number of values.
            pub fn len(&self) -> usize {
                match self { $(Input::$variant(values) => values.len(),)* }
            }

            /// Whether there are no values.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The first `count` values, or all.
            pub(crate) fn first(self, count: usize) -> Self {
                match self { $(Input::$variant(values) => Input::$variant(&values[..count.min(values.len())]),)* }
            }

            /// The bytes of the values.
            pub(crate) fn bytes(&self) -> usize {
                match self { $(Input::$variant(values) => size_of_val(*values),)* }
            }

            /// Adds a range of values to what will be read, if all of them are there.
            pub(crate) fn add_to(&self, ahead: &mut Ahead, places: std::ops::Range<usize>) {
                match self { $(Input::$variant(values) => ahead.add(values.get(places).unwrap_or(&[])),)* }
            }
        }

        impl<'a> Output<'a> {
            /// The dtype of the values.
            pub fn dtype(&self) -> DType {
                match self { $(Output::$variant(_) => DType::$variant,)* }
            }

            /// The number of places.
            pub fn len(&self) -> usize {
                match self { $(Output::$variant(values) => values.len(),)* }
            }

            /// Whether there are no places.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The same buffer, to read.
            pub(crate) fn as_input(&self) -> Input<'_> {
                match self { $(Output::$variant(values) => Input::$variant(values),)* }
            }

            /// The whole buffer, for as long as it is borrowed.
            pub(crate) fn all(&mut self) -> Output<'_> {
                match self { $(Output::$variant(values) => Output::$variant(values),)* }
            }

            /// Places of the buffer.
            pub(crate) fn part(&mut self, first: usize, count: usize) -> Output<'_> {
                match self { $(Output::$variant(values) => Output::$variant(&mut values[first..first + count]),)* }
            }

            /// The first `count` places, and the others.
            pub(crate) fn split(self, count: usize) -> (Output<'a>, Output<'a>) {
                match self { $(Output::$variant(values) => {
                    let (first, rest) = values.split_at_mut(count.min(values.len()));
                    (Output::$variant(first), Output::$variant(rest))
                })* }
            }

            /// Sets every place to zero.
            pub(crate) fn clear(&mut self) {
                match self { $(Output::$variant(values) => values.fill(<$type>::default()),)* }
            }
        }

        /// A buffer of this many zeros.
        pub(crate) fn zeros(dtype: DType, count: usize) -> Data {
            match dtype { $(DType::$variant => Data::from(vec![<$type>::default(); count]),)* }
        }

        impl<'a> From<&'a Data> for Input<'a> {
            fn from(data: &'a Data) -> Input<'a> {
                match data { $(Data::$variant(values) => Input::$variant(values),)* }
            }
        }

        impl<'a> From<&'a mut Data> for Output<'a> {
            fn from(data: &'a mut Data) -> Output<'a> {
                match data { $(Data::$variant(values) => Output::$variant(values),)* }
            }
        }

        $(
            impl<'a> From<&'a [$type]> for Input<'a> {
                fn from(values: &'a [$type]) -> Input<'a> {
                    Input::$variant(values)
                }
            }

            impl<'a> From<&'a mut [$type]> for Output<'a> {
                fn from(values: &'a mut [$type]) -> Output<'a> {
                    Output::$variant(values)
                }
            }

            impl Stored for $type {
                fn input<'a>(input: &Input<'a>) -> &'a [$type] {
                    match input {
                        Input::$variant(values) => values,
                        other => wrong_type(other.dtype(), DType::$variant),
                    }
                }

                fn output<'b>(output: &'b mut Output<'_>) -> &'b mut [$type] {
                    match output {
                        Output::$variant(values) => values,
                        other => wrong_type(other.dtype(), DType::$variant),
                    }
                }
            }
        )*
    };
}

impl<'a> Input<'a> {
    /// The same buffer, with halves as their bits.
    pub(crate) fn bits(self) -> Input<'a> {
        match self {
            Input::F16(values) => Input::U16(values.reinterpret_cast()),
            Input::Bf16(values) => Input::U16(values.reinterpret_cast()),
            other => other,
        }
    }
}

impl<'a> Output<'a> {
    /// The same buffer, with halves as their bits.
    pub(crate) fn bits(self) -> Output<'a> {
        match self {
            Output::F16(values) => Output::U16(values.reinterpret_cast_mut()),
            Output::Bf16(values) => Output::U16(values.reinterpret_cast_mut()),
            other => other,
        }
    }
}

buffers! {
    F64 f64; F32 f32; F16 f16; Bf16 bf16;
    I64 i64; I32 i32; I16 i16; I8 i8;
    U64 u64; U32 u32; U16 u16; U8 u8;
    Bool bool;
}
