//! Judges implementations of array broadcasting.
//!
//! - [`suite`] runs the cases of `broadcheck-spec` against an [`Implementation`];
//! - [`compare`] is the one place that judges an outcome;
//! - [`known`] holds what an implementation is known to fail;
//! - `harness` (feature `harness`) speaks the protocol with implementations in other processes, and answers it;
//! - [`generate`] draws requests, for the fuzzer and for whoever asks at random;
//! - [`explain`] draws why shapes go together or do not;
//! - [`faults`] are planted, to say what the suite and the generator would miss;
//! - [`oracle`] says what can be said of any request without an expected value;
//! - [`shrink`] makes a request that disagrees as small as it goes, and writes it as a case;
//! - [`fuzzing`] asks two implementations random requests;
//! - `report` (feature `cli`) holds what a run found, as text, JSON, JUnit, markdown, a page and badges;
//! - `testing` (feature `testing`) makes the suite the tests of a library of yours;
//! - [`words`] is wording that they share;
//! - [`subjects`] are the implementations that come with the product.

pub mod compare;
pub mod diverge;
pub mod exhaustive;
pub mod explain;
pub mod faults;
pub mod fuzzing;
pub mod generate;
pub mod globs;
#[cfg(feature = "harness")]
pub mod harness;
pub mod known;
pub mod oracle;
pub mod pad;
pub mod relations;
#[cfg(any(feature = "cli", feature = "testing", test))]
pub mod report;
pub mod shrink;
pub mod subjects;
pub mod suite;
pub mod sweeps;
#[cfg(any(feature = "testing", test))]
pub mod testing;
pub mod words;

pub use broadcheck_spec as spec;
pub use broadcheck_spec::Implementation;
