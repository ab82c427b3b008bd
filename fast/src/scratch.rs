//! Registers: blocks of a fixed number of bytes, per thread, in which programs compute. Their memory depends
//! on the number of live values of an expression, never on the size of a result.

use crate::arch::{CallKernel, FloatKernels, Kernels, Permutations, Table};
use crate::buffers::Stored;
use crate::math::Math;

/// The bytes of a vector register. A tile has as many elements as a register of the widest type that the
/// program computes in. With 1024 elements for every type, calls on elements of one byte took up to 1.7 times
/// as long (`benches/sweep`).
pub(crate) const REGISTER_BYTES: usize = 8 << 10;

/// One vector register, aligned to a cache line. `A` is an array of [`REGISTER_BYTES`].
#[repr(align(64))]
pub(crate) struct Block<A>(A);

impl<A> Block<A> {
    /// The first `count` elements, to write to.
    pub(crate) fn first<T>(&mut self, count: usize) -> &mut [T]
    where
        A: AsMut<[T]>,
    {
        &mut self.0.as_mut()[..count]
    }
}

/// The registers of one element type.
pub(crate) struct Registers<T: Lane> {
    vectors: Vec<Option<Box<Block<T::Array>>>>,
    pub(crate) scalars: Vec<T>,
}

impl<T: Lane> Default for Registers<T> {
    fn default() -> Self {
        Registers { vectors: Vec::new(), scalars: Vec::new() }
    }
}

impl<T: Lane> Registers<T> {
    /// Ensures that there are at least this many registers.
    fn reserve(&mut self, vectors: usize, scalars: usize) {
        if self.scalars.len() < scalars {
            self.scalars.resize(scalars, T::default());
        }
        if self.vectors.len() < vectors {
            self.vectors.resize_with(vectors, || None);
        }
        for register in &mut self.vectors[..vectors] {
            register.get_or_insert_with(T::block);
        }
    }

    /// The elements of a vector register. Empty while the register is taken.
    pub(crate) fn vector(&self, register: usize) -> &[T] {
        match &self.vectors[register] {
            Some(block) => block.0.as_ref(),
            None => &[],
        }
    }

    /// Takes a register out, to write to it while others are read.
    pub(crate) fn take(&mut self, register: usize) -> Box<Block<T::Array>> {
        self.vectors[register].take().unwrap_or_else(T::block)
    }

    /// Puts a register back.
    pub(crate) fn put(&mut self, register: usize, block: Box<Block<T::Array>>) {
        self.vectors[register] = Some(block);
    }
}

/// An element type in which kernels compute. (f16 and bf16 are computed in f32.)
pub(crate) trait Lane: Stored {
    /// The elements of a vector register.
    type Array: AsRef<[Self]> + AsMut<[Self]>;
    /// A new vector register.
    fn block() -> Box<Block<Self::Array>>;
    fn registers(scratch: &Scratch) -> &Registers<Self>;
    fn registers_mut(scratch: &mut Scratch) -> &mut Registers<Self>;
    fn kernels(table: &Table) -> &Kernels<Self>;
    fn in_bank(kernel: CallKernel<Self>) -> BankCall;
}

macro_rules! banks {
    ($($field:ident $variant:ident $type:ty;)*) => {
        /// All registers of one thread.
        #[derive(Default)]
        pub(crate) struct Scratch {
            $($field: Registers<$type>,)*
            /// Of the columns that are expanded into registers.
            pub(crate) permutations: Permutations,
        }

        /// The element types in which kernels compute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Bank { $($variant,)* }

        /// The kernel of a call, of any element type.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum BankCall { $($variant(CallKernel<$type>),)* }

        /// The number of banks.
        pub(crate) const BANKS: usize = [$(Bank::$variant,)*].len();

        impl Scratch {
            /// Ensures that every bank has the given numbers of vector and scalar registers.
            pub(crate) fn reserve(&mut self, needs: &[(u32, u32); BANKS]) {
                $(
                    let (vectors, scalars) = needs[Bank::$variant as usize];
                    if vectors | scalars != 0 {
                        self.$field.reserve(vectors as usize, scalars as usize);
                    }
                )*
            }
        }

        $(impl Lane for $type {
            type Array = [$type; REGISTER_BYTES / size_of::<$type>()];
            fn block() -> Box<Block<Self::Array>> {
                Box::new(Block([<$type>::default(); REGISTER_BYTES / size_of::<$type>()]))
            }
            fn registers(scratch: &Scratch) -> &Registers<$type> { &scratch.$field }
            fn registers_mut(scratch: &mut Scratch) -> &mut Registers<$type> { &mut scratch.$field }
            fn kernels(table: &Table) -> &Kernels<$type> { &table.$field }
            fn in_bank(kernel: CallKernel<$type>) -> BankCall { BankCall::$variant(kernel) }
        })*
    };
}

banks! {
    f64 F64 f64; f32 F32 f32;
    i64 I64 i64; i32 I32 i32; i16 I16 i16; i8 I8 i8;
    u64 U64 u64; u32 U32 u32; u16 U16 u16; u8 U8 u8;
    bool Bool bool;
}

/// An element type that has kernels for chains, repeated operands and gradients, and the functions of
/// [`math`](crate::math).
pub(crate) trait Float: Lane + Math {
    fn float_kernels(table: &Table) -> &FloatKernels<Self>;
    /// A constant of a program, rounded.
    fn of_number(number: f64) -> Self;
    /// The kernel of a call, if its elements have this type.
    fn from_bank(kernel: BankCall) -> Option<CallKernel<Self>>;
}

impl Float for f64 {
    fn float_kernels(table: &Table) -> &FloatKernels<f64> {
        &table.float_f64
    }

    fn of_number(number: f64) -> f64 {
        number
    }

    fn from_bank(kernel: BankCall) -> Option<CallKernel<f64>> {
        if let BankCall::F64(kernel) = kernel { Some(kernel) } else { None }
    }
}

impl Float for f32 {
    fn float_kernels(table: &Table) -> &FloatKernels<f32> {
        &table.float_f32
    }

    #[allow(clippy::cast_possible_truncation, reason = "constants are small numbers, infinite or NaN")]
    fn of_number(number: f64) -> f32 {
        number as f32
    }

    fn from_bank(kernel: BankCall) -> Option<CallKernel<f32>> {
        if let BankCall::F32(kernel) = kernel { Some(kernel) } else { None }
    }
}

/// The banks of [`Float`] types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatBank {
    F64,
    F32,
}

impl FloatBank {
    /// The float bank that a bank is, if it is one.
    #[inline]
    pub(crate) fn of(bank: Bank) -> Option<FloatBank> {
        match bank {
            Bank::F64 => Some(FloatBank::F64),
            Bank::F32 => Some(FloatBank::F32),
            Bank::I64
            | Bank::I32
            | Bank::I16
            | Bank::I8
            | Bank::U64
            | Bank::U32
            | Bank::U16
            | Bank::U8
            | Bank::Bool => None,
        }
    }
}
