//! Tests of the search. They are one program, because linking one for each file takes longer than running it.

mod exhaustive;
mod faulty;
mod fuzz;
mod generate;
mod inference;
mod ndarray;
mod proptest;
mod routes;
mod shrink;
mod signatures;
mod sweeps;
