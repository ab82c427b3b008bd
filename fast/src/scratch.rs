//! Registers: blocks of a fixed size, per thread, that programs compute in. Their memory is bounded by the number
//! of live values of an expression, never by the size of a result.

use crate::buffers::Stored;

/// The most elements in a tile.
pub(crate) const MAX_BLOCK: usize = 1024;

/// One vector register, on a cache line's boundary.
#[repr(align(64))]
pub(crate) struct Block<T>(pub(crate) [T; MAX_BLOCK]);

/// The registers of one element type.
pub(crate) struct Bank<T> {
    vectors: Vec<Option<Box<Block<T>>>>,
    pub(crate) scalars: Vec<T>,
}

impl<T> Default for Bank<T> {
    fn default() -> Self {
        Bank { vectors: Vec::new(), scalars: Vec::new() }
    }
}

impl<T: Lane> Bank<T> {
    /// Makes sure that there are at least so many registers.
    fn reserve(&mut self, vectors: usize, scalars: usize) {
        if self.scalars.len() < scalars {
            self.scalars.resize(scalars, T::default());
        }
        if self.vectors.len() < vectors {
            self.vectors.resize_with(vectors, || None);
        }
        for register in &mut self.vectors[..vectors] {
            register.get_or_insert_with(|| Box::new(Block([T::default(); MAX_BLOCK])));
        }
    }

    /// The elements of a vector register; none while it is taken.
    pub(crate) fn vector(&self, register: usize) -> &[T] {
        match &self.vectors[register] {
            Some(block) => &block.0,
            None => &[],
        }
    }

    /// Takes a register out, to write to it while others are read.
    pub(crate) fn take(&mut self, register: usize) -> Box<Block<T>> {
        self.vectors[register].take().unwrap_or_else(|| Box::new(Block([T::default(); MAX_BLOCK])))
    }

    /// Puts it back.
    pub(crate) fn put(&mut self, register: usize, block: Box<Block<T>>) {
        self.vectors[register] = Some(block);
    }
}

/// An element type that kernels compute in. (The halves are computed in f32.)
pub(crate) trait Lane: Stored {
    fn bank(scratch: &Scratch) -> &Bank<Self>;
    fn bank_mut(scratch: &mut Scratch) -> &mut Bank<Self>;
    fn kernels(table: &crate::arch::Table) -> &crate::arch::Kernels<Self>;
}

macro_rules! banks {
    ($($field:ident $variant:ident $type:ty;)*) => {
        /// All registers of one thread.
        #[derive(Default)]
        pub(crate) struct Scratch { $($field: Bank<$type>,)* }

        /// The element types that kernels compute in, as places in a table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum BankOf { $($variant,)* }

        /// How many banks there are.
        pub(crate) const BANKS: usize = [$(BankOf::$variant,)*].len();

        impl Scratch {
            /// Makes sure that every bank has its number of vector and scalar registers.
            pub(crate) fn reserve(&mut self, needs: &[(u32, u32); BANKS]) {
                $(
                    let (vectors, scalars) = needs[BankOf::$variant as usize];
                    if vectors | scalars != 0 {
                        self.$field.reserve(vectors as usize, scalars as usize);
                    }
                )*
            }
        }

        $(impl Lane for $type {
            fn bank(scratch: &Scratch) -> &Bank<$type> { &scratch.$field }
            fn bank_mut(scratch: &mut Scratch) -> &mut Bank<$type> { &mut scratch.$field }
            fn kernels(table: &crate::arch::Table) -> &crate::arch::Kernels<$type> { &table.$field }
        })*
    };
}

banks! {
    f64 F64 f64; f32 F32 f32;
    i64 I64 i64; i32 I32 i32; i16 I16 i16; i8 I8 i8;
    u64 U64 u64; u32 U32 u32; u16 U16 u16; u8 U8 u8;
    bool Bool bool;
}
