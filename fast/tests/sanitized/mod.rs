//! The tests of this directory as unit tests, for builds with the address sanitizer, which set `sanitized`.
//! `allocations` is left out: it counts the calls of an allocator of its own.

#[path = "../differential.rs"]
mod differential;
#[path = "../groups.rs"]
mod groups;
#[path = "../in_place.rs"]
mod in_place;
#[path = "../infer.rs"]
mod infer;
#[path = "../limits.rs"]
mod limits;
#[path = "../math.rs"]
mod math;
#[path = "../parts.rs"]
mod parts;
#[path = "../signature.rs"]
mod signature;
#[path = "../suite.rs"]
mod suite;
#[path = "../table.rs"]
mod table;
